/**
 * What rowgraph uses of a `pg` pool, which may be the caller's, and how it opens its own, whose connections stay open, are probed for whether they
 * are alive, and read into one buffer.
 *
 * Leans on undocumented members of `pg`: a pool's options `Client` and `stream`, its `Client` and `options`, and a client's `connection`
 * (`test/contracts/pg.test.ts`).
 */
import { Socket } from 'node:net';
import { Client, type ClientConfig, Pool } from 'pg';
import type { Rows } from './database.ts';
import type { PgListenerClient } from './pg-listener.ts';
import type { ExchangeClient } from './pg-run.ts';
import { PgSocket } from './wire/pg-socket.ts';

/** What is used of a `pg.PoolClient`. */
export interface PgPoolClient extends ExchangeClient {
  release(error?: unknown): void;
  on(event: 'error', listener: (error: Error) => void): unknown;
  readonly connection?: { readonly stream: { destroy(): unknown } };
}

/** What is used of a `pg.Pool`. */
export interface PgPool {
  readonly waitingCount: number;
  readonly idleCount: number;
  readonly options: { readonly max?: number };
  readonly Client: new (options: object) => PgTaskClient;
  connect(callback: (error: Error | undefined, client: PgPoolClient | undefined) => void): void;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'remove', listener: (client: PgPoolClient) => void): unknown;
  removeListener(event: 'error', listener: (error: Error) => void): unknown;
  removeListener(event: 'remove', listener: (client: PgPoolClient) => void): unknown;
  end(): Promise<void>;
}

/** What is used of a `pg.Client` that serves one task alone. */
export interface PgTaskClient extends PgListenerClient {
  query(text: string): Promise<unknown>;
  query(config: { text: string; values: readonly unknown[]; rowMode: 'array'; types: object }): Promise<{ readonly rows: Rows }>;
}

/** How long opening a connection may take. */
const connectTimeoutMillis = 5_000;

/** A pool of at most `max` connections. Connects on first use. */
export function openPool(connectionString: string, max = 10): PgPool {
  // Set on the pool, it would also start a timer at each checkout.
  class PatientClient extends Client {
    constructor(options: ClientConfig) {
      super({ ...options, connectionTimeoutMillis: connectTimeoutMillis });
    }
  }
  const keepAlive = { keepAlive: true, keepAliveInitialDelayMillis: 30_000 };
  const options = { connectionString, max, idleTimeoutMillis: 0, ...keepAlive, stream: openSocket as () => Socket };
  return new Pool({ ...options, Client: PatientClient as never }) as unknown as PgPool;
}

/** A client beside the pool, of its class and with its options, some of which may be replaced. */
export function openClient(pool: PgPool, options: object = {}): PgTaskClient {
  return new pool.Client({ ...pool.options, ...options });
}

/** Ends a connection at once, without a word to the server. */
export function cutConnection(client: PgPoolClient): void {
  client.connection?.stream.destroy();
}

/** Node reads TLS into its own buffers. */
function openSocket({ ssl }: { readonly ssl?: unknown }): Socket {
  return ssl ? new Socket() : new PgSocket();
}
