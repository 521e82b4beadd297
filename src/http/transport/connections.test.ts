/** What connections do when the server is short of room. Everything else about connections is tested over sockets, in test/http. */
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { Admission } from '../admission/admission.ts';
import { Connection, type PendingExchange } from './connections.ts';

for (const writeTimeout of [30_000, 3_000_000_000, Infinity])
  test(`a client may take a second for each part of a response if room is short, whatever the limit (${writeTimeout} ms)`, () => {
    const share = new Admission({ requests: 1, clientRequests: 1, bytes: 1 }).refer('client');
    const limits = { pipelinedRequests: 10, writeTimeout, pressedWriteTimeout: 1000 };
    const socket = { writableLength: 1, writable: true, bytesRead: 1 } as unknown as Socket;
    const connection = new Connection(socket, share, limits, () => false);
    const exchange: PendingExchange = {
      response: { writableLength: 1 },
      request: { complete: true },
      abandon() {},
      failBody() {},
      writeOn() {},
    };
    connection.begin(exchange);
    assert.equal(connection.isSlow(performance.now() + 60_000), false, 'nothing is written yet');
    for (let part = 0; part < 4; part++) {
      const before = performance.now();
      connection.noteWritten(exchange);
      assert.equal(connection.isSlow(before + 999), false);
    }
    assert.equal(connection.isSlow(performance.now() + 1001), true);
    connection.close();
  });
