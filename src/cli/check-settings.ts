/**
 * The syntax of single settings. Each check throws an `Error` whose message completes a sentence that begins with the name of the setting.
 */
import { parseClaimPath } from '../auth/caller.ts';
import { readProxyTrust } from '../http/admission/client-address.ts';
import { checkOrigin } from '../http/endpoint/cross-origin.ts';
import { expected } from './setting-kinds.ts';

/** A URL of PostgreSQL. */
export function checkDatabaseUrl(value: string): void {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url?.protocol !== 'postgres:' && url?.protocol !== 'postgresql:')
    throw expected('must be a URL such as postgres://user@host:5432/name');
}

/** A path without a trailing slash. */
export function checkBasePath(value: string): void {
  if (!/^(\/[\w.~-]+)+$/.test(value)) throw expected('must look like /api, without a trailing slash');
}

/** A name of at least two labels, in lower case. */
export function checkDomain(value: string): void {
  if (!/^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/.test(value)) throw expected('must be a domain in lower case, such as example.com');
}

/** HS256 requires a key at least as long as its hash (RFC 7518, section 3.2). */
export function checkJwtSecret(value: string): void {
  if (value.length < 32) throw expected('must have at least 32 characters');
}

export function checkMetricsKey(value: string): void {
  if (!/^[!-~]{16,}$/.test(value)) throw expected('must have at least 16 ASCII characters and no spaces');
}

/** A path of names, as `readClaim` follows it. */
export function checkClaimPath(value: string): void {
  parseClaimPath(value);
}

/** An origin that a browser can send. */
export function checkCorsOrigin(value: string): void {
  try {
    checkOrigin(value);
  } catch {
    throw expected('must be origins such as https://example.com, without a path, separated by commas');
  }
}

/** Addresses, networks and names of ranges. */
export function checkProxies(value: string): void {
  try {
    readProxyTrust(value);
  } catch {
    throw expected('must be addresses, networks such as 10.0.0.0/8, loopback, linklocal or uniquelocal, separated by commas');
  }
}
