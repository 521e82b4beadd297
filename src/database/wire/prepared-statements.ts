/**
 * The prepared statements of one connection: their names by role and text, in a bounded LRU. Knows no
 * driver; `encode-batch.ts` writes the messages.
 */
import { createHash } from 'node:crypto';

interface Entry {
  readonly role: string;
  readonly text: string;
  readonly name: string;
  lastUse: number;
}

const noNames: readonly string[] = [];

/**
 * The prepared statements of one connection.
 *
 * Each role has its own, because PostgreSQL plans anew when a plan that row level security had a part in meets another role. That is half
 * of the time of such a query where roles take turns on a connection.
 *
 * A name is a digest of role and text, so that clients whose connections a pooler mixes up never run another text under a name.
 */
export class PreparedStatements {
  readonly #capacity: number;
  readonly #roles = new Map<string, Map<string, Entry>>();
  #size = 0;
  #hits = 0;
  #misses = 0;
  /** Counts uses, as a clock. */
  #uses = 0;
  /** Evicted names that must still be closed on the server. */
  #evicted: string[] = [];
  /** Those that the batch under way closes. */
  #closing: readonly string[] = noNames;
  /** What the batch under way parses: whether that succeeded is known when it is over. */
  #unsettled: { readonly entry: Entry; readonly position: number }[] = [];

  constructor(capacity: number) {
    this.#capacity = Math.max(1, capacity);
  }

  get size(): number {
    return this.#size;
  }

  /** How often a statement was found prepared. */
  get hits(): number {
    return this.#hits;
  }

  /** How often one was prepared. */
  get misses(): number {
    return this.#misses;
  }

  /** Whether a statement is prepared. Does not count as a use. */
  has(role: string, text: string): boolean {
    return this.#roles.get(role)?.has(text) ?? false;
  }

  /** The name of a statement that is prepared, or undefined. */
  find(role: string, text: string): string | undefined {
    const entry = this.#roles.get(role)?.get(text);
    if (entry === undefined) return undefined;
    entry.lastUse = ++this.#uses;
    this.#hits++;
    return entry.name;
  }

  /** Names a statement that the batch under way parses; `position` is its place among the statements of the batch. */
  add(role: string, text: string, position: number): string {
    this.#misses++;
    if (this.#size >= this.#capacity) this.#evictOldest();
    const digest = createHash('sha256').update(role).update('\0').update(text).digest('base64url');
    const entry = { role, text, name: `rowgraph_${digest.slice(0, 22)}`, lastUse: ++this.#uses };
    let statements = this.#roles.get(role);
    if (statements === undefined) {
      statements = new Map();
      this.#roles.set(role, statements);
    }
    statements.set(text, entry);
    this.#size++;
    // It is parsed under its name again, and must not be closed by a batch to come.
    if (this.#evicted.includes(entry.name)) this.#evicted = this.#evicted.filter((name) => name !== entry.name);
    this.#unsettled.push({ entry, position });
    return entry.name;
  }

  /** The names to close, each told once. */
  takeEvicted(): readonly string[] {
    if (this.#evicted.length === 0) return noNames;
    this.#closing = this.#evicted;
    this.#evicted = [];
    return this.#closing;
  }

  /** Ends a batch of which the first `completed` statements ran: the server skips everything after an error, parsing included. */
  settle(completed: number): void {
    this.#closing = noNames;
    if (this.#unsettled.length === 0) return;
    for (const { entry, position } of this.#unsettled) {
      if (position >= completed) this.#remove(entry);
    }
    this.#unsettled = [];
  }

  /** Ends a batch that is not sent. */
  discard(): void {
    this.#evicted.push(...this.#closing);
    this.settle(0);
  }

  /** Drops everything: the server reported an unknown name or an invalid plan. */
  evictAll(): void {
    for (const entry of this.#entries()) this.#evict(entry);
    this.#unsettled = [];
  }

  /** Looks at every entry, which is cheap beside the Parse that makes room necessary; in return a use costs next to nothing. */
  #evictOldest(): void {
    let oldest: Entry | undefined;
    for (const entry of this.#entries()) {
      if (oldest === undefined || entry.lastUse < oldest.lastUse) oldest = entry;
    }
    if (oldest) this.#evict(oldest);
  }

  *#entries(): Generator<Entry> {
    for (const statements of this.#roles.values()) yield* statements.values();
  }

  #evict(entry: Entry): void {
    this.#remove(entry);
    this.#evicted.push(entry.name);
  }

  #remove({ role, text }: Entry): void {
    const statements = this.#roles.get(role);
    if (!statements?.delete(text)) return;
    this.#size--;
    if (statements.size === 0) this.#roles.delete(role);
  }
}
