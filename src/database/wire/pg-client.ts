/**
 * What rowgraph uses of `pg`: how it opens pools and clients, reads a connection before `pg` does, cancels what one is running, and cuts one.
 *
 * Relies on undocumented behaviour of `pg` (`test/contracts/pg.test.ts`): a pool's options `Client` and `stream`, its `Client` and `options`;
 * a client's `connection`; fields of Client and Connection for cancel requests; that a connection is read through `data` listeners on its
 * stream. And of Node (`test/contracts/node.test.ts`): it calls `onread` before it reads another socket into the same buffer.
 */
import { Socket } from 'node:net';
import { Client, type ClientConfig, Connection, Pool } from 'pg';
import type { ColumnValue, Rows } from '../database.ts';
import type { PgListenerClient } from '../pg-listener.ts';
import type { ExchangeClient } from '../pg-run.ts';
import { ReplyReader, type ReplySource } from './reply-reader.ts';

/** What this file uses of a `pg.Client`. */
export interface CancellableClient {
  readonly host?: string;
  readonly port?: number;
  readonly ssl?: unknown;
  /** Absent from older versions of `pg`. */
  readonly sslNegotiation?: 'postgres' | 'direct';
  readonly processID?: number | null;
  readonly secretKey?: number | null;
}

/** What this file uses of `pg`'s Connection. */
interface CancelConnection {
  readonly stream: { destroy(): void };
  connect(port: number, host: string): void;
  requestSsl(): void;
  cancel(processId: number, secretKey: number): void;
  once(event: 'connect' | 'sslconnect' | 'error' | 'end', listener: () => void): unknown;
  on(event: 'error', listener: () => void): unknown;
}

/**
 * `delivered`: the server has signalled the backend and closed the connection, so that nothing sent to the backend from now on is
 * cancelled. `unreachable`: the server did not respond in time. `unsupported`: the connection does not say which backend it is.
 */
export type CancelOutcome = 'delivered' | 'unreachable' | 'unsupported';

/**
 * Sends a cancel request and waits for the server to receive it. Never rejects. `stream` is the option of that name that the client was
 * opened with: a function that opens its sockets. A socket that was passed instead cannot be opened twice.
 */
export function sendCancelRequest(client: CancellableClient, timeoutMillis: number, stream?: unknown): Promise<CancelOutcome> {
  const { host, port, ssl, sslNegotiation, processID, secretKey } = client;
  if (host === undefined || port === undefined || typeof processID !== 'number' || typeof secretKey !== 'number') {
    return Promise.resolve('unsupported');
  }
  if (stream && typeof stream !== 'function') return Promise.resolve('unsupported');
  let connection: CancelConnection;
  try {
    connection = new Connection({ ssl, sslNegotiation, stream } as never) as unknown as CancelConnection;
  } catch {
    return Promise.resolve('unreachable');
  }
  return new Promise((resolve) => {
    let isSent = false;
    const timer = setTimeout(() => finish('unreachable'), timeoutMillis);
    const finish = (outcome: CancelOutcome): void => {
      clearTimeout(timer);
      connection.stream.destroy();
      resolve(outcome);
    };
    if (ssl && sslNegotiation !== 'direct') connection.once('connect', () => connection.requestSsl());
    connection.once(ssl ? 'sslconnect' : 'connect', () => {
      isSent = true;
      connection.cancel(processID, secretKey);
    });
    connection.on('error', () => finish('unreachable'));
    connection.once('end', () => finish(isSent ? 'delivered' : 'unreachable'));
    if (host.startsWith('/')) connection.connect(`${host}/.s.PGSQL.${port}` as never, undefined as never);
    else connection.connect(port, host);
  });
}

type ReadBytes = (bytes: Buffer) => void;

/** What this file uses of a socket that is not a `PgSocket`. */
export interface DataSource {
  listeners(event: 'data'): unknown[];
  removeAllListeners(event: 'data'): unknown;
  on(event: 'data', listener: ReadBytes): unknown;
  destroy(error?: Error): unknown;
}

/** The readers of sockets that are not a `PgSocket`. */
const readers = new WeakMap<DataSource, ReplyReader<ColumnValue>>();

/** The reader of a socket, always the same one. */
export function readerOf(socket: DataSource): ReplyReader<ColumnValue> {
  if (socket instanceof PgSocket) return socket.reader;
  const known = readers.get(socket);
  if (known !== undefined) return known;
  const reader = readAhead(socket);
  readers.set(socket, reader);
  return reader;
}

/**
 * Puts a reader before the listeners of a socket, for good. `pg`'s parser may just then hold the first part of a message. If so, the reader
 * meets bytes that are no message, or `pg` swallows messages and the reply is too short: either way, the connection is given up.
 */
function readAhead(socket: DataSource): ReplyReader<ColumnValue> {
  const listeners = socket.listeners('data') as ReadBytes[];
  const pass = (messages: Buffer): void => {
    for (const listener of listeners) listener.call(socket, messages);
  };
  const reader = new ReplyReader<ColumnValue>({ pass, destroy: (error) => socket.destroy(error) });
  socket.removeAllListeners('data');
  socket.on('data', (bytes) => reader.read(bytes));
  return reader;
}

/** Node reads one socket at a time and calls back before it reads another, so one buffer is enough for all. */
const sharedBuffer = Buffer.allocUnsafeSlow(64 * 1024);

/**
 * The socket of connections that we open. All share one read buffer, because a buffer for each read, and the stream that delivers it, cost
 * more than processing its content. What is for `pg` is emitted as events, like the bytes of any socket.
 */
export class PgSocket extends Socket implements ReplySource {
  readonly reader: ReplyReader<ColumnValue>;

  constructor() {
    const onRead = (length: number): boolean => {
      this.reader.read(sharedBuffer.subarray(0, length));
      return true;
    };
    super({ onread: { buffer: sharedBuffer, callback: onRead } });
    this.reader = new ReplyReader(this);
  }

  /** A copy, because `pg` keeps parts of messages: the salt of a password, for one. */
  pass(messages: Buffer): void {
    this.emit('data', Buffer.from(messages));
  }
}

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
