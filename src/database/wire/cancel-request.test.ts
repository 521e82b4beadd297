import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, Socket } from 'node:net';
import { test } from 'node:test';
import { sendCancelRequest } from './pg-client.ts';

test('a connection that does not say which backend it is cannot be cancelled', async () => {
  assert.equal(await sendCancelRequest({ host: '127.0.0.1', port: 1, processID: null, secretKey: null }, 1000), 'unsupported');
});

test('the request does not reach a server that is down', async () => {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  await once(probe.close(), 'close');
  assert.equal(await sendCancelRequest({ host: '127.0.0.1', port, processID: 1, secretKey: 2 }, 60_000), 'unreachable');
});

test('a client whose socket was passed to it cannot be cancelled over the same one, and one whose sockets cannot be opened is unreachable', async () => {
  const client = { host: '127.0.0.1', port: 1, processID: 1, secretKey: 2 };
  assert.equal(await sendCancelRequest(client, 60_000, new Socket()), 'unsupported');
  const fail = (): never => {
    throw new Error('no token');
  };
  assert.equal(await sendCancelRequest(client, 60_000, fail), 'unreachable');
});
