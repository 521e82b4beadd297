/**
 * Limits the connections of several pools together. In: the pools, as they open and close connections; out: whether a pool may open another
 * one, and which pool must give one up so that none starves: idle connections go first, then those of the pools with the most.
 */

/** A pool that shares the budget. */
export interface BudgetedPool {
  /** Closes an idle connection; returns whether there was one. */
  closeIdle(): boolean;
  /** Opens the connections that it could not open before, if it still needs them. */
  openWanted(): void;
}

export class ConnectionBudget {
  readonly #most: number;
  readonly #counts = new Map<BudgetedPool, number>();
  /** Pools that were refused a connection and have not got one since. */
  readonly #waiting = new Set<BudgetedPool>();
  #taken = 0;
  /** How many idle connections have been asked to close but are still open, by pool. */
  readonly #closing = new Map<BudgetedPool, number>();

  /** A budget of this many connections. Throws `TypeError` for what is not a whole number of at least 1. */
  constructor(most: number) {
    if (!Number.isSafeInteger(most) || most < 1)
      throw new TypeError(`A ConnectionBudget must have a whole number of connections of at least 1, not ${String(most)}.`);
    this.#most = most;
  }

  /** How many connections are open. */
  get taken(): number {
    return this.#taken;
  }

  /** Whether any other pool waits for a connection. */
  isWantedBeside(pool: BudgetedPool): boolean {
    return this.#waiting.size > (this.#waiting.has(pool) ? 1 : 0);
  }

  /**
   * Counts another connection for a pool. Returns false if there is no room, or if a waiting pool has fewer; `openWanted` is then called once
   * it is this pool's turn.
   */
  take(pool: BudgetedPool): boolean {
    const hasRoom = this.#taken < this.#most;
    const own = this.countOf(pool);
    if (hasRoom && !this.#isWaitingWithLess(pool, own)) {
      this.#taken += 1;
      this.#counts.set(pool, own + 1);
      return true;
    }
    this.#waiting.add(pool);
    if (!hasRoom && this.#countClosing() < this.#waiting.size) this.#closeIdleOfOthers(pool);
    return false;
  }

  /** A connection of a pool was closed, or could not be opened. */
  giveBack(pool: BudgetedPool): void {
    const count = this.countOf(pool);
    if (count === 0) return;
    setCount(this.#counts, pool, count - 1);
    setCount(this.#closing, pool, (this.#closing.get(pool) ?? 0) - 1);
    this.#taken -= 1;
    this.#serveWaiting();
  }

  /** The pool needs no further connection. */
  stopWaiting(pool: BudgetedPool): void {
    this.#waiting.delete(pool);
  }

  /** The pool is closed: its connections no longer count. */
  leave(pool: BudgetedPool): void {
    this.#taken -= this.countOf(pool);
    this.#counts.delete(pool);
    this.#closing.delete(pool);
    this.#waiting.delete(pool);
    this.#serveWaiting();
  }

  /** Whether a pool must give up a connection even if it has work for it: another pool is waiting that has none, or at least two fewer. */
  isOwedBy(pool: BudgetedPool): boolean {
    if (this.#waiting.size === 0) return false;
    const own = this.countOf(pool);
    for (const other of this.#waiting) {
      const count = this.countOf(other);
      if (other !== pool && (count === 0 || count + 1 < own)) return true;
    }
    return false;
  }

  /** How many connections a pool has. */
  countOf(pool: BudgetedPool): number {
    return this.#counts.get(pool) ?? 0;
  }

  #isWaitingWithLess(than: BudgetedPool, count: number): boolean {
    for (const other of this.#waiting) if (other !== than && this.countOf(other) < count) return true;
    return false;
  }

  #countClosing(): number {
    let total = 0;
    for (const count of this.#closing.values()) total += count;
    return total;
  }

  #closeIdleOfOthers(pool: BudgetedPool): void {
    for (const other of this.#counts.keys()) {
      if (other === pool) continue;
      // Counted first: a connection that has died is given back before the call returns.
      const before = this.#closing.get(other) ?? 0;
      this.#closing.set(other, before + 1);
      if (other.closeIdle()) return;
      setCount(this.#closing, other, before);
    }
  }

  /** Serves the pool with the fewest connections first; among equals, the one that has waited longest. */
  #serveWaiting(): void {
    while (this.#taken < this.#most && this.#waiting.size > 0) {
      let next: BudgetedPool | null = null;
      for (const pool of this.#waiting) if (next === null || this.countOf(pool) < this.countOf(next)) next = pool;
      this.#waiting.delete(next!);
      next!.openWanted();
    }
  }
}

function setCount(counts: Map<BudgetedPool, number>, pool: BudgetedPool, count: number): void {
  if (count > 0) counts.set(pool, count);
  else counts.delete(pool);
}
