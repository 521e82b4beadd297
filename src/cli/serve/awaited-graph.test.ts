import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Deadline } from '../../budget/deadline.ts';
import { ApiError } from '../../errors/api-error.ts';
import type { ErrorCode } from '../../errors/codes.ts';
import type { ServedGraph } from '../../http/endpoint/endpoint-options.ts';
import { AwaitedGraph, unreachable } from './awaited-graph.ts';

const response = { chunks: [Buffer.from('{}')], length: 2, errorCode: null };
const graph = { executeRaw: async () => response, ping: async () => {} } as unknown as ServedGraph;
const hasCode = (code: ErrorCode) => (error: unknown) => error instanceof ApiError && error.code === code;
const ask = (awaited: AwaitedGraph, deadline?: Deadline) =>
  awaited.executeRaw({ query: '{ x }' }, { role: 'anon' }, deadline === undefined ? {} : { deadline });

test('requests fail while the database cannot be reached, and wait while the schema is loaded', async () => {
  const awaited = new AwaitedGraph();
  await assert.rejects(ask(awaited), hasCode('DATABASE_UNAVAILABLE'));
  await assert.rejects(awaited.ping(), hasCode('DATABASE_UNAVAILABLE'));
  awaited.noteLoading();
  await assert.rejects(awaited.ping(), hasCode('SCHEMA_LOADING'));
  const waiting = [ask(awaited), ask(awaited, new Deadline(Infinity))];
  const role = awaited.loadRole('anon', new Deadline(Infinity));
  awaited.open(graph);
  assert.deepEqual(await Promise.all(waiting), [response, response]);
  await role;
  await awaited.ping();
});

test('a request waits no longer than its deadline', async () => {
  const awaited = new AwaitedGraph();
  awaited.noteLoading();
  for (const [reason, code] of [
    ['expired', 'SCHEMA_LOADING'],
    ['abandoned', 'CANCELLED'],
  ] as const) {
    const deadline = new Deadline(Infinity);
    const waiting = assert.rejects(ask(awaited, deadline), hasCode(code));
    deadline.stop(reason);
    await waiting;
  }
});

test('requests that wait fail with the load, and later ones wait for the next', async () => {
  const awaited = new AwaitedGraph();
  awaited.noteLoading();
  const waiting = assert.rejects(ask(awaited), hasCode('DATABASE_UNAVAILABLE'));
  awaited.noteFailure(unreachable());
  await waiting;
  await assert.rejects(ask(awaited), hasCode('DATABASE_UNAVAILABLE'));
  awaited.noteLoading();
  const next = ask(awaited);
  awaited.open(graph);
  assert.equal(await next, response);
});
