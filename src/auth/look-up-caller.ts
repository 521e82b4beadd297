/**
 * Asks the application who sends a request, by a session cookie or a store of its own. In: the function that the application gave, and the head of the request;
 * out: the caller, or null where keys and tokens are to decide.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { type Deadline, explainStop, untilStopped } from '../budget/deadline.ts';
import type { Caller } from '../engine/request.ts';
import { ApiError } from '../errors.ts';
import { isRoleName } from './role-claim.ts';
import { type VerifiedCaller, verifiedCaller } from './verified-caller.ts';

/** What is known of a request before its body is read. */
export interface RequestHead {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  /** By names in lower case. */
  readonly headers: Readonly<IncomingHttpHeaders>;
  /** Aborted when the time of the request is over, or its client has gone. */
  readonly signal: AbortSignal;
}

/** Who sends a request; nothing if keys and tokens are to decide. To refuse a request, throw an `ApiError` of the code UNAUTHENTICATED. */
export type Authenticate = (head: RequestHead) => Caller | null | undefined | Promise<Caller | null | undefined>;

/**
 * The caller whom the application names. Rejects with the `ApiError` that it throws, with TIMEOUT or CANCELLED if the request must stop, and otherwise with
 * AUTHENTICATION_UNAVAILABLE: what else it throws is for `onFailure` and not for the client.
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

/** The application may be JavaScript. */
function checkCaller(caller: Caller | null | undefined): VerifiedCaller | null {
  if (caller === null || caller === undefined) return null;
  const { role, claims = {} } = caller;
  if (!isRoleName(role)) throw new TypeError('"authenticate" returned a caller without the name of a database role as "role"');
  if (typeof claims !== 'object' || claims === null || Array.isArray(claims))
    throw new TypeError('"authenticate" returned a caller whose "claims" are not an object');
  return verifiedCaller(role, copyOf(claims));
}

/** As they reach PostgreSQL, so that what the application does with its object later changes nothing. */
function copyOf(claims: Readonly<Record<string, unknown>>): Record<string, unknown> {
  try {
    return JSON.parse(JSON.stringify(claims)) as Record<string, unknown>;
  } catch (cause) {
    throw new TypeError('"authenticate" returned a caller whose "claims" cannot be written as JSON', { cause });
  }
}
