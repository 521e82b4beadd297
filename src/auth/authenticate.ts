/** Finds the caller of a request: by its key and token, or by a function of the application. */
import type { IncomingHttpHeaders } from 'node:http';
import { type Deadline, explainStop, untilStopped } from '../budget/deadline.ts';
import type { Caller } from '../engine/request.ts';
import { ApiError } from '../errors/api-error.ts';
import { type Authenticate, isRoleName, type RequestHead, type VerifiedCaller, verifiedCaller } from './caller.ts';
import type { TokenVerifier } from './verify-token.ts';

/**
 * The caller of a request, synchronously if the tokens are cached. Every request needs a key, in the `apiKey` header or in `url`, which is
 * null where that is not allowed; if it also has a bearer token, the token determines the caller. An empty Authorization header, which clients
 * send while nobody is signed in, is none. Throws or rejects with UNAUTHENTICATED.
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
  const { authorization = '' } = headers;
  if (authorization !== '') checkScheme(authorization);
  const caller = verifier.verify(key, 'The apiKey');
  if (authorization === '') return caller;
  const verifyBearer = () => verifier.verify(authorization.slice(scheme.length).trim(), 'The bearer token');
  return caller instanceof Promise ? caller.then(verifyBearer) : verifyBearer();
}

/** Who a live connection belongs to. `recheck` throws or rejects with UNAUTHENTICATED once its key or token no longer counts. */
export interface Identity {
  readonly caller: VerifiedCaller;
  readonly recheck: () => void | Promise<void>;
}

/** The identity by key and token, as `authenticateRequest` finds the caller. */
export async function identifyByKey(headers: IncomingHttpHeaders, verifier: TokenVerifier, url: string | null): Promise<Identity> {
  const caller = await authenticateRequest(headers, verifier, url);
  const { authorization = '', ...withoutToken } = headers;
  if (authorization === '') return { caller, recheck: () => verifier.recheck(caller, 'The apiKey') };
  const key = await authenticateRequest(withoutToken, verifier, url);
  const recheck = (): void | Promise<void> => {
    const checking = verifier.recheck(key, 'The apiKey');
    const recheckToken = () => verifier.recheck(caller, 'The bearer token');
    return checking instanceof Promise ? checking.then(recheckToken) : recheckToken();
  };
  return { caller, recheck };
}

/** The identity of a caller that the application has named: it lasts until the time in its claim `exp`, if there is one. */
export function identityOf(caller: VerifiedCaller): Identity {
  const exp = caller.claims?.exp;
  const recheck = (): void => {
    if (typeof exp === 'number' && Date.now() >= exp * 1000)
      throw new ApiError('UNAUTHENTICATED', 'The session has expired. Log in again.');
  };
  return { caller, recheck };
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

/**
 * The caller that the application returns. Rejects with an `ApiError` that the application throws; with TIMEOUT or CANCELLED if the request
 * must stop; and otherwise with AUTHENTICATION_UNAVAILABLE: any other error is passed to `onFailure`, not to the client.
 */
export async function lookUpCaller(
  authenticate: Authenticate,
  { method, url, headers }: Omit<RequestHead, 'signal'>,
  deadline: Deadline,
  onFailure: (error: unknown) => void,
): Promise<VerifiedCaller | null> {
  const controller = new AbortController();
  const stop: Parameters<typeof untilStopped>[2] = (reason) => {
    const error = explainStop(reason);
    controller.abort(error);
    return error;
  };
  const looking = (async () => checkCaller(await authenticate({ method, url, headers, signal: controller.signal })))();
  try {
    return await untilStopped(looking, deadline, stop);
  } catch (error) {
    if (error instanceof ApiError) throw error;
    onFailure(error);
    throw new ApiError('AUTHENTICATION_UNAVAILABLE', 'The server cannot determine who sent the request. Try again later.');
  }
}

/** Checked at run time because the application may be JavaScript. */
function checkCaller(caller: Caller | null | undefined): VerifiedCaller | null {
  if (caller === null || caller === undefined) return null;
  const { role, claims = {} } = caller;
  if (!isRoleName(role)) throw new TypeError('"authenticate" returned a caller without the name of a database role as "role"');
  if (typeof claims !== 'object' || claims === null || Array.isArray(claims))
    throw new TypeError('"authenticate" returned a caller whose "claims" are not an object');
  return verifiedCaller(role, copyOf(claims));
}

/** A copy by way of JSON, as PostgreSQL gets them, so that later changes to the application's object have no effect. */
function copyOf(claims: Readonly<Record<string, unknown>>): Record<string, unknown> {
  try {
    return JSON.parse(JSON.stringify(claims)) as Record<string, unknown>;
  } catch (cause) {
    throw new TypeError('"authenticate" returned a caller whose "claims" cannot be written as JSON', { cause });
  }
}
