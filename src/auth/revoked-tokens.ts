/** The list of tokens that were revoked before they expire. */
import { hash } from 'node:crypto';
import { idTextOf } from '../engine/request.ts';
import { isJsonObject } from '../errors/api-error.ts';
import { readJson } from '../files/watched-files.ts';
import { checkMembers, readHash, readTime } from './api-keys.ts';

type Claims = Readonly<Record<string, unknown>>;

const kinds = ['jti', 'session_id', 'sub', 'hash'] as const;

export class RevokedTokens {
  readonly #ids: Readonly<Record<'jti' | 'session_id' | 'hash', Set<string>>> = { jti: new Set(), session_id: new Set(), hash: new Set() };
  /** The time until which the tokens of a user are revoked, in milliseconds since 1970. */
  readonly #users = new Map<string, number>();
  readonly count: number;

  /** The entries of a list. Throws an `Error` that names the broken one. */
  constructor(entries: readonly unknown[]) {
    this.count = entries.length;
    for (const [index, entry] of entries.entries()) {
      try {
        this.#add(entry);
      } catch (error) {
        throw new Error(`entry ${index + 1} ${(error as Error).message}`);
      }
    }
  }

  /** Whether a token with these claims is revoked. */
  has(token: string, claims: Claims): boolean {
    const { jti: ids, session_id: sessions, hash: hashes } = this.#ids;
    if (holds(ids, claims.jti) || holds(sessions, claims.session_id)) return true;
    const sub = idTextOf(claims.sub);
    const revokedUntil = sub === null ? undefined : this.#users.get(sub);
    const { iat } = claims;
    // A token without a time of issue may be an old one.
    if (revokedUntil !== undefined && !(typeof iat === 'number' && iat * 1000 >= revokedUntil)) return true;
    return hashes.size > 0 && hashes.has(hashOfToken(token));
  }

  #add(entry: unknown): void {
    if (!isJsonObject(entry)) throw new Error(`must be an object with one of ${kinds.join(', ')}`);
    checkMembers(entry, [...kinds, 'issued_before', 'reason']);
    const [kind, ...more] = kinds.filter((name) => entry[name] !== undefined);
    if (kind === undefined || more.length > 0) throw new Error(`must have one of ${kinds.join(', ')}`);
    if (entry.issued_before !== undefined && kind !== 'sub') throw new Error('may have "issued_before" only beside "sub"');
    if (kind === 'hash') {
      this.#ids.hash.add(readHash(entry.hash));
      return;
    }
    const id = readId(entry[kind], kind);
    if (kind === 'sub') this.#addUser(id, entry.issued_before);
    else this.#ids[kind].add(id);
  }

  #addUser(sub: string, issuedBefore: unknown): void {
    const until = issuedBefore === undefined ? Number.POSITIVE_INFINITY : readTime(issuedBefore, 'issued_before');
    this.#users.set(sub, Math.max(until, this.#users.get(sub) ?? -Infinity));
  }
}

function holds(ids: ReadonlySet<string>, claim: unknown): boolean {
  const id = idTextOf(claim);
  return id !== null && ids.has(id);
}

/** JSON numbers that are not safe integers were rounded when they were parsed. */
function readId(value: unknown, kind: string): string {
  if ((typeof value === 'string' && value !== '') || Number.isSafeInteger(value)) return String(value);
  throw new Error(`must have a string as "${kind}" that is not empty, or a whole number below 2^53`);
}

/**
 * The hash by which a token is revoked: of its header and payload. The signature is left out because the same token has several valid ones
 * (RFC 4648, section 3.5, and the two signatures of ES256).
 */
export function hashOfToken(token: string): string {
  const end = token.lastIndexOf('.');
  return hash('sha256', end < 0 ? token : token.slice(0, end));
}

/**
 * The list in a file: `[{"jti": "…"}, {"sub": "…", "issued_before": "2027-01-31T12:00:00Z"}]`. Throws an `Error` that says what is wrong.
 */
export function parseRevokedTokens(text: string): RevokedTokens {
  const content = readJson(text);
  if (!Array.isArray(content)) throw new Error('must hold a JSON array');
  return new RevokedTokens(content);
}
