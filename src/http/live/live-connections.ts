/**
 * The connections that outlive a request: WebSockets, and responses that go on. From time to time each is asked whether it may go on, and
 * sends a sign of life; when the server stops, they end one after the other, so that not all clients come back at once.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { runInSlices } from '../../budget/turns.ts';
import { ApiError } from '../../errors/api-error.ts';
import type { Observer } from '../../events.ts';

export interface LiveConnection {
  /** What is due at this time of `performance.now()`: signs of life, and whether its caller still counts. Must not throw. */
  tick(now: number): void;
  /** Ends it, in a way that tells the client why. */
  dismiss(error: ApiError): void;
}

/** In milliseconds: how late an expired token is found at most, and everything else that is due. */
const longestTick = 1000;
/** Ends in a second, at most, when the server stops and has the time for it. */
const endsPerSecond = 500;
/** The share of the time for closing in which connections end. The rest is for their last bytes. */
const shareOfClosing = 0.8;
/** In milliseconds: how many end at a time. */
const endingStep = 20;
const connectionsAtATime = 200;

export class LiveConnections {
  readonly #open = new Set<LiveConnection>();
  readonly #tickMillis: number;
  readonly #observe: Observer;
  #timer: NodeJS.Timeout | undefined;
  #isTicking = false;
  /** Why no more are accepted; null if they are. */
  #refusal: ApiError | null = null;

  /** `shortest` is the shortest time that a connection has to keep, in milliseconds. */
  constructor(shortest: number, observe: Observer) {
    this.#tickMillis = Math.max(10, Math.min(longestTick, shortest / 4));
    this.#observe = observe;
  }

  /** Adds a connection, which ends at once if no more are accepted. */
  add(connection: LiveConnection): void {
    const refusal = this.#refusal;
    if (refusal !== null) setImmediate(() => connection.dismiss(refusal));
    this.#open.add(connection);
    this.#timer ??= this.#startTimer();
  }

  remove(connection: LiveConnection): void {
    this.#open.delete(connection);
    if (this.#open.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Accepts no more connections, and ends those there are within these milliseconds, in an order that clients cannot foresee. */
  async end(patience: number): Promise<void> {
    const refusal = new ApiError('SHUTTING_DOWN', 'The server is shutting down. Connect again.');
    this.#refusal = refusal;
    const all = [...this.#open].map((connection) => ({ connection, order: Math.random() })).sort((one, other) => one.order - other.order);
    const perStep = Math.max((endsPerSecond * endingStep) / 1000, (all.length * endingStep) / Math.max(1, patience * shareOfClosing));
    for (let ended = 0; ended < all.length; ended += perStep) {
      if (ended > 0) await sleep(endingStep);
      for (const { connection } of all.slice(Math.floor(ended), Math.floor(ended + perStep))) connection.dismiss(refusal);
    }
  }

  #startTimer(): NodeJS.Timeout {
    return setInterval(() => {
      if (this.#isTicking) return;
      this.#isTicking = true;
      void runInSlices(this.#tickAll(performance.now()))
        .catch((error: unknown) => this.#observe({ kind: 'defect-found', requestId: null, error }))
        .finally(() => {
          this.#isTicking = false;
        });
    }, this.#tickMillis).unref();
  }

  *#tickAll(now: number): Generator<void, void> {
    let count = 0;
    for (const connection of [...this.#open]) {
      connection.tick(now);
      count += 1;
      if (count % connectionsAtATime === 0) yield;
    }
  }
}

/** Those of one project. They are also among those of the server. */
export class LiveGroup {
  readonly #server: LiveConnections;
  readonly #own = new Set<LiveConnection>();

  constructor(server: LiveConnections) {
    this.#server = server;
  }

  add(connection: LiveConnection): void {
    this.#own.add(connection);
    this.#server.add(connection);
  }

  remove(connection: LiveConnection): void {
    this.#own.delete(connection);
    this.#server.remove(connection);
  }

  /** The project has changed, or is gone: its clients come back, and get the new one or learn that there is none. */
  dismissAll(): void {
    const error = new ApiError('SHUTTING_DOWN', 'The project has changed. Connect again.');
    for (const connection of [...this.#own]) connection.dismiss(error);
  }
}

/** Where a live connection is counted. */
export type LiveRegistry = Pick<LiveConnections, 'add' | 'remove'>;
