import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Event } from '../events.ts';
import { type AdminServer, startAdminServer } from './start-admin-server.ts';

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
