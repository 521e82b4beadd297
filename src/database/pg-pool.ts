/**
 * What rowgraph uses of a `pg` pool, which may be the caller's, how it opens its own, and how it connects clients beside one. Connections
 * of its own pool stay open, use TCP keepalive, and read into one buffer.
 *
 * Relies on undocumented members of `pg`: a pool's options `Client` and `stream`, its `Client` and `options`, and a client's `connection`
 * (`test/contracts/pg.test.ts`).
 */
import { Socket } from 'node:net';
import { Client, type ClientConfig, Pool } from 'pg';
import type { Rows } from './database.ts';
import type { PgListenerClient } from './pg-listener.ts';
import type { ExchangeClient } from './pg-run.ts';
import { PgSocket } from './wire/pg-socket.ts';

/** What rowgraph uses of a `pg.PoolClient`. */
export interface PgPoolClient extends ExchangeClient {
  release(error?: unknown): void;
  on(event: 'error', listener: (error: Error) => void): unknown;
  removeListener(event: 'error', listener: (error: Error) => void): unknown;
  readonly connection?: { readonly stream: { destroy(): unknown } };
}

/** What rowgraph uses of a `pg.Pool`. */
export interface PgPool {
  readonly waitingCount: number;
  readonly idleCount: number;
  readonly options: { readonly max?: number; readonly stream?: unknown };
  readonly Client: new (options: object) => PgTaskClient;
  connect(callback: (error: Error | undefined, client: PgPoolClient | undefined) => void): void;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'remove', listener: (client: PgPoolClient) => void): unknown;
  removeListener(event: 'error', listener: (error: Error) => void): unknown;
  removeListener(event: 'remove', listener: (client: PgPoolClient) => void): unknown;
  end(): Promise<void>;
}

/** What rowgraph uses of a `pg.Client` that serves a single task. */
export interface PgTaskClient extends PgListenerClient {
  query(text: string): Promise<unknown>;
  query(config: {
    text: string;
    values: readonly unknown[];
    rowMode: 'array';
    types: object;
    query_timeout: number;
  }): Promise<{ readonly rows: Rows }>;
}

/** How long opening a connection may take. */
const connectMillis = 5_000;

/** A pool of at most `max` connections. Connects on first use. */
export function openPool(connectionString: string, max = 10): PgPool {
  // If this were an option of the pool, the pool would also start a timer at each checkout.
  class PatientClient extends Client {
    constructor(options: ClientConfig) {
      super({ ...options, connectionTimeoutMillis: connectMillis });
    }
  }
  const keepAlive = { keepAlive: true, keepAliveInitialDelayMillis: 30_000 };
  const options = { connectionString, max, idleTimeoutMillis: 0, ...keepAlive, stream: openSocket as () => Socket };
  return new Pool({ ...options, Client: PatientClient as never }) as unknown as PgPool;
}

/** A client outside the pool, of the pool's class. It gets the same object of options: a copy would lack the password, which `pg` hides. */
export function openClient(pool: PgPool): PgTaskClient {
  return new pool.Client(pool.options);
}

/** Connects a client outside the pool in limited time: those of a caller's pool may have no limit of their own. */
export async function connectClient(client: PgListenerClient): Promise<void> {
  const connecting = client.connect();
  const { promise: isLate, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    cutConnection(client);
    reject(new Error(`PostgreSQL did not accept the connection within ${connectMillis} ms`));
    connecting.then(() => client.end()).catch(() => undefined);
  }, connectMillis);
  try {
    await Promise.race([connecting, isLate]);
  } finally {
    clearTimeout(timer);
  }
}

/** Closes the socket of a connection at once, without telling the server. */
export function cutConnection(client: Pick<PgPoolClient, 'connection'>): void {
  client.connection?.stream.destroy();
}

/** For TLS a plain socket is used, because Node reads TLS into its own buffers. */
function openSocket({ ssl }: { readonly ssl?: unknown }): Socket {
  return ssl ? new Socket() : new PgSocket();
}
