import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { type AddressInfo, createServer, Socket } from 'node:net';
import { test } from 'node:test';
import { DatabaseError } from '../../errors/database-error.ts';
import type { Session } from '../database.ts';
import { tryOutOnClient } from '../pg-database.ts';
import { connectClient, openClient, type PgClient, sendCancelRequest } from './pg-client.ts';

/** A client whose attempt to connect is settled by the test. */
class TestClient extends EventEmitter implements PgClient {
  readonly attempt = Promise.withResolvers<void>();
  readonly log: string[] = [];
  readonly connection = { stream: { destroy: () => this.log.push('cut') } };

  connect(): Promise<void> {
    return this.attempt.promise;
  }

  async query(): Promise<never> {
    throw new Error('not connected');
  }

  async end(): Promise<void> {
    this.log.push('end');
  }
}

const late = /did not accept the connection within 5000 ms/;

test('connecting a client beside a pool takes limited time, and one that connects later is ended', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const [succeeding, failing] = [new TestClient(), new TestClient()];
  const rejected = [succeeding, failing].map((client) => assert.rejects(connectClient(client), late));
  context.mock.timers.tick(4999);
  assert.deepEqual(succeeding.log, []);
  context.mock.timers.tick(1);
  await Promise.all(rejected);
  assert.deepEqual(succeeding.log, ['cut']);
  succeeding.attempt.resolve();
  failing.attempt.reject(new Error('too late'));
  await new Promise(setImmediate);
  assert.deepEqual([succeeding.log, failing.log], [['cut', 'end'], ['cut']]);
});

test('a client that connects in time is not cut', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const client = new TestClient();
  client.attempt.resolve();
  await connectClient(client);
  context.mock.timers.tick(5000);
  assert.deepEqual(client.log, []);
});

test('work on a client of its own fails if the client does not connect in time', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const session: Session = { role: 'anon', claims: '{}', searchPath: 'public', version: null };
  const client = new TestClient();
  const trying = tryOutOnClient(
    () => openClient(client),
    session,
    60_000,
    async () => 'done',
  );
  context.mock.timers.tick(5000);
  await assert.rejects(trying, (error) => error instanceof DatabaseError && late.test(error.message));
  assert.deepEqual(client.log, ['cut', 'cut']);
});

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
