/**
 * The responses to introspection of one schema snapshot, as bytes: one memory for all roles. A response is made once, however many ask
 * for it meanwhile, and one at a time, since one may be tens of megabytes.
 */
import { LRUCache } from 'lru-cache';
import { runInSlices } from '../budget/slices.ts';
import type { CacheUse } from './cache-use.ts';

/** JSON in UTF-8, in pieces. */
type IntrospectionJson = readonly Buffer[];

/** Small responses are bounded too: each costs more than its bytes. */
const maxEntries = 1000;

export class IntrospectionCache {
  readonly #use: CacheUse;
  readonly #known: LRUCache<string, IntrospectionJson>;
  readonly #making = new Map<string, Promise<IntrospectionJson>>();
  #lastMade: Promise<void> = Promise.resolve();

  /** Keeps responses up to this many bytes in total, with their identities. A larger one is made for the requests that wait for it, but not kept. */
  constructor(maxBytes: number, use: CacheUse) {
    this.#use = use;
    this.#known = new LRUCache({ max: maxEntries, maxSize: Math.max(1, maxBytes), sizeCalculation: sizeOf });
  }

  /** How many are kept. */
  get size(): number {
    return this.#known.size;
  }

  /** The response with this identity; `make` makes it if it is not cached. Failures are not cached. */
  async get(identity: string, make: () => Generator<void, IntrospectionJson>): Promise<IntrospectionJson> {
    const known = this.#use.note(this.#known.get(identity) ?? this.#making.get(identity));
    if (known) return known;
    const made = this.#make(identity, make);
    this.#making.set(identity, made);
    this.#lastMade = made.then(ignore, ignore);
    return made;
  }

  async #make(identity: string, make: () => Generator<void, IntrospectionJson>): Promise<IntrospectionJson> {
    await this.#lastMade;
    try {
      const json = await runInSlices(make());
      this.#known.set(identity, json);
      return json;
    } finally {
      this.#making.delete(identity);
    }
  }
}

function sizeOf(json: IntrospectionJson, identity: string): number {
  return json.reduce((total, { length }) => total + length, identity.length);
}

function ignore(): void {}
