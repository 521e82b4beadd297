/**
 * What a client wants instead of a single response: answers that go on, as its Accept header says, or on an event stream that it has
 * reserved.
 */
import { type Identity, identifyByKey, identityOf } from '../../auth/authenticate.ts';
import type { Authenticate, VerifiedCaller } from '../../auth/caller.ts';
import type { TokenVerifier } from '../../auth/verify-token.ts';
import type { WeighedTurns } from '../../budget/turns.ts';
import type { RawResponse } from '../../engine/request.ts';
import { ApiError } from '../../errors/api-error.ts';
import { errorCodes } from '../../errors/codes.ts';
import type { LiveTransport } from '../../event-details.ts';
import type { AdmissionParts, TimingParts } from '../endpoint/begin-request.ts';
import type { CrossOrigin } from '../endpoint/cross-origin.ts';
import type { ExecutingGraph } from '../endpoint/endpoint-options.ts';
import { encodeErrors, toReportedErrors } from '../endpoint/error-response.ts';
import type { Exchange } from '../endpoint/exchange.ts';
import { type ExecuteOptions, openAnswers, type Run } from '../endpoint/execute-request.ts';
import { negotiateStream, type StreamPreference } from '../endpoint/preferences.ts';
import { RequestTimes } from '../endpoint/request-times.ts';
import type { LiveRegistry } from './live-connections.ts';
import { type Answers, type LiveOperation, noMore } from './live-operation.ts';
import type { OperationPlace, ReservedStreams } from './reserved-streams.ts';
import { streamAnswers, streamHeaders } from './stream-answers.ts';
import { formats } from './stream-formats.ts';

/** What live connections need of an endpoint. */
export interface LiveParts extends AdmissionParts, TimingParts, Pick<ExecuteOptions, 'documents' | 'observe'> {
  readonly graph: ExecutingGraph;
  /** Makes requests with large bodies take turns, weighed in bytes. All endpoints of a server share the turns. */
  readonly largeBodies: WeighedTurns;
  readonly verifier: TokenVerifier;
  readonly authenticate: Authenticate | null;
  readonly crossOrigin: CrossOrigin;
  readonly keyInUrl: boolean;
  readonly bodyLimit: number;
  readonly requestTimeout: number;
  readonly connections: LiveRegistry;
  /** Milliseconds between signs of life. */
  readonly liveHeartbeat: number;
  /** Milliseconds in which a client must say who it is, on a WebSocket that it has opened. */
  readonly initTimeout: number;
  /** The event streams that clients have reserved; null if they cannot. */
  readonly reserved: ReservedStreams | null;
}

/** A response that goes on. `start` sends its head, with these headers besides its own, and resolves at its end. */
export interface LiveResponse {
  readonly status: number;
  start(headers: readonly string[]): Promise<void>;
}

/** What a request wants; null if it is an ordinary one. */
export function readLiveWish(exchange: Exchange, parts: LiveParts): LiveWish | null {
  if (parts.graph.subscribeRaw === undefined) return null;
  const { method, headers } = exchange;
  const stream = negotiateStream(headers.accept);
  const ticket = parts.reserved === null ? null : readTicket(exchange, stream);
  if (method === 'PUT' && parts.reserved === null) throw new ApiError('METHOD_NOT_ALLOWED', noReservations);
  if (method === 'DELETE' && ticket === null) throw new ApiError('BAD_REQUEST', noTicket);
  return stream === null && ticket === null && method !== 'PUT' ? null : new LiveWish(exchange, parts, stream, ticket);
}

const noReservations =
  'This server reserves no event streams, because it has several processes. Open one for each operation: POST with the header Accept: text/event-stream.';
const noTicket =
  'A DELETE request ends an operation on a reserved event stream. Send its token in the header X-GraphQL-Event-Stream-Token.';

/**
 * The token of a reserved event stream: in its header, or in the URL of a request for the stream itself or for the end of an operation. A
 * parameter of this name means something else elsewhere.
 */
function readTicket({ headers, url, method }: Exchange, stream: StreamPreference | null): string | null {
  const sent = headers['x-graphql-event-stream-token'];
  if (typeof sent === 'string' && sent !== '') return sent;
  if (!url.includes('token=') || (method !== 'DELETE' && (method !== 'GET' || stream?.format !== 'events'))) return null;
  const parameters = new URLSearchParams(url.slice(url.indexOf('?')));
  return parameters.has('query') ? null : parameters.get('token');
}

export class LiveWish {
  readonly #exchange: Exchange;
  readonly #parts: LiveParts;
  readonly #stream: StreamPreference | null;
  readonly #ticket: string | null;

  constructor(exchange: Exchange, parts: LiveParts, stream: StreamPreference | null, ticket: string | null) {
    this.#exchange = exchange;
    this.#parts = parts;
    this.#stream = stream;
    this.#ticket = ticket;
  }

  /** Whether the client takes no single response. */
  get isRequired(): boolean {
    return this.#ticket !== null || this.#stream === null || this.#stream.isRequired;
  }

