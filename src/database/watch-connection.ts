/**
 * The connection on which rowgraph watches the schema: it listens, and runs the queries that come again and again. Apart from the pool,
 * because what PostgreSQL caches for these queries takes memory and slows down what else runs on a connection. It is opened when it is
 * first needed, and again if it is lost; then each listener is called with null, because notifications may have been missed.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { DatabaseError } from '../errors/database-error.ts';
import type { Connector } from './connector.ts';
import type { PgConnection } from './pg-connection.ts';
import { type FlightContext, PgFlight } from './pg-flight.ts';
import type { PgRun } from './pg-run.ts';
import { closedError, toDatabaseError } from './to-database-error.ts';
import { cutConnection } from './wire/pg-client.ts';

type OnNotification = (payload: string | null) => void;

/** Makes a run of a script for `send`, and resolves to its result. */
type RunScript = (text: string, send: (run: PgRun) => void) => Promise<unknown>;

/** How long to wait before a lost connection is opened again, in milliseconds: at first, and after many failures. */
const delays = { first: 100, longest: 10_000 };
/** How long to wait for the connection to end. */
const goodbyeMillis = 1000;

type WatchState =
  | { readonly kind: 'unused' }
  | { readonly kind: 'opening'; readonly opened: Promise<PgConnection> }
  | { readonly kind: 'open'; readonly connection: PgConnection }
  | { readonly kind: 'closed' };

export class WatchConnection {
  readonly #connector: Connector;
  readonly #flights: FlightContext;
  readonly #runScript: RunScript;
  readonly #channels = new Map<string, Set<OnNotification>>();
  readonly #stopped = new AbortController();
  #state: WatchState = { kind: 'unused' };
  /** LISTEN and UNLISTEN that wait until the connection is not busy. */
  #waiting: PgRun[] = [];
  /** The connection under a run. One that was lost may be busy for longer than the next one takes to open. */
  #busy: PgConnection | null = null;

  constructor(connector: Connector, flights: FlightContext, runScript: RunScript) {
    this.#connector = connector;
    this.#flights = flights;
    this.#runScript = runScript;
  }

