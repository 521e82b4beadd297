/**
 * The connections of a server, each with its exchanges in flight in the order of their requests. A connection ends without losing a
 * response, and ends at once if its client pipelines too many requests or does not read its responses.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { startTimer } from '../../budget/deadline.ts';
import type { ApiError } from '../../errors/api-error.ts';
import type { Admission, Share } from '../admission/admission.ts';
import { addressBlock, peerAddress } from '../admission/client-address.ts';

/** What a connection needs of an exchange. */
export interface PendingExchange {
  readonly request: { readonly complete: boolean };
  readonly response: { readonly writableLength: number };
  /** The client has disconnected. */
  abandon(): void;
  /** The body cannot be read. */
  failBody(error: ApiError): void;
  /** Writes more of the response. */
  writeOn(): void;
}

interface ConnectionLimits {
  /** Requests of one connection in flight, or in one read (64 KB). */
  readonly pipelinedRequests: number;
  /** Milliseconds that a client may take to read each MiB of a response. */
  readonly writeTimeout: number;
  /** The same while the server is short of room for bytes. */
  readonly pressedWriteTimeout: number;
}

/** Milliseconds that a server still listens, and idle connections stay open, when it closes: a request may be on its way. */
const idlePatience = 100;
/** The same for a head of which a part has arrived. Few clients take longer for the rest. */
const headPatience = 1000;
/** Milliseconds in which the rest of the input of a bare socket is read, and dropped, after the last response. */
const lingerMillis = 2000;
/** Most turns of the event loop in which a server that closes still accepts connections. */
const mostTurns = 500;
/** Milliseconds between checks for clients that do not read, which look at all connections. */
const checkInterval = 100;

export class Connections {
  readonly #admission: Admission;
  readonly #limits: ConnectionLimits;
  readonly #bySocket = new Map<Socket, Connection>();
  readonly #servers: Server[] = [];
  #isEnding = false;
  /** Connections so far. */
  #accepted = 0;
  #nextCheck = 0;

  constructor(admission: Admission, limits: ConnectionLimits) {
    this.#admission = admission;
    this.#limits = limits;
    admission.onPressure = (share) => this.#endSlowReaders(share);
  }

  /** Must be called with each of our own servers before it listens. */
  watch(server: Server): void {
    this.#servers.push(server);
    server.on('connection', (socket: Socket) => this.of(socket));
  }

  of(socket: Socket): Connection {
    return this.#bySocket.get(socket) ?? this.#add(socket);
  }

  /** From now on each connection ends with its next response, which says so: clients open their next one to another server. */
  endWithResponses(): void {
    this.#isEnding = true;
  }

