/**
 * One connection of a client: the exchanges that it has in hand, in the order of their requests. It holds back a client that sends requests faster than
 * it takes answers, ends one that does not read them, and answers broken HTTP when its turn comes. In: what happens on the socket; out: calls of it.
 */
import type { Socket } from 'node:net';
import type { Caller } from '../engine/request.ts';
import type { ApiError } from '../errors.ts';
import type { Share } from './admission.ts';
import type { Exchange } from './exchange.ts';

/** Whom the requests of a connection count for. */
export interface Client {
  readonly caller: Caller;
  /** The share of the address. */
  readonly address: Share;
  /** Whose share of the connections to PostgreSQL is used. */
  readonly name: string;
  /** The share of a user; null where nobody is named. */
  readonly user: Share | null;
}

export interface ConnectionLimits {
  /** Requests in hand beyond which nothing more is read for now. */
  readonly pipelinedRequests: number;
  /** Milliseconds in which a client has to read a response, for each MiB of it. */
  readonly writeTimeout: number;
  /** The same where the server holds too many bytes. */
  readonly pressedWriteTimeout: number;
}

/** What is read at once (64 KB) may hold more requests than are allowed; beyond so many times as many, and so many at least, the connection ends. */
const hardLimitFactor = 10;
const leastHardLimit = 1000;
const bytesPerWriteTimeout = 1024 * 1024;

export class Connection {
  readonly socket: Socket;
  /** What the address of the connection has in hand. */
  readonly share: Share;
  /** The client of the latest request: most connections serve one. Its user's share is the connection's to give back. */
  client: Client | null = null;
  readonly #limits: ConnectionLimits;
  #exchanges: Exchange[] = [];
  #latest: Exchange | null = null;
  #isPaused = false;
  #failure: ApiError | null = null;
  #writeRefusal: ((socket: Socket) => void) | null = null;
  #writeTimer: NodeJS.Timeout | null = null;
  /** When the response that is being written was handed over, and how many MiB of it were left. */
  #writeStart = 0;
  #writeParts = 0;

  constructor(socket: Socket, share: Share, limits: ConnectionLimits) {
    this.socket = socket;
    this.share = share;
    this.#limits = limits;
  }

  /** Why nothing more can be read; null as long as it can. */
  get failure(): ApiError | null {
    return this.#failure;
  }

  /**
   * Whether the connection is to end with the response of an exchange: that is the one whose body cannot be read, or where the server is closing, the
   * latest one. All before it are answered first.
   */
  endsWith(exchange: Exchange, isClosing: boolean): boolean {
    if (exchange !== this.#latest) return false;
    return isClosing || (this.#failure !== null && this.#writeRefusal === null);
  }

  /** The head of a request has come. */
  begin(exchange: Exchange): void {
    this.#exchanges.push(exchange);
    this.#latest = exchange;
    if (this.#exchanges.length > this.#limits.pipelinedRequests) this.#holdBack();
  }

  /** The response of an exchange was handed over, which does not mean that it was sent. */
  noteHandedOver(exchange: Exchange): void {
    if (this.#writeTimer === null && exchange === this.#exchanges[0] && exchange.response.writableLength > 0) this.#limitWriting();
  }

  /** The response of an exchange was written to its end. */
  end(exchange: Exchange): void {
    if (this.#writeTimer !== null) clearTimeout(this.#writeTimer);
    this.#writeTimer = null;
    if (this.#exchanges[0] === exchange) this.#exchanges.shift();
    else this.#exchanges = this.#exchanges.filter((other) => other !== exchange);
    if (this.#latest === exchange && exchange.request.complete) this.#latest = null;
    if (this.#exchanges.length > 0 && this.socket.writableLength > 0) this.#limitWriting();
    if (this.#isPaused && this.#exchanges.length <= this.#limits.pipelinedRequests) {
      this.#isPaused = false;
      this.socket.resume();
    }
    if (this.#failure !== null && this.#exchanges.length === 0) this.#part();
  }

  /** The socket has closed: nobody waits for what is still in hand. */
  close(): void {
    if (this.#writeTimer !== null) clearTimeout(this.#writeTimer);
    for (const exchange of this.#exchanges) exchange.abandon();
    this.#exchanges = [];
    this.#latest = null;
  }

  /**
   * What comes is not HTTP, or does not come in time. Where it belongs to the body of a request, that request fails; else `writeRefusal` says so, when
   * all requests before have their responses. Then the connection ends.
   */
  fail(failure: ApiError, writeRefusal: (socket: Socket) => void): void {
    if (this.#failure !== null) return;
    this.#failure = failure;
    if (this.#latest === null || this.#latest.request.complete) this.#writeRefusal = writeRefusal;
    else this.#latest.onBrokenBody?.(failure);
    if (this.#exchanges.length === 0) this.#part();
  }

  /** Ends the connection if it has taken longer with its response than it may where the server holds too much. */
  endIfSlow(now: number): void {
    if (this.#writeTimer !== null && now - this.#writeStart > this.#limits.pressedWriteTimeout * this.#writeParts) this.socket.destroy();
  }

  #part(): void {
    if (this.socket.writable) this.#writeRefusal?.(this.socket);
    this.socket.destroySoon();
  }

  /** Node reads on when a body is asked for, so the socket is paused again each time. */
  #holdBack(): void {
    if (this.#exchanges.length > Math.max(leastHardLimit, this.#limits.pipelinedRequests * hardLimitFactor)) this.socket.destroy();
    if (this.#isPaused) return;
    this.#isPaused = true;
    this.socket.pause();
    if (this.socket.listenerCount('resume', this.#pauseAgain) === 0) this.socket.on('resume', this.#pauseAgain);
  }

  readonly #pauseAgain = (): void => {
    if (this.#isPaused) this.socket.pause();
  };

  #limitWriting(): void {
    this.#writeStart = performance.now();
    this.#writeParts = Math.max(1, Math.ceil(this.socket.writableLength / bytesPerWriteTimeout));
    this.#writeTimer = setTimeout(() => this.socket.destroy(), this.#limits.writeTimeout * this.#writeParts);
  }
}
