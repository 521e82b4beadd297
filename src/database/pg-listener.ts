/**
 * LISTEN on a separate connection, which is opened for the first channel and closed with the last. If the connection is lost or given up,
 * it is reopened and each listener is called with null, because notifications may have been missed meanwhile.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { toDatabaseError } from './to-database-error.ts';
import { connectClient } from './wire/pg-client.ts';

/** What this file uses of a `pg.Client`. */
export interface PgListenerClient {
  connect(): Promise<unknown>;
  query(config: { readonly text: string; readonly query_timeout: number }): Promise<unknown>;
  end(): Promise<void>;
  on(event: 'notification', listener: (message: { readonly channel: string; readonly payload?: string | undefined }) => void): unknown;
  on(event: 'error' | 'end', listener: () => void): unknown;
  readonly connection?: { readonly stream: { destroy(): unknown } };
}

type OnNotification = (payload: string | null) => void;

/** How long to wait before a lost connection is opened again, in milliseconds: at first, and after many failures. */
const delays = { first: 100, longest: 10_000 };
/** How long a statement may take: an unresponsive server never answers. */
const statementMillis = 5000;
/** How long to wait for a connection to end. */
const goodbyeMillis = 1000;

/** The channels that one database object listens to. */
export class PgListener {
  readonly #openClient: () => PgListenerClient;
  readonly #delays: typeof delays;
  readonly #channels = new Map<string, Set<OnNotification>>();
  /** Null while nobody listens. If the connection is lost, this is replaced by a promise that resolves once it is restored. */
  #connection: Promise<PgListenerClient> | null = null;
  /** The connection while it is open. */
  #open: PgListenerClient | null = null;
  /** Aborted when the current connection is no longer wanted. */
  #stopped = new AbortController();

  constructor(openClient: () => PgListenerClient, own = delays) {
    this.#openClient = openClient;
    this.#delays = own;
  }

  async listen(channel: string, onNotification: OnNotification): Promise<() => Promise<void>> {
    // A channel is an SQL identifier; ours need no quotes.
    if (!/^[a-z_][a-z0-9_]*$/.test(channel)) throw new TypeError(`Not a plain channel name: ${channel}`);
    const listeners = this.#channels.get(channel) ?? new Set();
    this.#channels.set(channel, listeners.add(onNotification));
    try {
      this.#connection ??= this.#connect(this.#stopped.signal);
      await run(await this.#connection, `listen ${channel}`);
    } catch (error) {
      await this.#remove(channel, onNotification);
      throw toDatabaseError(error);
    }
    return () => this.#remove(channel, onNotification);
  }

  /** Closes the connection because others need one more, and opens it again later. Returns whether it was open. */
  giveUp(): boolean {
    const client = this.#open;
    if (client === null) return false;
    this.#noteEnd(this.#delays.longest);
    void client.end().catch(ignore);
    return true;
  }

  async close(): Promise<void> {
    this.#channels.clear();
    await this.#disconnect();
  }

  async #remove(channel: string, onNotification: OnNotification): Promise<void> {
    const listeners = this.#channels.get(channel);
    listeners?.delete(onNotification);
    if (listeners?.size !== 0) return;
    this.#channels.delete(channel);
    if (this.#channels.size === 0) await this.#disconnect();
    else await this.#connection?.then((client) => run(client, `unlisten ${channel}`)).catch(ignore);
  }

  async #disconnect(): Promise<void> {
    this.#stopped.abort();
    this.#stopped = new AbortController();
    const connection = this.#connection;
    this.#connection = null;
    this.#open = null;
    if (connection === null) return;
    // An unresponsive server never confirms that the connection has ended.
    const isLate = sleep(goodbyeMillis, undefined, { ref: false });
    await Promise.race([connection.then((client) => client.end()).catch(ignore), isLate]);
  }

  async #connect(stopped: AbortSignal): Promise<PgListenerClient> {
    const client = this.#openClient();
    client.on('error', ignore);
    client.on('notification', ({ channel, payload }) => this.#tell(channel, payload ?? ''));
    try {
      await connectClient(client);
      for (const channel of this.#channels.keys()) await run(client, `listen ${channel}`);
    } catch (error) {
      void client.end().catch(ignore);
      throw error;
    }
    if (!stopped.aborted) this.#open = client;
    client.on('end', () => {
      if (client === this.#open) this.#noteEnd(this.#delays.first);
    });
    return client;
  }

  /** The connection has ended, or will: another one is opened after the delay. */
  #noteEnd(delay: number): void {
    this.#open = null;
    this.#connection = this.#reconnect(this.#stopped.signal, delay);
    this.#connection.catch(ignore);
  }

  async #reconnect(stopped: AbortSignal, firstDelay: number): Promise<PgListenerClient> {
    for (let delay = firstDelay; ; delay = Math.min(delay * 2, this.#delays.longest)) {
      await sleep(delay * (0.5 + Math.random() / 2), undefined, { signal: stopped });
      try {
        const client = await this.#connect(stopped);
        for (const channel of this.#channels.keys()) this.#tell(channel, null);
        return client;
      } catch {
        // Still down: try again, after a longer pause.
      }
    }
  }

  #tell(channel: string, payload: string | null): void {
    for (const onNotification of this.#channels.get(channel) ?? []) onNotification(payload);
  }
}

function run(client: PgListenerClient, text: string): Promise<unknown> {
  return client.query({ text, query_timeout: statementMillis });
}

function ignore(): void {}
