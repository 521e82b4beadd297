/**
 * The introspection responses of one schema snapshot, as bytes: one cache for all roles. A response is made only once, however many
 * requests wait for it, and only one at a time, since it may be tens of megabytes.
 */
import { LRUCache } from 'lru-cache';
import { type Deadline, explainStop, untilStopped } from '../budget/deadline.ts';
import { runInSlices } from '../budget/slices.ts';
import type { IntrospectionJson } from '../introspection/execute-introspection.ts';
import type { CacheUse } from './cache-use.ts';

/** A response that is being made, or waits to be. */
interface Making {
  readonly json: Promise<IntrospectionJson>;
  /** How many requests wait for it. */
  waiting: number;
}

/** Small responses are limited in number too: each costs more than its bytes. */
const maxEntries = 1000;

export class IntrospectionCache {
  readonly #use: CacheUse;
  readonly #known: LRUCache<string, IntrospectionJson>;
  readonly #making = new Map<string, Making>();
  #lastMade: Promise<void> = Promise.resolve();

  /**
   * Keeps responses of up to this many bytes in total, by identity. A larger one is made for the requests that wait for it, but not kept.
   */
  constructor(maxBytes: number, use: CacheUse) {
    this.#use = use;
    this.#known = new LRUCache({ max: maxEntries, maxSize: Math.max(1, maxBytes), sizeCalculation: sizeOf });
  }

  /** The number of responses that are kept. */
  get size(): number {
    return this.#known.size;
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
    const known = this.#known.get(identity);
    const making = this.#making.get(identity);
    this.#use.note(known ?? making);
    if (known !== undefined) return known;
    const awaited = making ?? this.#begin(identity, make);
    awaited.waiting += 1;
    try {
      return await untilStopped(awaited.json, deadline, explainStop);
    } finally {
      awaited.waiting -= 1;
    }
  }

  #begin(identity: string, make: () => Generator<void, IntrospectionJson>): Making {
    const made = this.#lastMade.then(() => runInSlices(this.#whileAwaited(identity, making, make())));
    const making: Making = { json: made, waiting: 0 };
    this.#making.set(identity, making);
    this.#lastMade = made.then(ignore, ignore);
    return making;
  }

  /** Does the work and keeps the response, but stops if nobody waits for it any more: other responses are waiting to be made. */
  *#whileAwaited(identity: string, making: Making, work: Generator<void, IntrospectionJson>): Generator<void, IntrospectionJson> {
    try {
      for (;;) {
        if (making.waiting === 0) throw new Error('Nobody waits for this response.');
        const { done, value } = work.next();
        if (done) {
          this.#known.set(identity, value);
          return value;
        }
        yield;
      }
    } finally {
      this.#making.delete(identity);
    }
  }
}

function sizeOf(json: IntrospectionJson, identity: string): number {
  let total = identity.length;
  for (const pieces of json.values()) for (const { length } of pieces) total += length;
  return total;
}

function ignore(): void {}