  /** The reserved event stream itself, or the end of an operation on it, for which the token is enough; null if it is another request. */
  redeemTicket(): LiveResponse | null {
    const { method, url } = this.#exchange;
    const { reserved } = this.#parts;
    if (this.#ticket === null || reserved === null) return null;
    if (method === 'GET' && this.#stream?.format === 'events') return reserved.open(this.#ticket, this.#exchange);
    if (method !== 'DELETE') return null;
    const operationId = new URLSearchParams(url.slice(url.indexOf('?'))).get('operationId');
    return reserved.complete(this.#ticket, operationId, this.#exchange);
  }

  /** What is done for a caller without running a request: a reservation, or the head of a stream alone; null if it is another request. */
  answerHead(caller: VerifiedCaller): LiveResponse | null {
    const { method, requestId } = this.#exchange;
    const { reserved } = this.#parts;
    if (method === 'PUT' && reserved !== null) return reserved.reserve(caller, this.#exchange);
    if (method !== 'HEAD' || !this.isRequired || this.#stream === null) return null;
    const { contentType } = formats[this.#stream.format];
    const respond = async (headers: readonly string[]) =>
      this.#exchange.respond(200, [...streamHeaders(contentType, requestId), ...headers], null, false);
    return { status: 200, start: respond };
  }

  /** Runs a request. `live` is null if its response is a single one. */
  async execute(value: unknown, caller: VerifiedCaller, run: Run): Promise<{ response: RawResponse; live: LiveResponse | null }> {
    if (Array.isArray(value)) throw new ApiError('BAD_REQUEST', 'A batch has a single response. Accept application/json.');
    const { requestId } = this.#exchange;
    const { observe, reserved } = this.#parts;
    // Before anything runs: a token that ends meanwhile ends what it has begun, which is watched from then on.
    const identity = await this.#identify(caller);
    const place = this.#ticket === null || reserved === null ? null : reserved.claim(this.#ticket, value, caller);
    let answers: Answers;
    try {
      answers = await openAnswers(value, { caller, run, exchange: this.#exchange, options: this.#parts });
    } catch (error) {
      place?.leave();
      const response = encodeErrors(toReportedErrors(error, requestId, observe));
      // A client of event streams sees nothing of a response with another status.
      const { status } = errorCodes[response.errorCode];
      const isOfGraphql = status === 200 || (status === 400 && response.errorCode !== 'BAD_REQUEST');
      if (this.#ticket !== null || this.#stream?.format !== 'events' || !this.isRequired || !isOfGraphql) return { response, live: null };
      answers = { first: response, following: noMore };
    }
    const response = answers.first;
    if (response.isLive !== true && !this.isRequired) {
      await answers.following.return?.();
      return { response, live: null };
    }
    return { response, live: this.#goOn(answers, place, identity, run) };
  }

  #goOn(answers: Answers, place: OperationPlace | null, identity: Identity, run: Run): LiveResponse {
    const { caller } = identity;
    const report = (error: unknown) => toReportedErrors(error, this.#exchange.requestId, this.#parts.observe);
    if (place !== null) {
      const added = place.add(answers, { identity, holder: this.#holder(), report });
      return {
        status: 202,
        start: (headers) => this.#watch(answers, caller, 'event-stream', run, () => added.start(this.#exchange, headers)),
      };
    }
    const format = this.#stream?.format ?? 'events';
    const transport = format === 'events' ? 'event-stream' : 'multipart';
    const { connections, liveHeartbeat: heartbeat } = this.#parts;
    const options = { format: formats[format], identity, holder: this.#holder(), connections, heartbeat, report };
    return {
      status: 200,
      start: (headers) =>
        this.#watch(answers, caller, transport, run, () => streamAnswers(this.#exchange, answers, { ...options, headers })),
    };
  }

  /** Reports when a subscription begins and ends. */
  async #watch(answers: Answers, { role }: VerifiedCaller, transport: LiveTransport, run: Run, start: () => Promise<LiveOperation>) {
    const { observe } = this.#parts;
    if (answers.first.isLive !== true) return void (await start());
    this.#exchange.leaveFlight();
    observe({ kind: 'subscription-started', transport });
    const started = performance.now();
    const { code, sent, bytes } = await start();
    const seconds = (performance.now() - started) / 1000;
    const { requestId } = this.#exchange;
    const details = this.#parts.detailedEvents && run.marks instanceof RequestTimes ? run.marks : null;
    observe({ kind: 'subscription-ended', requestId, role, code, transport, seconds, answers: sent, bytes, details });
  }

  #holder() {
    const { admission, project } = this.#parts;
    return { admission, project, share: this.#exchange.admitted!.client };
  }

  #identify(caller: VerifiedCaller): Promise<Identity> {
    const { verifier, authenticate, keyInUrl } = this.#parts;
    const { headers, url } = this.#exchange;
    const byKey = identifyByKey(headers, verifier, keyInUrl ? url : null);
    if (authenticate === null) return byKey;
    // Keys decide only where the application does not; its callers are not among those of the verifier.
    return byKey.then(
      (identity) => (identity.caller === caller ? identity : identityOf(caller)),
      () => identityOf(caller),
    );
  }
}
