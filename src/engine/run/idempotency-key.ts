/**
 * The idempotency key of a request, and what must be the same if the request is sent again with it: the caller, and what is asked for. In:
 * request, options and caller; out: texts and hashes in the form in which PostgreSQL stores them.
 */
import { createHash } from 'node:crypto';
import { ApiError } from '../../errors/api-error.ts';
import { type Caller, type GraphQLRequest, idTextOf } from '../request.ts';

/** How the database keeps idempotency keys. */
export interface KeyStore {
  /** For how many milliseconds each is kept. */
  readonly lifetime: number;
  /** How many bytes all of them may take; Infinity for no bound. */
  readonly maxBytes: number;
}

export interface RequestIdentity {
  readonly role: string;
  /** A hash of the identity in the claims, as `bytea`. */
  readonly caller: string;
  readonly key: string;
  /** A hash of document, operation and variables, as `bytea`. */
  readonly request: string;
}

/** Visible ASCII without quotes, and without commas, because they join the values of repeated headers. */
const keyForm = /^[!#-+\--~]{1,255}$/;

/**
 * Identifies a request that is sent with a key, in one place or in several. Throws BAD_REQUEST for an invalid key and for several different
 * keys.
 */
export function identifyRequest(
  sent: readonly unknown[],
  caller: Caller,
  { query, operationName, variables }: GraphQLRequest,
): RequestIdentity {
  const keys = new Set(sent.filter((key) => key !== undefined && key !== null).map(readKey));
  const [key = ''] = keys;
  if (keys.size > 1) throw new ApiError('BAD_REQUEST', 'The header and "extensions" have different idempotency keys. Send one of them.');
  return {
    role: caller.role,
    caller: hash(identityOf(caller)),
    key,
    request: hash([query, operationName ?? null, variables ?? {}]),
  };
}

/** In a header, a key is a quoted string (RFC 9651), but most clients leave the quotes out. */
function readKey(key: unknown): string {
  const text = typeof key === 'string' && /^".*"$/.test(key) ? key.slice(1, -1) : key;
  if (typeof text === 'string' && keyForm.test(text)) return text;
  const rule = 'must be a single string of 1 to 255 visible ASCII characters without commas and quotes, such as a UUID';
  throw new ApiError('BAD_REQUEST', `An idempotency key ${rule}.`);
}

/** Claims that differ between two tokens of the same caller. */
const passingClaims: ReadonlySet<string> = new Set(['exp', 'iat', 'nbf', 'jti']);

/** The subject, with its issuer; without a subject, all claims that do not change from token to token. */
function identityOf({ claims = {} }: Caller): unknown {
  const sub = idTextOf(claims.sub);
  if (sub !== null) return ['sub', idTextOf(claims.iss) ?? claims.iss ?? null, sub];
  const lasting = Object.keys(claims).filter((name) => !passingClaims.has(name));
  return ['claims', lasting.sort().map((name) => [name, claims[name]])];
}

function hash(value: unknown): string {
  // JSON has no bigints, but programs may pass them.
  const text = JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? `${each}n` : each));
  return `\\x${createHash('sha256').update(text).digest('hex')}`;
}
