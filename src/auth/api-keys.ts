/**
 * Opaque keys: random texts that a file maps to roles. The file holds only their SHA-256, which is enough because they cannot be guessed.
 */
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { isJsonObject, quote } from '../errors/api-error.ts';
import { readJson } from '../files/watched-files.ts';
import { isRoleName, type VerifiedCaller, verifiedCaller } from './caller.ts';

export interface ApiKey {
  /** SHA-256 of its text. */
  readonly hash: Buffer;
  readonly caller: VerifiedCaller;
  /** Milliseconds since 1970; `Infinity` if it does not expire. */
  readonly expiresAt: number;
}

/** The entry of a key in an object of keys by name. */
export interface ApiKeyEntry {
  readonly hash: string;
  readonly role: string;
  readonly expires?: string;
  readonly claims?: Readonly<Record<string, unknown>>;
}

const mostKeys = 100_000;

export class ApiKeys {
  /** By the first bytes of their hash, which reveal nothing of the rest. */
  readonly #byPrefix = new Map<number, ApiKey[]>();
  readonly count: number;

  constructor(keys: readonly ApiKey[]) {
    this.count = keys.length;
    for (const key of keys) {
      const prefix = key.hash.readUInt32BE();
      const others = this.#byPrefix.get(prefix);
      if (others === undefined) this.#byPrefix.set(prefix, [key]);
      else others.push(key);
    }
  }

  /** The key with this text; undefined if there is none. The duration does not reveal how much of a hash is correct. */
  find(text: string): ApiKey | undefined {
    const digest = hash('sha256', text, 'buffer');
    return this.#byPrefix.get(digest.readUInt32BE())?.find((key) => timingSafeEqual(key.hash, digest));
  }
}

/** Whether a text is meant as an opaque key: unlike a JSON Web Token, it contains no dots. */
export function isOpaque(text: string): boolean {
  return !text.includes('.');
}

/** The keys of a file: `{"name": {"hash": "sha256:…", "role": "anon"}}`. Throws an `Error` that says what is wrong. */
export function parseApiKeys(text: string): ApiKeys {
  return readApiKeys(readJson(text));
}

/** The keys by name. Throws an `Error` that names the broken entry. */
export function readApiKeys(content: unknown): ApiKeys {
  if (!isJsonObject(content)) throw new Error('must hold a JSON object of names and keys');
  const entries = Object.entries(content);
  if (entries.length > mostKeys) throw new Error(`holds more than ${mostKeys} keys`);
  const names = new Map<string, string>();
  const keys = entries.map(([name, entry]) => {
    const key = parseEntry(name, entry);
    const digits = key.hash.toString('hex');
    const other = names.get(digits);
    if (other !== undefined) throw new Error(`the keys ${quote(other)} and ${quote(name)} are the same`);
    names.set(digits, name);
    return key;
  });
  return new ApiKeys(keys);
}

function parseEntry(name: string, entry: unknown): ApiKey {
  try {
    if (name === '') throw new Error('must have a name');
    if (!isJsonObject(entry)) throw new Error('must be an object with "hash" and "role"');
    checkMembers(entry, ['hash', 'role', 'expires', 'claims']);
    const { role, expires, claims = {} } = entry;
    if (!isRoleName(role)) throw new Error('must have a "role": the name of a database role');
    if (!isJsonObject(claims)) throw new Error('may have "claims", which must be an object');
    return {
      hash: Buffer.from(readHash(entry.hash), 'hex'),
      caller: verifiedCaller(role, claims),
      expiresAt: expires === undefined ? Number.POSITIVE_INFINITY : readTime(expires, 'expires'),
    };
  } catch (error) {
    throw new Error(`the key ${quote(name)} ${(error as Error).message}`);
  }
}

/** In bytes: 256 bits cannot be guessed. */
const keyLength = 32;

/**
 * A new key, and its hash. `kind` says who may see it, in the key's prefix: secret scanners and readers of a configuration look for that.
 */
export function createApiKey(kind: 'publishable' | 'secret'): { readonly key: string; readonly hash: string } {
  const key = `rg_${kind}_${randomBytes(keyLength).toString('base64url')}`;
  return { key, hash: `sha256:${hash('sha256', key)}` };
}

/** Throws if an entry has members other than these. */
export function checkMembers(entry: object, allowed: readonly string[]): void {
  if (Object.keys(entry).some((name) => !allowed.includes(name))) throw new Error(`may have only the members ${allowed.join(', ')}`);
}

/** The hexadecimal digits of a SHA-256, with or without the prefix `sha256:`. */
export function readHash(value: unknown): string {
  const [, digits] = typeof value === 'string' ? (/^(?:sha256:)?([0-9a-f]{64})$/i.exec(value) ?? []) : [];
  if (digits === undefined) throw new Error('must have a "hash": sha256: and 64 hexadecimal digits');
  return digits.toLowerCase();
}

/** The milliseconds since 1970 of a time such as `2027-01-31T12:00:00Z`, or of the beginning of a day (UTC). */
export function readTime(value: unknown, member: string): number {
  const isTime = typeof value === 'string' && /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/.test(value);
  const time = isTime ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(time)) throw new Error(`must have a time as "${member}", such as 2027-01-31 or 2027-01-31T12:00:00Z`);
  return time;
}
