import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type BudgetedPool, ConnectionBudget } from './connection-budget.ts';

/** A pool that wants so many connections. */
class TestPool implements BudgetedPool {
  wanted = 0;
  busy = 0;
  idle = 0;
  readonly #budget: ConnectionBudget;

  constructor(budget: ConnectionBudget) {
    this.#budget = budget;
  }

  closeIdle(): boolean {
    if (this.idle === 0) return false;
    this.idle -= 1;
    this.#budget.giveBack(this);
    return true;
  }

  openWanted(): void {
    for (; this.wanted > 0 && this.#budget.take(this); this.wanted -= 1) this.busy += 1;
  }

  want(count: number): void {
    this.wanted += count;
    this.openWanted();
  }

  /** Work on a connection ends. */
  finish(): void {
    this.busy -= 1;
    if (this.#budget.isOwedBy(this) || this.#budget.isWantedBeside(this)) this.#budget.giveBack(this);
    else this.idle += 1;
  }
}

function start(most: number, pools: number): readonly [ConnectionBudget, ...TestPool[]] {
  const budget = new ConnectionBudget(most);
  return [budget, ...Array.from({ length: pools }, () => new TestPool(budget))];
}

test('a pool gets an idle connection of another one', () => {
  const [budget, a, b] = start(2, 2) as [ConnectionBudget, TestPool, TestPool];
  a.want(2);
  a.finish();
  b.want(1);
  assert.deepEqual([a.busy, a.idle, b.busy, budget.taken], [1, 0, 1, 2]);
});

test('a pool that has more than others gives connections up between its work, and none starves', () => {
  const [budget, a, b, c] = start(4, 3) as [ConnectionBudget, TestPool, TestPool, TestPool];
  a.want(4);
  for (const pool of [b, c]) pool.want(3);
  assert.deepEqual([a.busy, b.busy, c.busy, budget.isOwedBy(a)], [4, 0, 0, true]);
  for (let time = 0; time < 4; time++) a.finish();
  assert.deepEqual([a.busy + a.idle, b.busy, c.busy, budget.taken], [0, 2, 2, 4]);
  assert.equal(budget.isOwedBy(b), false, 'they have equally many');
});

test('a pool that needs no connection any more is not waited for', () => {
  const [budget, a, b] = start(1, 2) as [ConnectionBudget, TestPool, TestPool];
  a.want(1);
  b.want(1);
  assert.ok(budget.isWantedBeside(a));
  budget.stopWaiting(b);
  a.finish();
  assert.deepEqual([a.idle, budget.taken], [1, 1]);
});
