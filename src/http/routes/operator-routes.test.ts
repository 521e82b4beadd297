import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ApiError } from '../../errors/api-error.ts';
import type { Event } from '../../events.ts';
import { createTelemetry } from '../../telemetry/create-telemetry.ts';
import { type AdminServer, createHealthRoutes, createMetricsRoute, startAdminServer } from './operator-routes.ts';

test('metrics are rendered once for concurrent requests, and again for a later one', async () => {
  const telemetry = createTelemetry({ level: 'silent' });
  let written = 0;
  const writeMetrics = async (): Promise<string> => `${++written}`;
  const routes = new Map([createMetricsRoute({ ...telemetry, writeMetrics }, null)]);
  const request = { headers: {} };
  const ask = async (): Promise<string> => String((await routes.get('/metrics')?.(request))?.body);
  // Requests on separate sockets arrive one after another, with microtasks in between.
  const asked: Promise<string>[] = [];
  for (let index = 0; index < 5; index++) {
    asked.push(ask());
    await Promise.resolve();
  }
  assert.deepEqual(await Promise.all(asked), Array(5).fill('1'));
  assert.equal(await ask(), '2');
});

test('`ready` asks the database at most once a second', async (context) => {
  let now = 5000;
  context.mock.method(performance, 'now', () => now);
  let pings = 0;
  const ping = async (): Promise<void> => {
    pings += 1;
  };
  const routes = new Map(createHealthRoutes({ ping }, () => false));
  const asked: number[] = [];
  for (const later of [0, 0, 999, 1, 1, 1000, 1]) {
    now += later;
    await routes.get('/health/ready')?.({ headers: {} });
    asked.push(pings);
  }
  assert.deepEqual(asked, [1, 1, 1, 1, 2, 2, 3]);
});

test('if the database does not answer, `ready` says no to all requests after a while, with a single check', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  let pings = 0;
  const ping = (): Promise<void> => {
    pings += 1;
    return new Promise(() => {});
  };
  const routes = new Map(createHealthRoutes({ ping }, () => false));
  const request = { headers: {} };
  const asked = Array.from({ length: 50 }, async () => routes.get('/health/ready')?.(request));
  const refused = Promise.all(
    asked.map((answer) => assert.rejects(answer, (error) => error instanceof ApiError && error.code === 'DATABASE_UNAVAILABLE')),
  );
  context.mock.timers.tick(5000);
  await refused;
  assert.equal(pings, 1);
});

const events: Event[] = [];
let server: AdminServer;
before(async () => {
  const routes = new Map([['/broken', () => Promise.reject(new Error('with the password in it'))]]);
  server = await startAdminServer({ host: '127.0.0.1', port: 0 }, routes, (event) => void events.push(event));
});
after(() => server.close());

const ask = async (path: string, method = 'GET') => {
  const response = await fetch(new URL(path, server.url), { method });
  return { status: response.status, text: await response.text() };
};

test('a bug is reported, and its message withheld from the client', async () => {
  const { status, text } = await ask('/broken');
  assert.deepEqual([status, JSON.parse(text).errors[0].extensions.code], [500, 'INTERNAL_ERROR']);
  assert.ok(!text.includes('password'));
  assert.deepEqual(
    events.map((event) => event.kind === 'defect-found' && String(event.error)),
    ['Error: with the password in it'],
  );
});

test('other paths are answered with the list of paths, other methods with the fact that only GET is supported', async () => {
  const unknown = await ask('/other');
  assert.deepEqual([unknown.status, unknown.text.includes('There are /broken.')], [404, true]);
  assert.equal((await ask('/broken', 'POST')).status, 405);
});
