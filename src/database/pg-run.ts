/**
 * One exchange on one connection, from its write until the connection can serve another: cancels it if nobody waits any more, and gives up the
 * connection if there is no reply. In: the connection and the bytes; out: each batch as it ends, and when the connection is free.
 */
import { type CancellableClient, type CancelOutcome, sendCancelRequest } from './wire/cancel-request.ts';
import { type ExchangeListener, type ExpectedReply, PgExchange } from './wire/pg-exchange.ts';

/** How long the server may take to receive a cancel request, and then to act on it. */
const cancelMillis = 2000;
/** Until a cancel request is repeated. PostgreSQL ignores one that comes before it has read what it is to cancel. */
const repeatMillis = 100;

/** What is used of a connection. */
export interface ExchangeClient extends CancellableClient {
  query(submittable: PgExchange): unknown;
}

export interface RunListener {
  /** Called for each batch when it is over. */
  done(exchange: PgExchange): void;
  /** The connection serves others again; with an error it cannot. */
  free(error: unknown): void;
  /** Rows had more bytes than they may. */
  overflow(): void;
  /** The server cannot be reached over the network. */
  silent(): void;
}

export class PgRun implements ExchangeListener {
  readonly #client: ExchangeClient;
  readonly #listener: RunListener;
  readonly #exchange: PgExchange;
  #batchesLeft: number;
  #isOver = false;
  #isCancelling = false;
  /** When the connection is given up if what runs has not ended; null before it is cancelled. */
  #givesUpAt: number | null = null;
  #repetition: NodeJS.Timeout | undefined;
  /** Why the connection serves nobody else. */
  #failure: unknown;

  constructor(client: ExchangeClient, bytes: Uint8Array, reply: ExpectedReply, listener: RunListener) {
    this.#client = client;
    this.#listener = listener;
    this.#batchesLeft = reply.batches;
    this.#exchange = new PgExchange(bytes, reply, this);
  }

  start(): void {
    this.#client.query(this.#exchange);
  }

  /**
   * Asks the server to cancel the running statement. The connection is free only when the request can no longer reach it, so that nobody else's statement is
   * cancelled; it is closed if that is unknown, or if the statement continues anyway.
   */
  cancel(): void {
    if (this.#isOver || this.#isCancelling || this.#repetition !== undefined) return;
    this.#isCancelling = true;
    this.#givesUpAt ??= performance.now() + cancelMillis;
    void sendCancelRequest(this.#client, cancelMillis).then((outcome) => this.#endCancel(outcome));
  }

  /** Ends the connection at once. */
  abort(): void {
    this.#exchange.abort();
  }

  #endCancel(outcome: CancelOutcome): void {
    this.#isCancelling = false;
    if (outcome === 'unreachable') this.#listener.silent();
    if (this.#isOver) {
      this.#listener.free(
        this.#failure ?? (outcome === 'unreachable' ? new Error('A cancel request may still reach this connection') : undefined),
      );
    } else if (outcome === 'delivered' && performance.now() < this.#givesUpAt!) {
      this.#repetition = setTimeout(() => {
        this.#repetition = undefined;
        this.cancel();
      }, repeatMillis);
    } else this.#exchange.abort();
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
