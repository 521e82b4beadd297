/**
 * The idempotency key of a request, and what must be the same if it is sent again under that key: the caller, and what is asked for. In: request, options and
 * caller; out: texts and hashes as PostgreSQL keeps them.
 */
import { createHash } from 'node:crypto';
import { ApiError } from '../errors.ts';
import type { Caller, GraphQLRequest } from './request.ts';

export interface RequestIdentity {
  readonly role: string;
  /** A hash of whom the claims name, as `bytea`. */
  readonly caller: string;
  readonly key: string;
  /** A hash of document, operation and variables, as `bytea`. */
  readonly request: string;
}

/** Visible ASCII without quotes, and without commas, by which the values of repeated headers are joined. */
const keyForm = /^[!#-+\--~]{1,255}$/;

/** What identifies a request that is sent with a key, in one place or in several. Throws BAD_REQUEST for what is not a key, and for several keys. */
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

/** As a header, a key is a string in quotes (RFC 9651), which most clients leave out. */
function readKey(key: unknown): string {
  const text = typeof key === 'string' && /^".*"$/.test(key) ? key.slice(1, -1) : key;
  if (typeof text === 'string' && keyForm.test(text)) return text;
  const rule = 'must be a single string of 1 to 255 visible ASCII characters without commas and quotes, such as a UUID';
  throw new ApiError('BAD_REQUEST', `An idempotency key ${rule}.`);
}

/** Claims that differ between two tokens of the same caller. */
const passingClaims: ReadonlySet<string> = new Set(['exp', 'iat', 'nbf', 'jti']);

/** The subject, as its issuer names it; where there is none, everything that outlasts a token. */
function identityOf({ claims = {} }: Caller): unknown {
  const { sub, iss } = claims;
  if (typeof sub === 'string') return ['sub', iss ?? null, sub];
  const lasting = Object.keys(claims).filter((name) => !passingClaims.has(name));
  return ['claims', lasting.sort().map((name) => [name, claims[name]])];
}

function hash(value: unknown): string {
  // JSON has no large integers; programs may pass them.
  const text = JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? `${each}n` : each));
  return `\\x${createHash('sha256').update(text).digest('hex')}`;
}
