/**
 * The single connection mode of event streams (the protocol of graphql-sse): a client reserves a stream, opens it with the token of the
 * reservation, and then sends its operations as requests with that token; all their answers come on the one stream. Browsers open only six
 * connections to a server that speaks HTTP/1.1.
 */
import { randomBytes } from 'node:crypto';
import type { Identity } from '../../auth/authenticate.ts';
import type { VerifiedCaller } from '../../auth/caller.ts';
import { ApiError } from '../../errors/api-error.ts';
import { sendResponse } from '../endpoint/error-response.ts';
import type { Exchange, ResponseStream } from '../endpoint/exchange.ts';
import type { Holder } from './encoded-answer.ts';
import { IdentityWatch } from './identity-watch.ts';
import type { LiveConnection, LiveRegistry } from './live-connections.ts';
import { type Answers, LiveOperation } from './live-operation.ts';
import type { LiveResponse } from './live-wish.ts';
import { streamHeaders } from './stream-answers.ts';
import { beginEvents, eventHeartbeat, eventsOf, formats } from './stream-formats.ts';

/** Reservations whose stream has not been opened, at most. */
const mostUnopened = 5000;
/** In milliseconds: how long a reservation waits for its stream, and what is on it for another one. */
const patience = 30_000;
const ticketBytes = 24;

interface Added {
  readonly identity: Identity;
  readonly holder: Holder;
  readonly report: (error: unknown) => readonly ApiError[];
}

export class ReservedStreams {
  readonly #byTicket = new Map<string, ReservedStream>();
  readonly #connections: LiveRegistry;
  readonly #heartbeat: number;
  #unopened = 0;

  constructor(connections: LiveRegistry, heartbeat: number) {
    this.#connections = connections;
    this.#heartbeat = heartbeat;
  }

  /** Reserves a stream for a caller. Throws OVERLOADED. */
  reserve(caller: VerifiedCaller, exchange: Exchange): LiveResponse {
    if (this.#unopened >= mostUnopened) throw new ApiError('OVERLOADED', 'Too many event streams are reserved. Try again later.');
    const ticket = randomBytes(ticketBytes).toString('base64url');
    const stream = new ReservedStream(caller, this.#heartbeat, () => {
      this.#byTicket.delete(ticket);
      this.#connections.remove(stream);
      if (!stream.wasOpened) this.#unopened -= 1;
    });
    this.#unopened += 1;
    this.#byTicket.set(ticket, stream);
    this.#connections.add(stream);
    return { status: 201, start: async (headers) => respond(exchange, 201, ticket, headers) };
  }

  /** Opens the stream of a reservation. */
  open(ticket: string, exchange: Exchange): LiveResponse {
    const stream = this.#find(ticket);
    if (stream.wasOpened) throw new ApiError('BAD_REQUEST', 'The event stream of this token is already open. Reserve another one.');
    stream.wasOpened = true;
    this.#unopened -= 1;
    return { status: 200, start: (headers) => stream.open(exchange, headers) };
  }

  /** The place of an operation on a stream. Throws NOT_FOUND, UNAUTHENTICATED or BAD_REQUEST. */
  claim(ticket: string, value: unknown, caller: VerifiedCaller): OperationPlace {
    const stream = this.#find(ticket);
    if (stream.caller.role !== caller.role || stream.caller.user !== caller.user)
      throw new ApiError('UNAUTHENTICATED', 'The event stream of this token belongs to another caller. Reserve one of your own.');
    const id = readOperationId(value);
    const place = stream.claim(id);
    if (place === null)
      throw new ApiError('BAD_REQUEST', 'An operation with this "extensions.operationId" is running on the event stream.');
    return place;
  }

  /** Ends an operation. */
  complete(ticket: string, operationId: string | null, exchange: Exchange): LiveResponse {
    const stream = this.#find(ticket);
    if (operationId === null) throw new ApiError('BAD_REQUEST', 'Name the operation to end in the URL parameter "operationId".');
    stream.complete(operationId);
    return { status: 200, start: async (headers) => respond(exchange, 200, '', headers) };
  }

  #find(ticket: string): ReservedStream {
    const stream = this.#byTicket.get(ticket);
    if (stream !== undefined) return stream;
    throw new ApiError('NOT_FOUND', 'No event stream is reserved under this token. Reserve one with a PUT request.');
  }
}

export interface OperationPlace {
  /** Runs the operation there, unless it has been ended meanwhile. Resolves with it when it has ended. */
  add(answers: Answers, added: Added): { start(exchange: Exchange, headers: readonly string[]): Promise<LiveOperation> };
  /** There will be no operation. */
  leave(): void;
}

