/** What every request goes through before it runs, whatever carries it: admission, the rate of its address, and how it is to run. */
import { lookUpCaller } from '../../auth/authenticate.ts';
import type { Authenticate, VerifiedCaller } from '../../auth/caller.ts';
import type { Deadline } from '../../budget/deadline.ts';
import { ApiError } from '../../errors/api-error.ts';
import type { BeginTrace } from '../../event-details.ts';
import type { Observer } from '../../events.ts';
import type { Admission, AdmittedRequest, ProjectPart, Share } from '../admission/admission.ts';
import type { RequestRate } from '../admission/request-rate.ts';
import { callApplication } from './error-response.ts';
import type { Exchange } from './exchange.ts';
import type { Run } from './execute-request.ts';
import { positionIn } from './position.ts';
import { RequestTimes } from './request-times.ts';

export interface AdmissionParts {
  readonly admission: Admission;
  /** Null if the server has no projects. */
  readonly project: ProjectPart | null;
  /** A new reference to the share of the request's client. */
  readonly shareOf: (exchange: Exchange) => Share;
  /** Whether to reject all requests for now. */
  readonly isOverloaded: () => boolean;
  readonly rate: RequestRate | null;
}

export interface TimingParts {
  readonly serverTiming: boolean;
  readonly detailedEvents: boolean;
  readonly beginTrace: BeginTrace | null;
  readonly traceDatabase: boolean;
  readonly observe: Observer;
}

/** In bytes: a request of at least this size must wait for its turn. */
export const largeBody = 4 * 1024;
const overloaded = 'The server is overloaded. Try again later.';

/** Admits a request, or says why there is no room for it: without an `Error`, whose stack would cost more than the rest of a rejection. */
export function admitRequest(exchange: Exchange, { admission, project, shareOf, isOverloaded }: AdmissionParts): AdmittedRequest | string {
  const admitted = isOverloaded() ? overloaded : admission.admit(shareOf(exchange), project);
  if (typeof admitted !== 'string') exchange.admit(admitted);
  return admitted;
}

/** Counts a request of an address, and passes on the headers that say how many are left. Rejects with RATE_LIMITED after that. */
export async function countRequest(
  { address }: Exchange,
  rate: RequestRate,
  onHeaders: (headers: readonly string[]) => void = () => {},
): Promise<void> {
  const counted = await rate.count(address);
  onHeaders(counted.headers);
  if (!counted.isAllowed)
    throw new ApiError('RATE_LIMITED', 'Too many requests from this address. Wait as long as the Retry-After header says.');
}

/** Counts an admitted request for its user, too. Throws OVERLOADED. Returns the name of the client that it runs for. */
export function admitCaller(caller: VerifiedCaller, admitted: AdmittedRequest): string {
  const refusal = caller.user === null ? null : admitted.admitUser(caller.user);
  if (refusal !== null) throw new ApiError('OVERLOADED', refusal);
  return caller.user ?? nameClient(caller.role, admitted.client);
}

/** The name of a client that is not a user: one client per role and address. */
function nameClient(role: string, address: Share): string {
  if (address.anonymous?.role !== role) address.anonymous = { role, name: `${role} at ${address.name}` };
  return address.anonymous.name;
}

/** When a request passes its stages; null unless its response or its event reports that. */
export function beginTimes(exchange: Exchange, started: number, parts: TimingParts): RequestTimes | null {
  const { serverTiming, detailedEvents, beginTrace, traceDatabase, observe } = parts;
  if (!serverTiming && !detailedEvents) return null;
  const { headers, requestId } = exchange;
  const onDefect = (error: Error): void => observe({ kind: 'defect-found', requestId, error });
  const trace = beginTrace === null ? null : callApplication('beginTrace', () => beginTrace(headers), onDefect);
  const name = trace === null || !traceDatabase ? null : `00-${trace.traceId}-${trace.spanId}-0${trace.isSampled ? 1 : 0}`;
  return new RequestTimes(started, exchange, trace, name);
}

export function describeRun(exchange: Exchange, deadline: Deadline, client: string, times: RequestTimes | null): Run {
  const key = exchange.headers['idempotency-key'];
  const position = positionIn(exchange.headers);
  return {
    deadline,
    client,
    http: exchange,
    ...(times !== null && { marks: times }),
    ...(key !== undefined && { idempotencyKey: String(key) }),
    ...(position !== undefined && { position }),
  };
}

/** The caller whom the application's function names; null if it names none. */
export async function askApplication(
  { method, url, headers, requestId }: Pick<Exchange, 'method' | 'url' | 'headers' | 'requestId'>,
  { authenticate, observe }: { readonly authenticate: Authenticate | null; readonly observe: Observer },
  deadline: Deadline,
): Promise<VerifiedCaller | null> {
  if (authenticate === null) return null;
  const onFailure = (error: unknown): void => observe({ kind: 'authentication-failed', requestId, error });
  return lookUpCaller(authenticate, { method, url, headers }, deadline, onFailure);
}
