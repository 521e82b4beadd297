import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../errors/api-error.ts';
import { createTelemetry } from '../telemetry/create-telemetry.ts';
import { createHealthRoutes } from './serve-health.ts';
import { createMetricsRoute } from './serve-metrics.ts';

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
