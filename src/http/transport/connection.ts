/**
 * One connection of a client: its exchanges in flight, in the order of their requests. Serves so many at a time, disconnects a client that
 * does not read its responses, and responds to broken HTTP after the responses to earlier requests. In: what happens on the socket; out:
 * calls on it, and exchanges to serve.
 *
 * Relies on Node beyond its documentation (`test/contracts/node.test.ts`): at CONNECT and Upgrade it stops listening to the socket, and the
 * responses to earlier requests go on if they are told of its 'drain'. The `onIncoming` of a socket's parser can turn any request into an
 * Upgrade, or skip the rest of what was read.
 */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { startTimer } from '../../budget/deadline.ts';
import type { ApiError } from '../../errors/api-error.ts';
import type { Admission, Share } from '../admission/admission.ts';
import type { RequestTurns } from '../admission/request-turns.ts';
import type { NodeExchange } from './node-exchange.ts';

export interface ConnectionLimits {
  /** Requests served at a time; those beyond wait. */
  readonly pipelinedRequests: number;
  /** Milliseconds that a client may take to read each part of a response (`write-body.ts`): 1 MiB, or what is left. */
  readonly writeTimeout: number;
  /** The same while the server is short of room for bytes. */
  readonly pressedWriteTimeout: number;
}

/** What all connections of a server share. */
export interface ConnectionOwner {
  /** Counts the bytes that connections keep. */
  readonly admission: Admission;
  /** Whether connections must end with their next response. */
  readonly isEnding: boolean;
  readonly joinsHeaders: boolean;
  /** Exchanges of all connections whose response has not been written completely. */
  exchanges: number;
  /** Whether there are so many that none may begin behind another one of its connection. */
  readonly isFull: boolean;
  /** When connections go on with requests that were not begun; null if the server is not ours, so that all requests begin as they are read. */
  readonly turns: RequestTurns | null;
  /** Serves an exchange. */
  serve(exchange: NodeExchange): void;
}

/** Of Node's parser. */
interface Parser {
  /** Called with each request when its headers have arrived. After the result 2 nothing more is parsed of what was read. */
  onIncoming(request: IncomingMessage & { upgrade: boolean }, keepsAlive: boolean): number;
}

export class Connection {
  readonly socket: Socket;
  /** What the address of the connection has in flight. */
  readonly share: Share;
  readonly #limits: ConnectionLimits;
  readonly #owner: ConnectionOwner;
  /** Those beyond the limit, on servers that are not ours, are waiting: a single read (64 KB) may contain many requests. */
  #exchanges: NodeExchange[] = [];
  #latest: NodeExchange | null = null;
  #isPaused = false;
  /** The `onIncoming` of a parser that is guarded. Node uses parsers again. */
  #guard: Parser['onIncoming'] | null = null;
  #failure: ApiError | null = null;
  #writeRefusal: ((socket: Socket) => void) | null = null;
  /** Whether requests that follow the latest one are not served. */
  #isEnding = false;
  /** What follows the responses to all requests so far; null if there is no such thing. */
  #afterResponses: (() => void) | null = null;
  #keptBytes = 0;
  /** Whether the request that was taken over had to wait for others of its connection. */
  #isBehind = false;
  #writeTimer: NodeJS.Timeout | undefined;
  /** When the part of a response that is being written was handed over; null if none is. */
  #writeStart: number | null = null;

  constructor(socket: Socket, share: Share, limits: ConnectionLimits, owner: ConnectionOwner) {
    this.socket = socket;
    this.share = share;
    this.#limits = limits;
    this.#owner = owner;
  }

  /** Whether the server joins repeated headers, so that none is silently dropped. */
  get joinsHeaders(): boolean {
    return this.#owner.joinsHeaders;
  }

  /** Why nothing more can be read from the connection; null if it can. */
  get failure(): ApiError | null {
    return this.#failure;
  }

  /** Whether no request whose head has arrived waits for its response. */
  get isIdle(): boolean {
    return this.#exchanges.length === 0 && this.#afterResponses === null && !this.#isBehind;
  }

