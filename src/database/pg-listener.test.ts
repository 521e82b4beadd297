import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../../test/support/until.ts';
import { PgListener, type PgListenerClient } from './pg-listener.ts';

class TestClient extends EventEmitter implements PgListenerClient {
  readonly statements: string[] = [];

  async connect(): Promise<void> {}

  async query({ text }: { readonly text: string; readonly query_timeout: number }): Promise<void> {
    this.statements.push(text);
  }

  async end(): Promise<void> {
    this.emit('end');
  }
}

test('a connection that is given up is opened again after a while, and listeners look for what they missed', async () => {
  const clients: TestClient[] = [];
  const open = (): TestClient => {
    clients.push(new TestClient());
    return clients.at(-1)!;
  };
  const listener = new PgListener(open, { first: 1, longest: 20 });
  assert.equal(listener.giveUp(), false);
  const heard: (string | null)[] = [];
  const stop = await listener.listen('news', (payload) => heard.push(payload));
  assert.equal(listener.giveUp(), true);
  assert.equal(listener.giveUp(), false, 'it has none now');
  assert.equal(clients.length, 1);
  await until(() => heard.length > 0);
  assert.deepEqual([clients.length, clients[1]!.statements, heard], [2, ['listen news'], [null]]);
  clients[1]!.emit('notification', { channel: 'news', payload: 'one' });
  assert.deepEqual(heard, [null, 'one']);
  assert.equal(listener.giveUp(), true);
  await stop();
  await sleep(50);
  assert.equal(clients.length, 2, 'nobody listens');
});

test('a server that accepts no connection is waited for only as long as that may take', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  class SilentClient extends TestClient {
    override connect(): Promise<void> {
      return new Promise(() => {});
    }
  }
  const listener = new PgListener(() => new SilentClient());
  const listening = listener.listen('news', () => {});
  context.mock.timers.tick(5000);
  await assert.rejects(listening, /did not accept the connection within 5000 ms/);
  await listener.close();
});

test('a server that does not answer LISTEN is waited for only as long as a statement may take', async () => {
  const limits: number[] = [];
  class SilentClient extends TestClient {
    override query({ query_timeout: limit }: { readonly text: string; readonly query_timeout: number }): Promise<void> {
      limits.push(limit);
      return Promise.reject(new Error('Query read timeout'));
    }
  }
  const listener = new PgListener(() => new SilentClient());
  await assert.rejects(
    listener.listen('news', () => {}),
    /Query read timeout/,
  );
  assert.ok(limits.length > 0 && limits.every((limit) => limit === 5000));
  await listener.close();
});