  /**
   * Stops listening and waits for the requests in flight and those on their way, but ends all connections after `patience` milliseconds.
   */
  async close(patience: number): Promise<void> {
    this.#isEnding = true;
    const opened = new Set(this.#bySocket.values());
    const kept = Math.min(idlePatience, patience);
    await sleep(kept);
    // What has arrived meanwhile is read first. A turn accepts one connection, and closing the port resets those that wait to be accepted.
    for (let turn = 0, accepted = -1; turn < mostTurns && accepted !== this.#accepted; turn++) {
      accepted = this.#accepted;
      await nextTurn();
    }
    const closed = this.#servers.map((server) => new Promise((resolve) => server.close(resolve)));
    // Browsers and proxies open connections in advance, which do not count as idle. The first request of a new one may be on its way.
    this.#endThose((connection) => connection.socket.bytesRead === 0 && opened.has(connection));
    const timers = [
      setTimeout(() => this.#endThose(({ isIdle }) => isIdle), headPatience),
      setTimeout(() => this.#endThose(() => true), patience - kept),
    ];
    await Promise.all(closed);
    for (const timer of timers) clearTimeout(timer);
  }

  #endThose(isOver: (connection: Connection) => boolean): void {
    for (const connection of this.#bySocket.values()) if (isOver(connection)) connection.socket.destroy();
  }

  #endSlowReaders(share: Share | null): void {
    const now = performance.now();
    if (now < this.#nextCheck) return;
    this.#nextCheck = now + checkInterval;
    this.#endThose((connection) => (share === null || connection.share === share) && connection.isSlow(now));
  }

  #add(socket: Socket): Connection {
    const share = this.#admission.refer(addressBlock(peerAddress(socket)));
    const connection = new Connection(socket, share, this.#limits, () => this.#isEnding);
    // A framework may have hesitated until it closed.
    if (socket.closed) {
      this.#admission.forget(share);
      return connection;
    }
    this.#bySocket.set(socket, connection);
    this.#accepted++;
    socket.once('close', () => {
      this.#bySocket.delete(socket);
      connection.close();
      this.#admission.forget(share);
    });
    return connection;
  }
}

export class Connection {
  readonly socket: Socket;
  /** What the address of the connection has in flight. */
  readonly share: Share;
  readonly #limits: ConnectionLimits;
  readonly #isServerEnding: () => boolean;
  #exchanges: PendingExchange[] = [];
  /** The latest exchange, until its request has arrived and its response has been sent. */
  #latest: PendingExchange | null = null;
  /** Why the body of the latest exchange cannot be read; null if it can. */
  #failure: ApiError | null = null;
  /** Whether requests after the latest one are not served. */
  #isEnding = false;
  /** What follows the responses to all requests so far; null if further requests may. */
  #afterResponses: (() => void) | null = null;
  /** How much had been read at the latest request, and how many requests have come with the read before it. */
  #bytesRead = -1;
  #requestsInRead = 0;
  #writeTimer: NodeJS.Timeout | undefined;
  /** When the part of a response that is being written was handed over; null if none is. */
  #writeStart: number | null = null;

  constructor(socket: Socket, share: Share, limits: ConnectionLimits, isServerEnding: () => boolean) {
    this.socket = socket;
    this.share = share;
    this.#limits = limits;
    this.#isServerEnding = isServerEnding;
  }

  get failure(): ApiError | null {
    return this.#failure;
  }

  /** Whether no request whose head has arrived waits for its response. */
  get isIdle(): boolean {
    return this.#exchanges.length === 0 && this.#afterResponses === null;
  }

  /** Whether the connection must end with the response of an exchange. All earlier exchanges get their responses first. */
  endsWith(exchange: PendingExchange): boolean {
    if (exchange !== this.#latest) return false;
    return this.#isEnding || this.#failure !== null || (this.#isServerEnding() && this.#afterResponses === null);
  }

  /** The headers of a request have arrived. Returns whether to serve it: too many at a time end the connection. */
  begin(exchange: PendingExchange): boolean {
    if (this.#isEnding || this.#afterResponses !== null || !this.socket.writable) return false;
    if (this.#isPipeliningTooMany()) {
      this.socket.destroy();
      return false;
    }
    this.#exchanges.push(exchange);
    this.#latest = exchange;
    return true;
  }

  /** Serves no request after the latest one, whose response ends the connection. */
  endAfterLatest(): void {
    this.#isEnding = true;
  }

  /** The whole response was handed over, or another part of it: the client has read the part before. */
  noteWritten(exchange: PendingExchange): void {
    if (exchange !== this.#exchanges[0]) return;
    this.#endWriting();
    if (exchange.response.writableLength > 0) this.#limitWriting();
  }

  /** The response of an exchange was sent. */
  end(exchange: PendingExchange): void {
    this.#endWriting();
    this.#exchanges = this.#exchanges.filter((other) => other !== exchange);
    if (this.#latest === exchange && exchange.request.complete) this.#latest = null;
    if (this.#exchanges.length > 0) {
      if (this.socket.writableLength > 0) this.#limitWriting();
    } else this.#afterResponses?.();
  }

  /** The socket has closed: nobody waits for the exchanges that are still in flight. */
  close(): void {
    this.#endWriting();
    for (const exchange of this.#exchanges) exchange.abandon();
    this.#exchanges = [];
    this.#latest = null;
  }

  /**
   * The input is not HTTP, or does not arrive in time. If it belongs to the body of a request, that request fails; otherwise `refuse`
   * writes a response after the responses to all earlier requests. Then the connection ends.
   */
  fail(failure: ApiError, refuse: () => void): void {
    const isOfBody = this.#latest !== null && !this.#latest.request.complete;
    if (isOfBody) {
      this.#failure ??= failure;
      this.#latest?.failBody(failure);
    }
    this.#endAfterResponses(() => {
      if (this.socket.writable && !isOfBody) refuse();
      this.socket.destroySoon();
      if (this.socket.writableLength > 0) this.#limitWriting();
    });
  }

  /**
   * Ends the connection after the responses to all requests so far and `refuse`. For a request at which Node leaves the bare socket to us
   * (CONNECT, Upgrade): what the client sends after it is dropped.
   */
  endAtTakeover(refuse: () => void): void {
    const { socket } = this;
    socket.on('error', () => socket.destroy());
    socket.on('end', () => socket.end());
    socket.on('drain', () => this.#exchanges[0]?.writeOn());
    socket.resume();
    this.#endAfterResponses(() => {
      if (socket.writable) refuse();
      socket.end();
      // If the connection closed before all its input was read, TCP would drop what the client has not read yet (RFC 9112, section 9.6).
      this.#writeTimer = startTimer(() => socket.destroy(), lingerMillis);
    });
  }

  /** Whether the client reads its response more slowly than is allowed while the server is short of room. */
  isSlow(now: number): boolean {
    return this.#writeStart !== null && now - this.#writeStart > this.#limits.pressedWriteTimeout;
  }

  /** Counts those in flight, and those in one read, as some are answered before the next one is parsed. */
  #isPipeliningTooMany(): boolean {
    const { bytesRead } = this.socket;
    if (bytesRead !== this.#bytesRead) this.#requestsInRead = 0;
    this.#bytesRead = bytesRead;
    this.#requestsInRead += 1;
    return Math.max(this.#exchanges.length + 1, this.#requestsInRead) > this.#limits.pipelinedRequests;
  }

  #endAfterResponses(end: () => void): void {
    this.#afterResponses ??= end;
    if (this.#exchanges.length === 0) this.#afterResponses();
  }

  #limitWriting(): void {
    this.#writeStart = performance.now();
    this.#writeTimer = startTimer(() => this.socket.destroy(), this.#limits.writeTimeout);
  }

  #endWriting(): void {
    clearTimeout(this.#writeTimer);
    this.#writeStart = null;
  }
}
