/** Opens the connections of a pool: for a URL, or from a pool of the caller. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Hosts } from './hosts.ts';
import { PgConnection } from './pg-connection.ts';
import {
  createClient,
  createClientBeside,
  createReplicationClient,
  createReplicationClientBeside,
  cutConnection,
  openClient,
  openSocket,
  type PgClient,
  type PgPool,
  type ReplicationClient,
} from './wire/pg-client.ts';
import { PreparedStatements, type StatementCounts } from './wire/prepared-statements.ts';

/** How long the server may take to confirm that a connection has ended. */
const closeMillis = 1000;

export interface Connector {
  readonly size: number;
  /** Whether nobody else uses the connections, so that idle ones are kept open here. */
  readonly isOwn: boolean;
  /** Connections that are idle in the caller's pool. */
  readonly idleCount: number;
  /** Whether others wait for a connection of the caller's pool. */
  readonly isWanted: boolean;
  /** Opens or borrows a connection. Calls back later, never at once. */
  open(onOpened: (error: unknown, connection: PgConnection | null) => void): void;
  /** Closes a connection, or returns it to the caller's pool; with an error, it is unusable. */
  close(connection: PgConnection, error?: unknown): void;
  /** A client that is not counted here. */
  openClient(): Promise<PgClient>;
  /** A client for `ReplicationStream`, not connected yet. */
  createReplicationClient(): ReplicationClient;
  /** A connection over such a client. */
  wrap(client: PgClient, onFailed: (error: unknown) => void): PgConnection;
  /** Stops borrowing, or waits until all are closed, for a second at most. None may be in use. */
  leave(): Promise<void>;
}

export interface ConnectionOptions {
  /** How many prepared statements to keep on each; null to prepare none by name. */
  readonly statementCacheSize: number | null;
  readonly counts: StatementCounts;
  readonly onFailed: (connection: PgConnection, error: unknown) => void;
  readonly onSilence: (since: number) => void;
}

function wrap(client: PgClient, stream: unknown, options: ConnectionOptions, onFailed: (error: unknown) => void): PgConnection {
  const { statementCacheSize, counts, onSilence } = options;
  const prepared = statementCacheSize === null ? null : new PreparedStatements(statementCacheSize, counts);
  return new PgConnection(client, prepared, stream, onFailed, onSilence);
}

function wrapPooled(client: PgClient, stream: unknown, options: ConnectionOptions): PgConnection {
  const connection: PgConnection = wrap(client, stream, options, (error) => options.onFailed(connection, error));
  return connection;
}

/** Opens connections for a URL. */
export class UrlConnector implements Connector {
  readonly size: number;
  readonly isOwn = true;
  readonly idleCount = 0;
  readonly isWanted = false;
  readonly #hosts: Hosts;
  readonly #closing = new Map<PgClient, Promise<void>>();
  readonly #options: ConnectionOptions;

  constructor(url: string, size: number, options: ConnectionOptions) {
    this.#hosts = new Hosts(url);
    this.#options = options;
    this.size = size;
  }

  open(onOpened: (error: unknown, connection: PgConnection | null) => void): void {
    this.#connect().then(
      (connection) => onOpened(undefined, connection),
      (error: unknown) => onOpened(error, null),
    );
  }

  close(connection: PgConnection, error?: unknown): void {
    const { client, prepared } = connection;
    prepared?.close();
    if (error !== undefined) return cutConnection(client);
    const ending = client
      .end()
      .catch(() => undefined)
      .then(() => void this.#closing.delete(client));
    this.#closing.set(client, ending);
  }

  openClient(): Promise<PgClient> {
    return this.#hosts.connect((url) => openClient(createClient(url)));
  }

  createReplicationClient(): ReplicationClient {
    return createReplicationClient(this.#hosts.current);
  }

  wrap(client: PgClient, onFailed: (error: unknown) => void): PgConnection {
    return wrap(client, openSocket, this.#options, onFailed);
  }

  /** An unresponsive server never confirms that a connection has ended. */
  async leave(): Promise<void> {
    await Promise.race([Promise.all(this.#closing.values()), sleep(closeMillis, undefined, { ref: false })]);
    for (const client of this.#closing.keys()) cutConnection(client);
  }

  async #connect(): Promise<PgConnection> {
    const connection = wrapPooled(await this.openClient(), openSocket, this.#options);
    connection.attend();
    return connection;
  }
}

/** Borrows connections from a pool of the caller. */
export class PoolConnector implements Connector {
  readonly isOwn = false;
  readonly #pool: PgPool;
  readonly #options: ConnectionOptions;
  readonly #connections = new Map<PgClient, PgConnection>();
  readonly #onError: (error: unknown) => void;
  readonly #onRemove = (client: PgClient): void => {
    this.#connections.get(client)?.prepared?.close();
    this.#connections.delete(client);
  };

  /** `onError` is called when a connection fails while it is idle in the caller's pool. */
  constructor(pool: PgPool, options: ConnectionOptions, onError: (error: unknown) => void) {
    this.#pool = pool;
    this.#options = options;
    this.#onError = onError;
    // Without a listener, a connection that fails while idle would end the process. The pool drops it.
    pool.on('error', onError);
    pool.on('remove', this.#onRemove);
  }

  get size(): number {
    return this.#pool.options.max ?? 10;
  }

  get idleCount(): number {
    return this.#pool.idleCount;
  }

  get isWanted(): boolean {
    return this.#pool.waitingCount > 0;
  }

  open(onOpened: (error: unknown, connection: PgConnection | null) => void): void {
    try {
      this.#pool.connect((error, client) => {
        if (client === undefined) return onOpened(error, null);
        const connection = this.#connections.get(client) ?? wrapPooled(client, this.#pool.options.stream, this.#options);
        this.#connections.set(client, connection);
        connection.attend();
        onOpened(undefined, connection);
      });
    } catch (error) {
      // For each connection, `pg` reads the files that the URL names, and throws if one is missing.
      queueMicrotask(() => onOpened(error, null));
    }
  }

  close(connection: PgConnection, error?: unknown): void {
    connection.leave();
    connection.client.release?.(error);
  }

  async openClient(): Promise<PgClient> {
    return openClient(createClientBeside(this.#pool));
  }

  createReplicationClient(): ReplicationClient {
    return createReplicationClientBeside(this.#pool);
  }

  wrap(client: PgClient, onFailed: (error: unknown) => void): PgConnection {
    return wrap(client, this.#pool.options.stream, this.#options, onFailed);
  }

  async leave(): Promise<void> {
    this.#pool.removeListener('error', this.#onError);
    this.#pool.removeListener('remove', this.#onRemove);
  }
}
