/**
 * When a pool gives up a connection for other processes that the server refuses one. In: their wants, and what happens to the connections
 * here; out: whether one is owed, and whether it is due.
 */

/** How long a connection that is owed to others still serves work that waits. */
const graceMillis = 100;
/**
 * How long others wait for another connection after one was given up and none has been opened since: at first, and at most. Each time, they
 * wait four times as long; otherwise programs that are no workers of ours could take one after another.
 */
const keepMillis = { first: 4000, longest: 300_000 };

export class OwedConnection<Client extends object> {
  readonly #known = new WeakSet<Client>();
  /** When a connection was last given up, and how long others must wait for another one; 0 if one has been opened since. */
  #givenAt = -Infinity;
  #keepMillis = 0;
  /** When one must be given up even if work waits; null if none is owed. */
  #dueAt: number | null = null;

  /**
   * Others want a connection. Returns whether one is owed to them from now on: not if one already is, or was given up a moment ago. Of the
   * `held` connections, the last one is kept if the one before has not been replaced: whoever has that one, this pool must keep serving.
   */
  want(held: number): boolean {
    const now = performance.now();
    if (this.#dueAt !== null || now < this.#givenAt + this.#keepMillis) return false;
    const hasReplaced = this.#keepMillis === 0;
    if (held < (hasReplaced ? 1 : 2)) return false;
    this.#keepMillis = hasReplaced ? keepMillis.first : Math.min(this.#keepMillis * 4, keepMillis.longest);
    this.#dueAt = now + graceMillis;
    return true;
  }

  /** Whether a connection that no work needs must be given up. */
  get isOwed(): boolean {
    return this.#dueAt !== null;
  }

  /** Whether even a connection for which work waits must be given up. */
  get isDue(): boolean {
    return this.#dueAt !== null && performance.now() >= this.#dueAt;
  }

  /** A connection has been given up. */
  noteGiven(): void {
    this.#dueAt = null;
    this.#givenAt = performance.now();
  }

  /**
   * The pool has handed over a connection that it was asked for at a time. It replaces the one given up if it has been opened since; a shared
   * pool hands over the same ones again and again.
   */
  noteArrived(client: Client, began: number): void {
    if (this.#known.has(client)) return;
    this.#known.add(client);
    if (this.#dueAt === null && began > this.#givenAt) this.#keepMillis = 0;
  }
}