function readOperationId(value: unknown): string {
  const { extensions } = (typeof value === 'object' && value !== null ? value : {}) as { readonly extensions?: { operationId?: unknown } };
  const id = extensions?.operationId;
  if (typeof id === 'string' && id !== '' && id.length <= longestId) return id;
  throw new ApiError('BAD_REQUEST', `Name the operation on the event stream: "extensions.operationId", at most ${longestId} characters.`);
}

const longestId = 200;

function respond(exchange: Exchange, status: number, text: string, headers: readonly string[]): void {
  const own = ['content-type', 'text/plain; charset=utf-8', 'cache-control', 'no-store'];
  sendResponse(exchange, { status, headers: [...own, ...headers], body: text }, false);
}

/** What has an id on a stream: nothing runs there before its first answer. */
interface Place {
  running: { readonly operation: LiveOperation; readonly watch: IdentityWatch } | null;
}

class ReservedStream implements LiveConnection {
  readonly caller: VerifiedCaller;
  wasOpened = false;
  readonly #heartbeat: number;
  readonly #onClosed: () => void;
  readonly #places = new Map<string, Place>();
  readonly #since = performance.now();
  readonly #end = Promise.withResolvers<void>();
  /** What is written before the stream is open. */
  readonly #waiting: (() => void)[] = [];
  #stream: ResponseStream | null = null;
  #unsent = 0;
  #lastWrite = performance.now();
  #isClosed = false;

  constructor(caller: VerifiedCaller, heartbeat: number, onClosed: () => void) {
    this.caller = caller;
    this.#heartbeat = heartbeat;
    this.#onClosed = onClosed;
  }

  /** Null if the id is in use. */
  claim(id: string): OperationPlace | null {
    if (this.#places.has(id)) return null;
    const place: Place = { running: null };
    this.#places.set(id, place);
    const leave = (): void => {
      if (this.#places.get(id) === place) this.#places.delete(id);
    };
    return { add: (answers, added) => this.#add(id, place, leave, answers, added), leave };
  }

  /** Resolves when the stream has ended. */
  async open(exchange: Exchange, headers: readonly string[]): Promise<void> {
    exchange.onGone = () => this.#close();
    if (exchange.isGone) return this.#close();
    exchange.leaveFlight();
    this.#stream = exchange.beginStream(200, [...streamHeaders(formats.events.contentType, exchange.requestId), ...headers]);
    this.#write(beginEvents(), () => {});
    for (const write of this.#waiting.splice(0)) write();
    await this.#end.promise;
  }

  complete(id: string): void {
    const place = this.#places.get(id);
    this.#places.delete(id);
    place?.running?.operation.stop();
  }

  tick(now: number): void {
    if (this.#stream === null) {
      if (now - this.#since > patience) this.#close();
      return;
    }
    if (this.#unsent === 0 && now - this.#lastWrite >= this.#heartbeat) this.#write(eventHeartbeat, () => {});
    for (const { running } of this.#places.values()) running?.watch.check();
  }

  dismiss(error: ApiError): void {
    for (const { running } of this.#places.values()) running?.operation.fail(error);
    this.#stream?.end();
    this.#close();
  }

  #add(id: string, place: Place, leave: () => void, answers: Answers, { identity, holder, report }: Added) {
    const { frame, end } = eventsOf(id);
    const receiver = {
      send: (answer: Parameters<typeof frame>[0], onSent: () => void) => this.#write(frame(answer), onSent),
      end: (errors: readonly ApiError[]) => this.#write(end(errors), () => {}),
    };
    const operation = new LiveOperation(answers, { receiver, holder, report });
    place.running = { operation, watch: new IdentityWatch(identity, (error) => operation.fail(error)) };
    const start = async (exchange: Exchange, headers: readonly string[]): Promise<LiveOperation> => {
      respond(exchange, 202, '', headers);
      // The client, or the end of the stream, has ended it before its first answer.
      if (this.#places.get(id) !== place) operation.stop();
      await operation.run();
      leave();
      return operation;
    };
    return { start };
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const { running } of this.#places.values()) running?.operation.stop();
    this.#places.clear();
    this.#onClosed();
    this.#end.resolve();
  }

  #write(pieces: readonly Uint8Array[], onSent: () => void): void {
    const stream = this.#stream;
    if (this.#isClosed) return onSent();
    if (stream === null) {
      this.#waiting.push(() => this.#write(pieces, onSent));
      return;
    }
    this.#unsent += 1;
    this.#lastWrite = performance.now();
    stream.write(pieces, () => {
      this.#unsent -= 1;
      onSent();
    });
  }
}
