/**
 * Limits the connections of several pools together, so that none starves: idle connections are closed for others, and then pools that have
 * more give one up.
 */

/** A pool that shares the budget. */
export interface BudgetedPool {
  /** Closes an idle connection and gives it back; returns whether there was one. */
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

  /** A budget of this many connections. Throws `TypeError` for what is not a whole number of at least 1. */
  constructor(most: number) {
    if (!Number.isSafeInteger(most) || most < 1)
      throw new TypeError(`A ConnectionBudget must have a whole number of connections of at least 1, not ${String(most)}.`);
    this.#most = most;
  }

  get taken(): number {
    return this.#taken;
  }

  /**
   * Counts another connection for a pool. Returns false if there is no room, or if a waiting pool has fewer; `openWanted` is then called
   * once it is this pool's turn.
   */
  take(pool: BudgetedPool): boolean {
    const own = this.#countOf(pool);
    const hasRoom = this.#taken < this.#most;
    if (hasRoom && !this.#others(pool).some((other) => this.#countOf(other) < own)) {
      this.#waiting.delete(pool);
      this.#taken += 1;
      this.#counts.set(pool, own + 1);
      return true;
    }
    this.#waiting.add(pool);
    if (!hasRoom) [...this.#counts.keys()].some((other) => other !== pool && other.closeIdle());
    return false;
  }

  /** A connection of a pool is being closed, or could not be opened. */
  giveBack(pool: BudgetedPool): void {
    const count = this.#countOf(pool);
    if (count === 0) return;
    if (count > 1) this.#counts.set(pool, count - 1);
    else this.#counts.delete(pool);
    this.#taken -= 1;
    this.#serveWaiting();
  }

  /** The pool needs no further connection. */
  stopWaiting(pool: BudgetedPool): void {
    this.#waiting.delete(pool);
  }

  /** Whether any other pool waits for a connection. */
  isWantedBeside(pool: BudgetedPool): boolean {
    return this.#waiting.size > 0 && this.#others(pool).length > 0;
  }

  /** Whether a pool must give up a connection even if it has work for it: another pool is waiting that has none, or at least two fewer. */
  isOwedBy(pool: BudgetedPool): boolean {
    if (this.#waiting.size === 0) return false;
    const own = this.#countOf(pool);
    return this.#others(pool).some((other) => this.#countOf(other) === 0 || this.#countOf(other) + 1 < own);
  }

  #countOf(pool: BudgetedPool): number {
    return this.#counts.get(pool) ?? 0;
  }

  #others(pool: BudgetedPool): readonly BudgetedPool[] {
    return [...this.#waiting].filter((other) => other !== pool);
  }

  /** Serves the pool with the fewest connections first; among equals, the one that has waited longest. */
  #serveWaiting(): void {
    while (this.#taken < this.#most && this.#waiting.size > 0) {
      const next = [...this.#waiting].reduce((least, pool) => (this.#countOf(pool) < this.#countOf(least) ? pool : least));
      this.#waiting.delete(next);
      next.openWanted();
    }
  }
}
