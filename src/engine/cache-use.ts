/** Counts the lookups in all caches of one kind. The caches come and go with roles and schema snapshots; the counts stay. */
import type { CacheStatistics } from '../events.ts';

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
