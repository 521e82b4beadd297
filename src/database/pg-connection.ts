/** One physical connection to PostgreSQL: its prepared statements, the exchange under way on it, and how that is cancelled. */
import { type CancelOutcome, cutConnection, type PgClient, sendCancelRequest } from './wire/pg-client.ts';
import { type ExchangeListener, type ExpectedReply, PgExchange } from './wire/pg-exchange.ts';
import type { PreparedStatements } from './wire/prepared-statements.ts';

/** How long the server may take to receive a cancel request, and then to act on it. */
const cancelMillis = 2000;
/** Interval at which a cancel request is repeated: PostgreSQL ignores one that arrives before it has read the statement to cancel. */
const repeatMillis = 100;

/** Who uses a connection for one exchange. */
export interface ConnectionUser extends ExchangeListener {
  /** The connection can serve others again; with an error it cannot. */
  free(error: unknown): void;
}

type Cancellation =
  /** A request is under way. */
  | { readonly kind: 'sent' }
  /** The server has received the request, and the next one is due. */
  | { readonly kind: 'repeated'; readonly timer: NodeJS.Timeout }
  /** Cancelling has failed, and the connection was cut. */
  | { readonly kind: 'failed' };

type ConnectionState =
  | { readonly kind: 'idle' }
  | {
      readonly kind: 'busy';
      readonly exchange: PgExchange;
      readonly user: ConnectionUser;
      readonly batchesLeft: number;
      readonly cancellation: Cancellation | null;
    }
  /** The exchange is over, but a cancel request is still under way, which could reach the next one. */
  | { readonly kind: 'draining'; readonly user: ConnectionUser };

const idle: ConnectionState = { kind: 'idle' };

export class PgConnection implements ExchangeListener {
  readonly client: PgClient;
  /** Null: statements are not prepared by name. */
  readonly prepared: PreparedStatements | null;
  /** When the server last replied, in milliseconds of `performance.now()`. */
  repliedAt = performance.now();
  readonly #stream: unknown;
  readonly #onFailed: (error: unknown) => void;
  readonly #onSilence: (since: number) => void;
  #state: ConnectionState = idle;
  /** Why it can serve nobody any more. */
  #failure: unknown;

  /**
   * `stream`: how its client opens sockets (see `sendCancelRequest`). `onFailed` is called when it fails while nobody uses it. `onSilence`
   * is called when the server cannot be reached over the network, or not over this connection: others that have not replied since that
   * time, in milliseconds of `performance.now()`, are likely dead, too.
   */
  constructor(
    client: PgClient,
    prepared: PreparedStatements | null,
    stream: unknown,
    onFailed: (error: unknown) => void,
    onSilence: (since: number) => void,
  ) {
    this.client = client;
    this.prepared = prepared;
    this.#stream = stream;
    this.#onFailed = onFailed;
    this.#onSilence = onSilence;
  }

  /** Listens for failures of the client. Without a listener, one would end the process. */
  attend(): void {
    this.client.on('error', this.#onError);
  }

  /** Leaves the client to its pool, which listens while it is idle there. */
  leave(): void {
    this.client.removeListener('error', this.#onError);
  }

  readonly #onError = (error: unknown): void => {
    this.#failure ??= error;
    if (this.#state.kind === 'idle') this.#onFailed(error);
  };

  /** Writes bytes, and passes the reply to their user, to whom the connection belongs until `free`. */
  exchange(bytes: Uint8Array, reply: ExpectedReply, user: ConnectionUser): void {
    const exchange = new PgExchange(this.client, bytes, reply, this);
    this.#state = { kind: 'busy', exchange, user, batchesLeft: reply.batches, cancellation: null };
    exchange.start();
  }

  /**
   * Asks the server to cancel the running statement. The connection becomes free only when the request can no longer reach it, and so
   * cannot cancel somebody else's statement. If that is unknown, or the statement continues anyway, the connection is closed.
   */
  cancel(): void {
    const state = this.#state;
    if (state.kind === 'busy' && state.cancellation === null) this.#sendCancel(performance.now() + cancelMillis);
  }

  /** Ends the connection at once. */
  cut(): void {
    if (this.#state.kind === 'busy') this.#state.exchange.abort();
    else cutConnection(this.client);
  }

  #sendCancel(givesUpAt: number): void {
    if (this.#state.kind !== 'busy') return;
    this.#state = { ...this.#state, cancellation: { kind: 'sent' } };
    void sendCancelRequest(this.client, cancelMillis, this.#stream).then((outcome) => this.#endCancel(outcome, givesUpAt));
  }

  #endCancel(outcome: CancelOutcome, givesUpAt: number): void {
    if (outcome === 'unreachable') this.#onSilence(Infinity);
    const state = this.#state;
    if (state.kind === 'draining') {
      if (outcome === 'unreachable') this.#failure ??= new Error('A cancel request may still reach this connection');
      this.#release(state.user);
    } else if (state.kind === 'busy') {
      if (outcome === 'delivered' && performance.now() < givesUpAt) {
        const timer = setTimeout(() => this.#sendCancel(givesUpAt), repeatMillis);
        this.#state = { ...state, cancellation: { kind: 'repeated', timer } };
      } else {
        // The server heard the request but this connection does not say so: a proxy may have lost the connections that it had.
        if (outcome === 'delivered') this.#onSilence(givesUpAt - cancelMillis);
        this.#state = { ...state, cancellation: { kind: 'failed' } };
        state.exchange.abort();
      }
    }
  }

  /** Called by the exchange. */
  overflow(): void {
    if (this.#state.kind === 'busy') this.#state.user.overflow();
  }

  /** Called by the exchange, for each batch. */
  done(exchange: PgExchange): void {
    const state = this.#state;
    if (state.kind !== 'busy') return;
    this.repliedAt = performance.now();
    const { user, cancellation } = state;
    const batchesLeft = state.batchesLeft - 1;
    if (!exchange.broken && batchesLeft > 0) {
      this.#state = { ...state, batchesLeft };
      user.done(exchange);
      return;
    }
    // PostgreSQL's error says more than the end of the connection, which `pg` may have reported first.
    if (exchange.broken) this.#failure = exchange.error ?? this.#failure ?? new Error('The connection has ended');
    if (cancellation?.kind === 'repeated') clearTimeout(cancellation.timer);
    this.#state = { kind: 'draining', user };
    user.done(exchange);
    if (cancellation?.kind !== 'sent') this.#release(user);
  }

  #release(user: ConnectionUser): void {
    this.#state = idle;
    user.free(this.#failure);
  }
}
