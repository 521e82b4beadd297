/**
 * The prepared statements of one connection: their names by owner and text, in a bounded LRU. Independent of the driver; `encode-batch.ts`
 * writes the messages.
 */
import { createHash } from 'node:crypto';

interface Entry {
  readonly owner: string;
  readonly text: string;
  readonly name: string;
  lastUse: number;
}

/** The statistics of the prepared statements of several connections together. */
export interface StatementCounts {
  entries: number;
  /** Lookups that found the statement prepared. */
  hits: number;
  /** Statements that were prepared. */
  misses: number;
}

const noNames: readonly string[] = [];

/**
 * The prepared statements of one connection.
 *
 * Their owner is a role, or a group of roles for which PostgreSQL parses and plans a statement in the same way (`Batch.preparedFor`).
 * Otherwise one role must not run what another parsed and planned: not every check is repeated. And where the plan depends on the role, as
 * with row level security, PostgreSQL plans again whenever the role has changed; if roles took turns on a connection, that would be half of
 * the time of such a query.
 *
 * A name is a digest of owner and text, so that even if a pooler mixes up clients' connections, a name never stands for another text.
 */
export class PreparedStatements {
  readonly #capacity: number;
  readonly #owners = new Map<string, Map<string, Entry>>();
  readonly #counts: StatementCounts;
  #size = 0;
  /** Counts uses, as a clock. */
  #uses = 0;
  /** Evicted names that must still be closed on the server. */
  #evicted: string[] = [];
  /** The names that the batch under way closes. */
  #closing: readonly string[] = noNames;
  /** What the batch under way parses. Whether that succeeded is known only when it is over. */
  #unsettled: { readonly entry: Entry; readonly position: number }[] = [];

  /** `counts`: where to add this connection's. */
  constructor(capacity: number, counts: StatementCounts = { entries: 0, hits: 0, misses: 0 }) {
    this.#capacity = Math.max(1, capacity);
    this.#counts = counts;
  }

  /** The connection is closed: its statements are gone. */
  close(): void {
    this.#counts.entries -= this.#size;
  }

  has(owner: string, text: string): boolean {
    return this.#owners.get(owner)?.has(text) ?? false;
  }

  /** The name of a prepared statement, or undefined. */
  find(owner: string, text: string): string | undefined {
    const entry = this.#owners.get(owner)?.get(text);
    if (entry === undefined) return undefined;
    entry.lastUse = ++this.#uses;
    this.#counts.hits++;
    return entry.name;
  }

  /** Names a statement that the batch under way parses; `position` is its index among the statements of the batch. */
  add(owner: string, text: string, position: number): string {
    this.#counts.misses++;
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
    this.#counts.entries++;
    // It is parsed under its name again, so no later batch may close it.
    if (this.#evicted.includes(entry.name)) this.#evicted = this.#evicted.filter((name) => name !== entry.name);
    this.#unsettled.push({ entry, position });
    return entry.name;
  }

  /** The names to close, each returned once. */
  takeEvicted(): readonly string[] {
    if (this.#evicted.length === 0) return noNames;
    this.#closing = this.#evicted;
    this.#evicted = [];
    return this.#closing;
  }

  /** Ends a batch in which the first `completed` statements ran: after an error the server skips everything, including Parse. */
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

  /** Drops all statements: the server reported an unknown name or an invalid plan. */
  evictAll(): void {
    for (const entry of this.#entries()) this.#evict(entry);
    this.#unsettled = [];
  }

  /** Looks at every entry. That is cheap compared with the Parse that makes room necessary, and keeps each use nearly free. */
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
    this.#counts.entries--;
    if (statements.size === 0) this.#owners.delete(owner);
  }
}
