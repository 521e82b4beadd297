/**
 * What connections do when the server is short of room. Everything else about connections is tested over sockets, in test/http.
 */
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { Admission } from '../admission/admission.ts';
import { RequestTurns } from '../admission/request-turns.ts';
import { Connection } from './connection.ts';
import type { NodeExchange } from './node-exchange.ts';

for (const writeTimeout of [30_000, 3_000_000_000, Infinity])
  test(`a client may take a second for each part of a response if room is short, whatever the limit (${writeTimeout} ms)`, () => {
    const admission = new Admission({ requests: 1, clientRequests: 1, bytes: 1 });
    const limits = { pipelinedRequests: 10, writeTimeout, pressedWriteTimeout: 1000 };
    let ended = false;
    const socket = { writableLength: 1, writable: true, destroy: () => (ended = true) } as unknown as Socket;
    const connection = new Connection(socket, admission.refer('client'), limits, ownerOf(admission));
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

test('while too many exchanges are in flight, none begins behind another one of its connection to a server that is not ours', () => {
  const admission = new Admission({ requests: 1, clientRequests: 1, bytes: 1 });
  const limits = { pipelinedRequests: 10, writeTimeout: 1000, pressedWriteTimeout: 1000 };
  const served: NodeExchange[] = [];
  const owner = { ...ownerOf(admission), serve: (exchange: NodeExchange) => void served.push(exchange) };
  const connect = () => {
    const socket = { writableLength: 0, writable: true, destroy: () => (socket.writable = false) };
    return { socket, connection: new Connection(socket as unknown as Socket, admission.refer('client'), limits, owner) };
  };
  const next = () => ({ response: { writableLength: 0 }, request: { complete: true }, abandon() {} }) as unknown as NodeExchange;
  const { socket, connection } = connect();
  const first = next();
  connection.begin(first);
  connection.begin(next());
  assert.deepEqual([owner.exchanges, served.length, socket.writable], [2, 2, true]);
  connection.end(first);
  assert.equal(owner.exchanges, 1);
  owner.isFull = true;
  connection.begin(next());
  assert.deepEqual([owner.exchanges, served.length, socket.writable], [1, 2, false]);
  connection.close();
  assert.equal(owner.exchanges, 0);
  connect().connection.begin(next());
  assert.deepEqual([owner.exchanges, served.length], [1, 3], 'the first request of a connection is served');
});

for (const end of ['the responses', 'the client'])
  test(`what was read of requests that wait counts as bytes in flight until ${end} ended`, async () => {
    const { admission, connection, exchange } = pipelining();
    let hasGoneOn = false;
    connection.takeOver(50, () => (hasGoneOn = true));
    assert.equal(admission.occupancy.bytes, 50);
    if (end === 'the client') connection.close();
    else connection.end(exchange);
    await new Promise(setImmediate);
    assert.deepEqual([admission.occupancy.bytes, hasGoneOn], [0, end === 'the responses']);
  });

test('without room for the requests that wait, their connection ends after the responses to earlier ones', async () => {
  const { admission, connection, exchange, share, socket } = pipelining();
  admission.hold(share, 60);
  let hasGoneOn = false;
  connection.takeOver(50, () => (hasGoneOn = true));
  assert.deepEqual([admission.occupancy.bytes, connection.endsWith(exchange), socket.writable], [60, true, true]);
  connection.end(exchange);
  await new Promise(setImmediate);
  assert.deepEqual([socket.writable, hasGoneOn], [false, false]);
});

/** A connection with an exchange in flight, to a server that may hold 100 bytes. */
function pipelining() {
  const admission = new Admission({ requests: 1, clientRequests: 1, bytes: 100 });
  const share = admission.refer('client');
  const destroySoon = (): void => {
    socket.writable = false;
  };
  const socket = Object.assign(new EventEmitter(), { writable: true, writableLength: 0, push() {}, resume() {}, destroySoon });
  const owner = { ...ownerOf(admission), turns: new RequestTurns() };
  const limits = { pipelinedRequests: 1, writeTimeout: 1000, pressedWriteTimeout: 1000 };
  const connection = new Connection(socket as unknown as Socket, share, limits, owner);
  const exchange = { response: { writableLength: 0 }, request: { complete: false }, abandon() {} } as unknown as NodeExchange;
  connection.begin(exchange);
  return { admission, connection, exchange, share, socket };
}

/** A server that is not ours. */
function ownerOf(admission: Admission) {
  return { admission, isEnding: false, joinsHeaders: true, exchanges: 0, isFull: false, turns: null, serve() {} };
}
