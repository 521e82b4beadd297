/**
 * Authenticates a request. Every request needs a key, in the `apiKey` header or, where that is allowed, in the URL; if it also has a bearer
 * token, the token determines the caller. In: the headers of a request and its URL; out: the caller, synchronously if the tokens are cached.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { ApiError } from '../errors/api-error.ts';
import type { VerifiedCaller } from './verified-caller.ts';
import type { TokenVerifier } from './verify-token.ts';

/**
 * The caller of a request. `url`: the target of the request if a key may be in it, and null if not. Throws or rejects with UNAUTHENTICATED.
 */
export function authenticateRequest(
  headers: IncomingHttpHeaders,
  verifier: TokenVerifier,
  url: string | null = null,
): VerifiedCaller | Promise<VerifiedCaller> {
  const key = headers.apikey ?? (url === null ? undefined : readUrlKey(url));
  // Node joins repeated headers with a comma. The result is not a valid token, so checking the type is enough.
  if (typeof key !== 'string' || key === '') {
    throw new ApiError('UNAUTHENTICATED', 'The apiKey header is missing. Send a key in it.');
  }
  // Check the syntax of both headers before verifying anything: throwing later would leave a promise that nobody awaits.
  const { authorization } = headers;
  if (authorization !== undefined) checkScheme(authorization);
  const caller = verifier.verify(key, 'The apiKey');
  if (authorization === undefined) return caller;
  if (caller instanceof Promise) return caller.then(() => verifier.verify(authorization, 'The bearer token', scheme.length));
  return verifier.verify(authorization, 'The bearer token', scheme.length);
}

/** The URL parameter `apikey`, in the spelling of Supabase's gateway. As there, the header wins, and two parameters are refused. */
function readUrlKey(url: string): string | undefined {
  const start = url.indexOf('?');
  if (start === -1) return undefined;
  const [key, ...others] = new URLSearchParams(url.slice(start)).getAll('apikey');
  if (others.length > 0) throw new ApiError('UNAUTHENTICATED', 'The URL parameter "apikey" is there more than once. Send it once.');
  return key;
}

const scheme = 'bearer ';

/** Rejects other schemes: ignoring credentials would run the request as somebody other than its sender expects. */
function checkScheme(authorization: string): void {
  if (authorization.slice(0, scheme.length).toLowerCase() !== scheme || authorization.trim().length < scheme.length) {
    throw new ApiError(
      'UNAUTHENTICATED',
      'The Authorization header must be "Bearer" followed by a token. Omit the header to authenticate with the apiKey alone.',
    );
  }
}
