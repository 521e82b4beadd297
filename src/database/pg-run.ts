/**
 * One exchange on one connection, from its write until the connection is free again. Cancels it if nobody waits for it any more, and gives
 * up the connection if no reply comes. In: the connection and the bytes; out: each batch as it ends, and when the connection is free.
 *
 * Relies on undocumented behaviour of `pg` (`test/contracts/pg.test.ts`): where a client keeps its `query_timeout`.
 */
import { type CancellableClient, type CancelOutcome, sendCancelRequest } from './wire/pg-client.ts';
import { type ExchangeListener, type ExpectedReply, PgExchange } from './wire/pg-exchange.ts';

/** How long the server may take to receive a cancel request, and then to act on it. */
const cancelMillis = 2000;
/** Interval at which a cancel request is repeated: PostgreSQL ignores one that arrives before it has read the statement to cancel. */
const repeatMillis = 100;

/** The status of a connection on which no transaction is open. */
const outside = 'I';
/** The longest time that a timer can have. */
const endless = 2 ** 31 - 1;

/** What this file uses of a connection. */
export interface ExchangeClient extends CancellableClient {
  query(submittable: PgExchange): unknown;
  /** What PostgreSQL said last. Absent from older versions of `pg`. */
  getTransactionStatus?(): string | null;
  readonly connectionParameters?: { readonly query_timeout?: unknown };
}

export interface RunListener {
  /** Called for each batch when it is over. */
  done(exchange: PgExchange): void;
  /** The connection can serve others again; with an error it cannot. */
  free(error: unknown): void;
  /** The rows exceeded the allowed bytes. */
  overflow(): void;
  /**
   * The server cannot be reached over the network, or not over this connection. Others that have not replied since that time, in
   * milliseconds of `performance.now()`, are likely dead, too.
   */
  silent(since: number): void;
}

export class PgRun implements ExchangeListener {
  readonly #client: ExchangeClient;
  readonly #listener: RunListener;
  readonly #exchange: PgExchange;
  readonly #stream: unknown;
  #batchesLeft: number;
  #isOver = false;
  #isCancelling = false;
  /** When to give up the connection if the statement has not ended; null before it is cancelled. */
  #givesUpAt: number | null = null;
  #repetition: NodeJS.Timeout | undefined;
  /** Why the connection can serve nobody else. */
  #failure: unknown;

  /** `stream`: how the client opens sockets (see `sendCancelRequest`). */
  constructor(client: ExchangeClient, stream: unknown, bytes: Uint8Array, reply: ExpectedReply, listener: RunListener) {
    this.#client = client;
    this.#stream = stream;
    this.#listener = listener;
    this.#batchesLeft = reply.batches;
    this.#exchange = new PgExchange(bytes, reply, this);
  }

  start(): void {
    // The client's own `query_timeout` would end the wait and not the statement. Deadlines end both.
    if (this.#client.connectionParameters?.query_timeout) this.#exchange.query_timeout = endless;
    this.#client.query(this.#exchange);
  }

  get isInTransaction(): boolean {
    return (this.#client.getTransactionStatus?.() ?? outside) !== outside;
  }

  /**
   * Asks the server to cancel the running statement. The connection becomes free only when the request can no longer reach it, and so
   * cannot cancel somebody else's statement. If that is unknown, or the statement continues anyway, the connection is closed.
   */
  cancel(): void {
    if (this.#isOver || this.#isCancelling || this.#repetition !== undefined) return;
    this.#isCancelling = true;
    this.#givesUpAt ??= performance.now() + cancelMillis;
    void sendCancelRequest(this.#client, cancelMillis, this.#stream).then((outcome) => this.#endCancel(outcome));
  }

  /** Ends the connection at once. */
  abort(): void {
    this.#exchange.abort();
  }

  #endCancel(outcome: CancelOutcome): void {
    this.#isCancelling = false;
    if (outcome === 'unreachable') this.#listener.silent(Infinity);
    if (this.#isOver) {
      this.#listener.free(
        this.#failure ?? (outcome === 'unreachable' ? new Error('A cancel request may still reach this connection') : undefined),
      );
    } else if (outcome === 'delivered' && performance.now() < this.#givesUpAt!) {
      this.#repetition = setTimeout(() => {
        this.#repetition = undefined;
        this.cancel();
      }, repeatMillis);
    } else {
      // The server heard the request but this connection does not say so: a proxy may have lost the connections that it had.
      if (outcome === 'delivered') this.#listener.silent(this.#givesUpAt! - cancelMillis);
      this.#exchange.abort();
    }
  }

  /** Called by the exchange. */
  overflow(): void {
    this.#listener.overflow();
  }

  /** Called by the exchange, for each batch. */
  done(exchange: PgExchange): void {
    const { error, broken } = exchange;
    this.#batchesLeft -= 1;
    if (broken || this.#batchesLeft === 0) {
      this.#isOver = true;
      this.#failure = broken ? (error ?? new Error('The connection has ended')) : undefined;
      clearTimeout(this.#repetition);
    }
    this.#listener.done(exchange);
    if (this.#isOver && !this.#isCancelling) this.#listener.free(this.#failure);
  }
}