  /**
   * Whether the connection must end with the response of an exchange: the one whose body cannot be read, the last one that was read if the
   * server is stopping, or the last one that is served. All earlier exchanges get their responses first.
   */
  endsWith(exchange: NodeExchange): boolean {
    if (exchange !== this.#latest) return false;
    return (
      (this.#owner.isEnding && this.#afterResponses === null) || this.#isEnding || (this.#failure !== null && this.#writeRefusal === null)
    );
  }

  /** The headers of a request have arrived: serves it, now or when there is room. */
  begin(exchange: NodeExchange): void {
    const { socket } = this;
    const isBehind = this.#exchanges.length > 0;
    if (isBehind && this.#owner.isFull && this.#owner.turns === null) socket.destroy();
    if (isBehind || !socket.writable) this.guardParser();
    if (this.#isEnding || this.#writeRefusal !== null || !socket.writable) return;
    this.#owner.exchanges += 1;
    this.#exchanges.push(exchange);
    this.#latest = exchange;
    if (this.#exchanges.length > this.#limits.pipelinedRequests) this.#holdBack();
    else this.#owner.serve(exchange);
  }

  /**
   * One read (64 KB) may contain 1,800 requests, each of which takes 4 KB and time. From now on, parsing stops at a request that may not begin yet;
   * Node hands it over as an Upgrade, together with what follows, and both wait as they were read. To be called for each new parser.
   */
  guardParser(): void {
    const { parser } = this.socket as Socket & { readonly parser?: Parser | null };
    if (!parser || parser.onIncoming === this.#guard) return;
    const { onIncoming } = parser;
    this.#guard = (request, keepsAlive) => {
      if (this.socket.writable && this.#mayBegin()) return onIncoming(request, keepsAlive);
      this.#isBehind = true;
      request.upgrade = this.socket.writable;
      return 2;
    };
    parser.onIncoming = this.#guard;
  }

  /** Serves no request after the latest one, whose response ends the connection. */
  endAfterLatest(): void {
    this.#isEnding = true;
  }

  /** The response of an exchange was handed over, but possibly not sent yet. */
  noteHandedOver(exchange: NodeExchange): void {
    if (this.#writeStart === null && exchange === this.#exchanges[0] && exchange.response.writableLength > 0) this.#limitWriting();
  }

  /** A part of the response was handed over, so the client has read the one before. */
  notePart(exchange: NodeExchange): void {
    if (exchange !== this.#exchanges[0]) return;
    this.#endWriting();
    this.noteHandedOver(exchange);
  }

  /** The response of an exchange was written completely. */
  end(exchange: NodeExchange): void {
    this.#endWriting();
    const index = this.#exchanges.indexOf(exchange);
    if (index === 0) this.#exchanges.shift();
    else if (index > 0) this.#exchanges.splice(index, 1);
    if (index >= 0) this.#owner.exchanges -= 1;
    if (this.#latest === exchange && exchange.request.complete) this.#latest = null;
    if (this.#exchanges.length > 0 && this.socket.writableLength > 0) this.#limitWriting();
    if (this.#isPaused) this.#goOn(index);
    if (this.#afterResponses !== null && this.#exchanges.length === 0) this.#afterResponses();
  }

  /** The socket has closed: nobody waits for the exchanges that are still in flight. */
  close(): void {
    clearTimeout(this.#writeTimer);
    for (const exchange of this.#exchanges) exchange.abandon();
    this.#owner.exchanges -= this.#exchanges.length;
    this.#exchanges = [];
    this.#latest = null;
    this.#keep(0);
  }

  /**
   * The input is not HTTP, or does not arrive in time. If it belongs to the body of a request, that request fails; otherwise `writeRefusal`
   * responds after the responses to all earlier requests. Then the connection ends.
   */
  fail(failure: ApiError, writeRefusal: (socket: Socket) => void): void {
    if (this.#failure !== null) return;
    this.#failure = failure;
    if (this.#latest === null || this.#latest.request.complete) this.#writeRefusal = writeRefusal;
    else this.#latest.body?.fail(failure);
    this.#afterResponses = () => this.#part();
    if (this.#exchanges.length === 0) this.#part();
  }

  /**
   * Calls `then` in its turn after the responses to all requests so far, unless the connection has ended by then. For a request at which Node
   * leaves the bare socket to us (CONNECT, Upgrade): meanwhile does what Node did for those responses. `kept`: how many bytes that were read
   * `then` keeps; what else the client sends meanwhile stays in the socket. If null, it is dropped. If there is no room for the bytes, the
   * connection ends after those responses instead.
   */
  takeOver(kept: number | null, then: () => void): void {
    const { socket } = this;
    if (this.#writeRefusal !== null) this.#standIn(null, () => this.#part());
    else if (kept !== null && this.#exchanges.length > 0 && !this.#owner.admission.hasRoomToWait(this.share)) {
      this.endAfterLatest();
      this.#standIn(null, () => socket.destroySoon());
    } else this.#standIn(kept, then);
  }

  #standIn(kept: number | null, then: () => void): void {
    const { socket } = this;
    this.#keep(kept ?? 0);
    const listeners = Object.entries({
      drain: () => this.#exchanges[0]?.response.emit('drain'),
      end: () => socket.end(),
      error: () => socket.destroy(),
      // With such a listener the input does not flow, even when Node resumes the socket for the sake of an earlier request.
      ...(kept !== null && { readable: () => {} }),
    });
    for (const [event, listener] of listeners) socket.on(event, listener);
    // Makes the stream read: Node may have stopped that beneath it.
    socket.push('');
    if (kept === null) socket.resume();
    const goOn = (): void => {
      this.#isBehind = false;
      this.#keep(0);
      for (const [event, listener] of listeners) socket.off(event, listener);
      if (socket.writable) then();
    };
    this.#afterResponses = () => {
      this.#afterResponses = null;
      if (this.#owner.turns === null || !this.#isBehind) goOn();
      else this.#owner.turns.wait(goOn);
    };
    if (this.#exchanges.length === 0) this.#afterResponses();
    else this.#isBehind = true;
  }

  /** Ends the connection if the client reads its response more slowly than is allowed while the server is short of room. */
  endIfSlow(now: number): void {
    if (this.#writeStart !== null && now - this.#writeStart > this.#limits.pressedWriteTimeout) this.socket.destroy();
  }

  #part(): void {
    if (this.socket.writable) this.#writeRefusal?.(this.socket);
    this.socket.destroySoon();
    if (this.socket.writableLength > 0) this.#limitWriting();
  }

  /** Counts the bytes that are kept from now on. */
  #keep(bytes: number): void {
    this.#owner.admission.hold(this.share, bytes - this.#keptBytes);
    this.#keptBytes = bytes;
  }

  /** Whether a request that has been read may begin at once. */
  #mayBegin(): boolean {
    const { turns, isFull } = this.#owner;
    if (turns === null || this.#exchanges.length === 0) return true;
    return this.#exchanges.length < this.#limits.pipelinedRequests && !isFull && turns.take();
  }

  /** Pauses the socket again each time Node resumes it, which it does whenever a body is requested. */
  #holdBack(): void {
    if (this.#isPaused) return;
    this.#isPaused = true;
    this.socket.pause();
    if (this.socket.listenerCount('resume', this.#pauseAgain) === 0) this.socket.on('resume', this.#pauseAgain);
  }

  /** The exchange at an index has ended. The first that waits, if any, takes its place, unless that exchange was itself waiting. */
  #goOn(index: number): void {
    const { pipelinedRequests } = this.#limits;
    const next = this.#exchanges[pipelinedRequests - 1];
    // A framework may have responded meanwhile.
    if (next !== undefined && index < pipelinedRequests && !next.response.writableEnded) this.#owner.serve(next);
    if (this.#exchanges.length > pipelinedRequests) return;
    this.#isPaused = false;
    this.socket.resume();
  }

  readonly #pauseAgain = (): void => {
    if (this.#isPaused) this.socket.pause();
  };

  #limitWriting(): void {
    this.#writeStart = performance.now();
    this.#writeTimer = startTimer(() => this.socket.destroy(), this.#limits.writeTimeout);
  }

  #endWriting(): void {
    clearTimeout(this.#writeTimer);
    this.#writeStart = null;
  }
}
