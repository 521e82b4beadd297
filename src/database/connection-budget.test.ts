import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { describe, test } from 'node:test';
import { type BudgetedPool, ConnectionBudget } from './connection-budget.ts';
import type { LentClient } from './lending-pool.ts';
import { type LendableWork, PgConnections } from './pg-connections.ts';
import { openPgDatabase } from './pg-database.ts';
import type { PgPool } from './wire/pg-client.ts';

/** A pool that wants so many connections, and has an idle one whenever it is asked to close one. */
class TestPool implements BudgetedPool {
  wanted: number;
  closed = 0;
  readonly #budget: ConnectionBudget;

  constructor(budget: ConnectionBudget, wanted = 1) {
    this.#budget = budget;
    this.wanted = wanted;
  }

  closeIdle(): boolean {
    this.closed += 1;
    return true;
  }

  openWanted(): void {
    while (this.wanted > 0 && this.#budget.take(this)) this.wanted -= 1;
  }
}

describe('a waiting pool gets an idle connection of another one', () => {
  test('after a pool left while a connection of it was closing', () => {
    const budget = new ConnectionBudget(1);
    const [a, b, c] = [new TestPool(budget), new TestPool(budget), new TestPool(budget)];
    for (const pool of [a, b]) pool.openWanted();
    assert.equal(a.closed, 1);
    budget.leave(a);
    assert.deepEqual([budget.countOf(b), b.wanted], [1, 0]);
    budget.giveBack(a);
    c.openWanted();
    assert.deepEqual([budget.taken, b.closed], [1, 1]);
  });

  test('after a connection ended at once when it was to close', () => {
    const budget = new ConnectionBudget(1);
    class DeadPool extends TestPool {
      override closeIdle(): boolean {
        budget.giveBack(this);
        return super.closeIdle();
      }
    }
    const [a, b, c] = [new DeadPool(budget), new TestPool(budget), new TestPool(budget)];
    for (const pool of [a, b]) pool.openWanted();
    assert.deepEqual([a.closed, budget.countOf(a), budget.countOf(b)], [1, 0, 1]);
    c.openWanted();
    assert.equal(b.closed, 1);
  });

  test('but only one for each pool that waits', () => {
    const budget = new ConnectionBudget(2);
    const [a, b, c] = [new TestPool(budget, 2), new TestPool(budget, 2), new TestPool(budget)];
    for (const pool of [a, b, b, c, c]) pool.openWanted();
    assert.equal(a.closed, 2);
  });
});

test('connections that become free together are distributed evenly', () => {
  const budget = new ConnectionBudget(4);
  const [a, b, c] = [new TestPool(budget, 4), new TestPool(budget, 3), new TestPool(budget, 3)];
  for (const pool of [a, b, c]) pool.openWanted();
  budget.leave(a);
  assert.deepEqual([budget.countOf(b), budget.countOf(c), budget.taken], [2, 2, 4]);
  budget.leave(c);
  assert.deepEqual([budget.countOf(b), b.wanted, budget.taken], [3, 0, 3]);
});

function work(client: string): LendableWork {
  return { client, bytes: 1, isQuick: true, isRepeated: false, touches: [], arrived: 0, refuse() {} };
}

/** A pool of one connection that shares a budget: its attempts to connect, and the connections that were lent. */
function open(budget: ConnectionBudget) {
  const attempts: ((error: Error | undefined, client: LentClient | undefined) => void)[] = [];
  const lent: (readonly [LentClient, LendableWork])[] = [];
  const pool = { waitingCount: 0, options: { max: 1 }, connect: (callback: (typeof attempts)[number]) => void attempts.push(callback) };
  const options = { queueLength: 9, queueBytes: 9, queueTimeoutMillis: 60_000, keepsIdle: true, budget, onError() {} };
  const connections = new PgConnections<LentClient, LendableWork>(
    pool,
    options,
    (client, served) => void lent.push([client, served]),
    () => {},
  );
  const connect = (): void => attempts.pop()!(undefined, { release() {} });
  return { attempts, lent, connections, connect };
}

test('a pool whose attempt fails takes its own place again, not that of an idle connection of another pool', (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  let now = 0;
  context.mock.method(performance, 'now', () => now);
  const budget = new ConnectionBudget(2);
  const [failing, other] = [open(budget), open(budget)];
  other.connections.request(work('other'));
  other.connect();
  other.connections.giveBack(...other.lent[0]!);
  failing.connections.request(work('first'));
  now = 1;
  failing.connections.request(work('second'));
  failing.attempts.pop()!(new Error('ECONNREFUSED'), undefined);
  context.mock.timers.tick(250);
  assert.deepEqual([failing.attempts.length, budget.taken, other.connections.readStatistics().idle], [1, 2, 1]);
});

test('a pool that is closed gets no connection of another', (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const budget = new ConnectionBudget(1);
  const [closing, other] = [open(budget), open(budget)];
  other.connections.request(work('other'));
  other.connect();
  closing.connections.request(work('waiting'));
  assert.ok(budget.isWantedBeside(other.connections));
  void closing.connections.close();
  other.connections.giveBack(...other.lent[0]!);
  assert.equal(other.connections.readStatistics().idle, 1);
});

test('a connection counts once, even if `pg` removes it twice, and not at all if it was never lent', (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  class SilentClient extends EventEmitter {
    release(): void {}
    query(): void {}
  }
  const clients: SilentClient[] = [];
  const connect = (callback: (error: undefined, client: SilentClient) => void): void => {
    clients.push(new SilentClient());
    callback(undefined, clients.at(-1)!);
  };
  const pool = Object.assign(new EventEmitter(), { waitingCount: 0, idleCount: 0, options: { max: 2 }, connect });
  const budget = new ConnectionBudget(2);
  const database = openPgDatabase(pool as unknown as PgPool, { budget });
  for (const text of ['select 1', 'select 2']) database.query(text).catch(() => {});
  assert.equal(budget.taken, 2);
  for (const client of [clients[0], clients[0], new SilentClient()]) pool.emit('remove', client);
  assert.equal(budget.taken, 1);
});
