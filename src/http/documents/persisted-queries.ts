/**
 * The documents that clients have stored under their hash (automatic persisted queries), in a bounded cache. A client (one address) may
 * fill at most an eighth of the cache: beyond that, its new documents replace its own old ones.
 */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { CacheStatistics } from '../../statistics.ts';

interface Stored {
  readonly text: string;
  readonly owner: string;
  readonly bytes: number;
}

/** What one client has stored: the total bytes of its documents, and the documents, least recently used first. */
interface Owned {
  bytes: number;
  readonly hashes: Set<string>;
}

/** At least this many clients must work together to displace all documents. */
const leastOwners = 8;
/** Bytes of an entry besides its text. */
const overhead = 500;

export class PersistedQueries {
  readonly #stored: LRUCache<string, Stored>;
  readonly #owned = new Map<string, Owned>();
  readonly #mostOwned: number;
  #hits = 0;
  #misses = 0;

  /** A cache of about this many bytes. */
  constructor(bytes: number) {
    this.#mostOwned = Math.floor(bytes / leastOwners);
    this.#stored = new LRUCache({
      maxSize: bytes,
      sizeCalculation: (stored) => stored.bytes,
      dispose: (stored, hash) => this.#disown(stored, hash),
    });
  }

  /** The document of a hash; undefined if it is not stored. */
  get(hash: string): string | undefined {
    const stored = this.#stored.get(hash);
    if (stored === undefined) {
      this.#misses += 1;
      return undefined;
    }
    this.#hits += 1;
    const { hashes } = this.#owned.get(stored.owner)!;
    hashes.delete(hash);
    hashes.add(hash);
    return stored.text;
  }

  /** Stores a document for the client at an address. Store only documents that have run. */
  add(hash: string, text: string, owner: string): void {
    const bytes = overhead + 2 * text.length;
    if (bytes > this.#mostOwned || this.#stored.has(hash)) return;
    const owned = this.#owned.get(owner) ?? { bytes: 0, hashes: new Set() };
    for (const oldest of owned.hashes) {
      if (owned.bytes + bytes <= this.#mostOwned) break;
      this.#stored.delete(oldest);
    }
    owned.bytes += bytes;
    owned.hashes.add(hash);
    this.#owned.set(owner, owned);
    this.#stored.set(hash, { text, owner, bytes });
  }

  readStatistics(): CacheStatistics {
    return { name: 'persisted-query', entries: this.#stored.size, hits: this.#hits, misses: this.#misses };
  }

  #disown({ owner, bytes }: Stored, hash: string): void {
    const owned = this.#owned.get(owner)!;
    owned.bytes -= bytes;
    owned.hashes.delete(hash);
    if (owned.hashes.size === 0) this.#owned.delete(owner);
  }
}

/** The hash of a document as clients compute it: SHA-256 of its UTF-8, in lower-case hexadecimal. */
export function hashOf(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}
