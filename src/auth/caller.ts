/** The caller of a request, and the role and the user that claims name. */
import type { IncomingHttpHeaders } from 'node:http';
import { type Caller, idTextOf } from '../engine/request.ts';

export interface VerifiedCaller extends Caller {
  /** Names the user that the claims identify, under whom requests in flight are counted; null if they identify none. */
  readonly user: string | null;
}

/** What is known of a request before its body is read. */
export interface RequestHead {
  readonly method: string;
  /** The path with the query. */
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<IncomingHttpHeaders>;
  /** Aborted when the request's time is up, or its client has disconnected. */
  readonly signal: AbortSignal;
}

/**
 * Returns who sends a request; null or undefined lets keys and tokens decide. To reject a request, throw an `ApiError` with the code
 * UNAUTHENTICATED.
 */
export type Authenticate = (head: RequestHead) => Caller | null | undefined | Promise<Caller | null | undefined>;

/** The caller with this role and these claims, which it freezes. */
export function verifiedCaller(role: string, claims: Readonly<Record<string, unknown>>): VerifiedCaller {
  const sub = idTextOf(claims.sub);
  const user = sub === null ? null : `${role} ${sub}`;
  return Object.freeze({ role, claims: Object.freeze(claims), user });
}

/** The value at a path of claims; undefined if there is none. A text on the way is read as JSON, as some issuers write what is nested. */
export function readClaim(claims: Readonly<Record<string, unknown>>, path: readonly string[]): unknown {
  let value: unknown = claims;
  for (const name of path) {
    if (typeof value === 'string') value = parseNested(value);
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[name];
  }
  return value;
}

function parseNested(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * The role that the value of a claim names: itself, or the first role of a list that is among those allowed; undefined if there is none.
 * Without `allowed`, a single role may have any name, and a list names none: not everything in it is meant as a role of the database.
 */
export function roleIn(value: unknown, allowed: readonly string[] | undefined): string | undefined {
  const names: readonly unknown[] = Array.isArray(value) && allowed !== undefined ? value : [value];
  return names.filter(isRoleName).find((name) => allowed === undefined || allowed.includes(name));
}

/** Whether a value may name a role. `none` would reset to the login role, whose privileges no token may grant (PostgreSQL: SET ROLE). */
export function isRoleName(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value !== 'none' && !value.includes('\0') && value.isWellFormed();
}