  /**
   * Sends a run on this connection. Returns false if it is not open, or busy: what runs may wait for a lock, and must not hold up the rest.
   * Then the run is to be served elsewhere.
   */
  take(run: PgRun): boolean {
    if (this.#state.kind === 'unused') this.#open().catch(ignore);
    if (this.#state.kind !== 'open' || this.#busy === this.#state.connection) return false;
    this.#send(this.#state.connection, run);
    return true;
  }

  withdraw(run: PgRun): void {
    this.#waiting = this.#waiting.filter((each) => each !== run);
  }

  async listen(channel: string, onNotification: OnNotification): Promise<() => Promise<void>> {
    // A channel is an SQL identifier; ours need no quotes.
    if (!/^[a-z_][a-z0-9_]*$/.test(channel)) throw new TypeError(`Not a plain channel name: ${channel}`);
    const listeners = this.#channels.get(channel) ?? new Set();
    this.#channels.set(channel, listeners.add(onNotification));
    try {
      await this.#open();
      await this.#runScript(`listen ${channel}`, (run) => this.#add(run));
    } catch (error) {
      await this.#unlisten(channel, onNotification);
      throw toDatabaseError(error);
    }
    return () => this.#unlisten(channel, onNotification);
  }

  /** Closes the connection because others need one more, and opens it again later. */
  giveUp(): void {
    if (this.#state.kind !== 'open') return;
    const { client } = this.#state.connection;
    this.#openAgain(delays.longest);
    void client.end().catch(ignore);
  }

  async close(): Promise<void> {
    const state = this.#state;
    this.#state = { kind: 'closed' };
    this.#channels.clear();
    this.#stopped.abort();
    for (const run of this.#waiting.splice(0)) run.reject(closedError());
    const ending = state.kind === 'open' ? Promise.resolve(state.connection) : state.kind === 'opening' ? state.opened : null;
    // An unresponsive server never confirms that the connection has ended.
    await Promise.race([ending?.then(({ client }) => client.end()).catch(ignore), sleep(goodbyeMillis, undefined, { ref: false })]);
  }

  async #unlisten(channel: string, onNotification: OnNotification): Promise<void> {
    const listeners = this.#channels.get(channel);
    listeners?.delete(onNotification);
    if (listeners?.size !== 0) return;
    this.#channels.delete(channel);
    if (this.#state.kind === 'open') await this.#runScript(`unlisten ${channel}`, (run) => this.#add(run)).catch(ignore);
  }

  /** Queues a run that only this connection can serve. */
  #add(run: PgRun): void {
    if (this.#state.kind !== 'open') return run.reject(lost());
    run.noteQueued(this);
    this.#waiting.push(run);
    this.#serveNext(this.#state.connection);
  }

  #open(): Promise<PgConnection> {
    const state = this.#state;
    if (state.kind === 'opening') return state.opened;
    if (state.kind === 'open') return Promise.resolve(state.connection);
    if (state.kind === 'closed') return Promise.reject(closedError());
    return this.#await(this.#connect());
  }

  /** The connection has ended, or will: another one is opened after a delay. */
  #openAgain(delay: number): void {
    for (const run of this.#waiting.splice(0)) run.reject(lost());
    this.#await(this.#reconnect(delay)).catch(ignore);
  }

  #await(opened: Promise<PgConnection>): Promise<PgConnection> {
    this.#state = { kind: 'opening', opened };
    return opened.then(
      (connection) => {
        if (this.#state.kind === 'opening') this.#state = { kind: 'open', connection };
        return connection;
      },
      (error: unknown) => {
        if (this.#state.kind === 'opening') this.#state = { kind: 'unused' };
        throw error;
      },
    );
  }

  async #connect(): Promise<PgConnection> {
    const client = await this.#connector.openClient();
    const connection = this.#connector.wrap(client, ignore);
    connection.attend();
    client.on('notification', ({ channel, payload }) => this.#tell(channel, payload ?? ''));
    try {
      for (const channel of this.#channels.keys()) await this.#runScript(`listen ${channel}`, (run) => this.#send(connection, run));
    } catch (error) {
      cutConnection(client);
      throw error;
    }
    client.on('end', () => {
      connection.prepared?.close();
      if (this.#state.kind === 'open' && this.#state.connection === connection) this.#openAgain(delays.first);
    });
    return connection;
  }

  async #reconnect(firstDelay: number): Promise<PgConnection> {
    for (let delay = firstDelay; ; delay = Math.min(delay * 2, delays.longest)) {
      await sleep(delay * (0.5 + Math.random() / 2), undefined, { signal: this.#stopped.signal });
      try {
        const connection = await this.#connect();
        for (const channel of this.#channels.keys()) this.#tell(channel, null);
        return connection;
      } catch {
        // Still down: try again, after a longer pause.
      }
    }
  }

  #serveNext(connection: PgConnection): void {
    if (this.#busy === connection) return;
    const run = this.#waiting.shift();
    if (run !== undefined) this.#send(connection, run);
  }

  #send(connection: PgConnection, run: PgRun): void {
    this.#busy = connection;
    const onFree = (error: unknown): void => {
      if (this.#busy === connection) this.#busy = null;
      if (error !== undefined) cutConnection(connection.client);
      else if (this.#state.kind === 'open') this.#serveNext(this.#state.connection);
    };
    new PgFlight(this.#flights, connection, connection.prepared, [run], {
      isReserved: false,
      onDone: ignore,
      onStuck: ignore,
      onFree,
    }).start();
  }

  #tell(channel: string, payload: string | null): void {
    for (const onNotification of this.#channels.get(channel) ?? []) onNotification(payload);
  }
}

function lost(): DatabaseError {
  return toDatabaseError(new Error('The connection that listens was lost'));
}

function ignore(): void {}
