/**
 * The documents that clients have stored under their hash (automatic persisted queries), in a bounded cache. A client (one address) may
 * fill at most an eighth of the cache: beyond that, its new documents replace its own old ones. Several processes may share what they store.
 */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { CacheStatistics } from '../../statistics.ts';

interface Stored {
  readonly text: string;
  readonly owner: string;
  readonly bytes: number;
}

/** The documents that several processes share. */
export interface SharedDocuments {
  /** Null if it is not there or cannot be read. Never rejects. */
  read(hash: string): Promise<string | null>;
  /** Stores a document, unless its owner has stored more than this many bytes lately. */
  write(document: Stored & { readonly hash: string; readonly mostOwned: number }): void;
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
  readonly #shared: SharedDocuments | null;
  #hits = 0;
  #misses = 0;

  /** A cache of about this many bytes. `shared`: null if this process stores alone. */
  constructor(bytes: number, shared: SharedDocuments | null) {
    this.#shared = shared;
    this.#mostOwned = Math.floor(bytes / leastOwners);
    this.#stored = new LRUCache({
      maxSize: bytes,
      sizeCalculation: (stored) => stored.bytes,
      dispose: (stored, hash) => this.#disown(stored, hash),
    });
  }

  /** The document of a hash, for the client at an address; null if it is not stored. */
  get(hash: string, address: string): string | null | Promise<string | null> {
    const stored = this.#stored.get(hash);
    if (stored === undefined) {
      this.#misses += 1;
      return this.#shared === null ? null : this.#getShared(this.#shared, hash, address);
    }
    this.#hits += 1;
    const { hashes } = this.#owned.get(stored.owner)!;
    hashes.delete(hash);
    hashes.add(hash);
    return stored.text;
  }

  /** Stores a document for the client at an address. Store only documents that have run. */
  add(hash: string, text: string, owner: string): void {
    const stored = this.#keep(hash, text, owner);
    if (stored !== null) this.#shared?.write({ ...stored, hash, mostOwned: this.#mostOwned });
  }

  readStatistics(): CacheStatistics {
    return { name: 'persisted-query', entries: this.#stored.size, hits: this.#hits, misses: this.#misses };
  }

  async #getShared(shared: SharedDocuments, hash: string, address: string): Promise<string | null> {
    const text = await shared.read(hash);
    // Others may write to the store, too.
    if (text === null || hashOf(text) !== hash) return null;
    this.#keep(hash, text, address);
    return text;
  }

  /** Null if it is already stored, or too large. */
  #keep(hash: string, text: string, owner: string): Stored | null {
    const bytes = overhead + 2 * text.length;
    if (bytes > this.#mostOwned || this.#stored.has(hash)) return null;
    const owned = this.#owned.get(owner) ?? { bytes: 0, hashes: new Set() };
    for (const oldest of owned.hashes) {
      if (owned.bytes + bytes <= this.#mostOwned) break;
      this.#stored.delete(oldest);
    }
    owned.bytes += bytes;
    owned.hashes.add(hash);
    this.#owned.set(owner, owned);
    const stored = { text, owner, bytes };
    this.#stored.set(hash, stored);
    return stored;
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
