/**
 * Which clients read too slowly when the server is short of room. Everything else about connections is tested over sockets, in test/http.
 */
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { Admission } from './admission.ts';
import { Connection } from './connection.ts';
import type { NodeExchange } from './node-exchange.ts';

for (const writeTimeout of [30_000, 3_000_000_000, Infinity])
  test(`a client may take a second for each part of a response if room is short, whatever the limit (${writeTimeout} ms)`, () => {
    const admission = new Admission({ requests: 1, clientRequests: 1, bytes: 1 });
    const limits = { pipelinedRequests: 10, writeTimeout, pressedWriteTimeout: 1000 };
    let ended = false;
    const socket = { writableLength: 1, destroy: () => (ended = true) } as unknown as Socket;
    const connection = new Connection(socket, admission.refer('client'), limits, {
      isClosing: false,
      joinsHeaders: true,
      exchanges: 0,
      isFull: false,
      serve() {},
    });
    const exchange = { response: { writableLength: 1 }, request: { complete: true }, abandon() {} } as unknown as NodeExchange;
    connection.begin(exchange);
    connection.endIfSlow(performance.now() + 60_000);
    assert.equal(ended, false, 'nothing is written yet');
    connection.noteHandedOver(exchange);
    for (let part = 0; part < 3; part++) {
      const before = performance.now();
      connection.notePart(exchange);
      connection.endIfSlow(before + 999);
      assert.equal(ended, false);
    }
    connection.endIfSlow(performance.now() + 1001);
    assert.equal(ended, true);
    connection.close();
  });

test('while too many exchanges are in flight, none begins behind another one of its connection', () => {
  const admission = new Admission({ requests: 1, clientRequests: 1, bytes: 1 });
  const limits = { pipelinedRequests: 10, writeTimeout: 1000, pressedWriteTimeout: 1000 };
  let ended = false;
  const socket = { writableLength: 0, destroy: () => (ended = true) } as unknown as Socket;
  const owner = { isClosing: false, joinsHeaders: true, exchanges: 0, isFull: false, served: 0, serve: () => (owner.served += 1) };
  const connection = new Connection(socket, admission.refer('client'), limits, owner);
  const next = () => ({ response: { writableLength: 0 }, request: { complete: true }, abandon() {} }) as unknown as NodeExchange;
  const first = next();
  connection.begin(first);
  connection.begin(next());
  assert.deepEqual([owner.exchanges, owner.served, ended], [2, 2, false]);
  connection.end(first);
  assert.equal(owner.exchanges, 1);
  owner.isFull = true;
  connection.begin(next());
  assert.deepEqual([owner.exchanges, owner.served, ended], [1, 2, true]);
  connection.close();
  assert.equal(owner.exchanges, 0);
  const other = new Connection(socket, admission.refer('other'), limits, owner);
  other.begin(next());
  assert.deepEqual([owner.exchanges, owner.served], [1, 3], 'the first request of a connection is served');
});
