/**
 * The prepared statements of one connection: their names by owner and text, in a bounded LRU. Knows no
 * driver; `encode-batch.ts` writes the messages.
 */
import { createHash } from 'node:crypto';

interface Entry {
  readonly owner: string;
  readonly text: string;
  readonly name: string;
  lastUse: number;
}

const noNames: readonly string[] = [];

/**
 * The prepared statements of one connection.
 *
 * Their owner is a role, or all roles that PostgreSQL parses and plans a statement for in the same way (`Batch.preparedFor`). What one role has parsed and
 * planned must not run for another otherwise: not everything is checked again. And where it is, as with row level security, PostgreSQL plans anew
 * whenever the role is another than before, which is half of the time of such a query where roles take turns on a connection.
 *
 * A name is a digest of owner and text, so that clients whose connections a pooler mixes up never run another text under a name.
 */
export class PreparedStatements {
  readonly #capacity: number;
  readonly #owners = new Map<string, Map<string, Entry>>();
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
  has(owner: string, text: string): boolean {
    return this.#owners.get(owner)?.has(text) ?? false;
  }

  /** The name of a statement that is prepared, or undefined. */
  find(owner: string, text: string): string | undefined {
    const entry = this.#owners.get(owner)?.get(text);
    if (entry === undefined) return undefined;
    entry.lastUse = ++this.#uses;
    this.#hits++;
    return entry.name;
  }

  /** Names a statement that the batch under way parses; `position` is its place among the statements of the batch. */
  add(owner: string, text: string, position: number): string {
    this.#misses++;
    if (this.#size >= this.#capacity) this.#evictOldest();
    const digest = createHash('sha256').update(owner).update('\0').update(text).digest('base64url');
    const entry = { owner, text, name: `rowgraph_${digest.slice(0, 22)}`, lastUse: ++this.#uses };
    let statements = this.#owners.get(owner);
    if (statements === undefined) {
      statements = new Map();
      this.#owners.set(owner, statements);
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
    for (const statements of this.#owners.values()) yield* statements.values();
  }

  #evict(entry: Entry): void {
    this.#remove(entry);
    this.#evicted.push(entry.name);
  }

  #remove({ owner, text }: Entry): void {
    const statements = this.#owners.get(owner);
    if (!statements?.delete(text)) return;
    this.#size--;
    if (statements.size === 0) this.#owners.delete(owner);
  }
}
