/**
 * Asks the application who sends a request, for example by a session cookie or a store of its own. In: the application's function, and the
 * head of the request; out: the caller, or null if keys and tokens decide.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { type Deadline, explainStop, untilStopped } from '../budget/deadline.ts';
import type { Caller } from '../engine/request.ts';
import { ApiError } from '../errors/api-error.ts';
import { isRoleName } from './role-claim.ts';
import { type VerifiedCaller, verifiedCaller } from './verified-caller.ts';

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
