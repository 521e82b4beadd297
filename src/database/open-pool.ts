/**
 * Opens a pool of `pg` as rowgraph needs it: connections stay open, are noticed when they are dead, and read into one buffer.
 */
import { Socket } from 'node:net';
import { Client, type ClientConfig, Pool } from 'pg';
import type { PgPool } from './pg-database.ts';
import { PgSocket } from './pg-socket.ts';

/** How long opening a connection may take. */
const connectTimeoutMillis = 5_000;

/** A pool of at most `max` connections. Nothing is connected before the first one is asked for. */
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

/** Node reads TLS into buffers of its own. */
function openSocket({ ssl }: { readonly ssl?: unknown }): Socket {
  return ssl ? new Socket() : new PgSocket();
}
