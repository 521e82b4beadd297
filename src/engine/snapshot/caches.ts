/** How much the caches of everything derived from schemas keep, their statistics, and the cache of introspection responses. */
import { LRUCache } from 'lru-cache';
import { type Deadline, explainStop, untilStopped } from '../../budget/deadline.ts';
import { runInSlices } from '../../budget/turns.ts';
import type { IntrospectionJson } from '../../introspection/execute-introspection.ts';
import { settings } from '../../settings/settings.ts';
import type { CacheStatistics } from '../../statistics.ts';

export interface CacheSizes {
  /** Estimated bytes of all schemas, with their documents and compiled variants. Default: 192 MB. */
  readonly schemaBytes: number;
  /** Documents cached for all roles with the same privileges. Default: 1000. */
  readonly documents: number;
  /** Total characters of these documents. Default: 2,000,000. */
  readonly documentText: number;
  /** Compiled variants to cache per document. Default: 100. */
  readonly variants: number;
  /** Total characters of all compiled variants of these documents. Default: 20,000,000. */
  readonly variantText: number;
  /** Prepared statements to keep per connection. Default: 256. */
  readonly statements: number;
  /** Total bytes of the introspection responses of all roles. Default: 64 MB. */
  readonly introspectionBytes: number;
}

export const defaultCacheSizes: CacheSizes = {
  schemaBytes: settings.schemaCache.default,
  documents: settings.documentCache.default,
  documentText: 2_000_000,
  variants: settings.variantCache.default,
  variantText: 20_000_000,
  statements: settings.statementCache.default,
  introspectionBytes: settings.introspectionCache.default,
};

/** Counts the lookups in all caches of one kind. The caches come and go with roles and schema snapshots; the counts stay. */
export class CacheUse {
  readonly #name: string;
  #hits = 0;
  #misses = 0;

  constructor(name: string) {
    this.#name = name;
  }

  /** Records the result of a lookup and returns it. */
  note<Value>(found: Value | undefined): Value | undefined {
    if (found === undefined) this.#misses += 1;
    else this.#hits += 1;
    return found;
  }

  /** The counts, and how many entries there are now. */
  read(entries: number): CacheStatistics {
    return { name: this.#name, entries, hits: this.#hits, misses: this.#misses };
  }
}

/** Lookups in the caches of everything derived from schemas. */
export class SchemaCacheUses {
  readonly schema = new CacheUse('schema');
  readonly document = new CacheUse('document');
  readonly variant = new CacheUse('variant');
  readonly introspection = new CacheUse('introspection');
}

/** A response that is being made, or waits to be. */
interface PendingResponse {
  readonly json: Promise<IntrospectionJson>;
  waiting: number;
}

/** Small responses are limited in number too: each costs more than its bytes. */
const maxEntries = 1000;

/**
 * The introspection responses of one schema snapshot, as bytes: one cache for all roles. A response is made only once, however many
 * requests wait for it, and only one at a time, since it may be tens of megabytes.
 */
export class IntrospectionCache {
  readonly #use: CacheUse;
  readonly #cache: LRUCache<string, IntrospectionJson>;
  readonly #pending = new Map<string, PendingResponse>();
  #last: Promise<void> = Promise.resolve();

  /**
   * Keeps responses of up to this many bytes in total, by identity. A larger one is made for the requests that wait for it, but not kept.
   */
  constructor(maxBytes: number, use: CacheUse) {
    this.#use = use;
    this.#cache = new LRUCache({ max: maxEntries, maxSize: Math.max(1, maxBytes), sizeCalculation: sizeOf });
  }

  get size(): number {
    return this.#cache.size;
  }

  /**
   * The response with this identity; `make` makes it if it is not cached. Failures are not cached. Rejects with TIMEOUT or CANCELLED once
   * the deadline has stopped the request.
   */
  async get(
    identity: string,
    make: () => Generator<void, IntrospectionJson>,
    deadline: Deadline | null = null,
  ): Promise<IntrospectionJson> {
    const cached = this.#cache.get(identity);
    const pending = this.#pending.get(identity);
    this.#use.note(cached ?? pending);
    if (cached !== undefined) return cached;
    const awaited = pending ?? this.#begin(identity, make);
    awaited.waiting += 1;
    try {
      return await untilStopped(awaited.json, deadline, explainStop);
    } finally {
      awaited.waiting -= 1;
    }
  }

  #begin(identity: string, make: () => Generator<void, IntrospectionJson>): PendingResponse {
    const json = this.#last.then(() => runInSlices(this.#whileAwaited(identity, pending, make())));
    const pending: PendingResponse = { json, waiting: 0 };
    this.#pending.set(identity, pending);
    this.#last = json.then(ignore, ignore);
    return pending;
  }

  /** Does the work and keeps the response, but stops if nobody waits for it any more: other responses are waiting to be made. */
  *#whileAwaited(identity: string, pending: PendingResponse, work: Generator<void, IntrospectionJson>): Generator<void, IntrospectionJson> {
    try {
      for (;;) {
        if (pending.waiting === 0) throw new Error('Nobody waits for this response.');
        const { done, value } = work.next();
        if (done) {
          this.#cache.set(identity, value);
          return value;
        }
        yield;
      }
    } finally {
      this.#pending.delete(identity);
    }
  }
}

function sizeOf(json: IntrospectionJson, identity: string): number {
  let total = identity.length;
  for (const pieces of json.values()) for (const { length } of pieces) total += length;
  return total;
}

function ignore(): void {}
