/**
 * What rowgraph uses of `pg` (with `pg-exchange.ts`): it opens clients, reads a connection before `pg` does, cancels what one is running,
 * and cuts one.
 *
 * Relies on undocumented behaviour of `pg` (`test/contracts/pg.test.ts`): a pool's `Client` and `options`; a client's `connection`, its
 * state and the key of its backend; how a connection cancels; that it is read through `data` listeners on its stream. And of Node
 * (`test/contracts/node.test.ts`): it calls `onread` before it reads another socket into the same buffer.
 */
import { Socket } from 'node:net';
import { Client, Connection } from 'pg';
import type { ColumnValue, Rows } from '../database.ts';
import { ReplyReader, type ReplySocket } from './reply-reader.ts';

export interface PgClient extends CancellableClient {
  connect(): Promise<unknown>;
  end(): Promise<void>;
  /** Only clients of a pool have this. */
  release?(error?: unknown): void;
  query(submittable: PgSubmittable): unknown;
  query(config: { text: string; values?: readonly unknown[]; rowMode: 'array'; types: object; query_timeout: number }): Promise<{
    readonly rows: Rows;
  }>;
  on(event: 'notification', listener: (message: { readonly channel: string; readonly payload?: string | undefined }) => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'end', listener: () => void): unknown;
  removeListener(event: 'error', listener: (error: Error) => void): unknown;
  /** What PostgreSQL said last. Absent from older versions of `pg`. */
  getTransactionStatus?(): string | null;
  readonly connectionParameters?: { readonly query_timeout?: unknown };
  readonly connection?: { readonly stream: { destroy(): unknown } };
}

/** A client whose connection replicates: `pg` sends its option when it connects, and runs plain queries. */
export interface ReplicationClient {
  connect(): Promise<unknown>;
  end(): Promise<void>;
  query(text: string): Promise<unknown>;
  on(event: 'error' | 'end', listener: () => void): unknown;
  readonly connection: { readonly stream: ReplicationSocket };
  readonly connectionParameters: { replication?: string };
}

interface ReplicationSocket {
  destroy(): unknown;
  write(bytes: Uint8Array): unknown;
  removeAllListeners(event: 'data'): unknown;
  on(event: 'data', listener: ReadBytes): unknown;
}

/** A `pg.Pool` of the caller. */
export interface PgPool {
  readonly waitingCount: number;
  readonly idleCount: number;
  readonly options: { readonly max?: number; readonly stream?: unknown };
  readonly Client: new (options: object) => PgClient;
  connect(callback: (error: Error | undefined, client: PgClient | undefined) => void): void;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'remove', listener: (client: PgClient) => void): unknown;
  removeListener(event: 'error', listener: (error: Error) => void): unknown;
  removeListener(event: 'remove', listener: (client: PgClient) => void): unknown;
}

/** What `pg` asks of something that a client is to run. */
export interface PgSubmittable {
  submit(connection: PgWire): Error | undefined;
  handleReadyForQuery(): void;
  handleError(error: unknown, connection: PgWire): void;
}

export interface PgWire {
  readonly stream: DataSocket & { readonly writable: boolean; write(bytes: Uint8Array): unknown };
  /** Tells the client that the server is ready, as `pg`'s parser does. */
  emit(event: 'readyForQuery', message: { readonly status: string }): unknown;
  once(event: 'readyForQuery' | 'end', listener: () => void): unknown;
  removeListener(event: 'readyForQuery' | 'end', listener: () => void): unknown;
  sendCopyFail(message: string): void;
}

/** What a cancel request needs of a client. */
interface CancellableClient {
  readonly host?: string;
  readonly port?: number;
  readonly ssl?: unknown;
  /** Absent from older versions of `pg`. */
  readonly sslNegotiation?: 'postgres' | 'direct';
  readonly processID?: number | null;
  readonly secretKey?: number | null;
}

/** `pg`'s Connection as a cancel request uses it. */
interface CancelConnection {
  readonly stream: { destroy(): void };
  connect(port: number, host: string): void;
  requestSsl(): void;
  cancel(processId: number, secretKey: number): void;
  once(event: 'connect' | 'sslconnect' | 'error' | 'end', listener: () => void): unknown;
  on(event: 'error', listener: () => void): unknown;
}

/** The option `types` with which the values of a query stay text. */
export const textTypes = { getTypeParser: () => (value: unknown) => value };

/** How long opening a connection may take. */
const connectMillis = 5_000;

const keepAlive = { keepAlive: true, keepAliveInitialDelayMillis: 30_000 };

/** A client for a URL, not connected yet, with TCP keepalive and the shared read buffer. Throws if a file that the URL names is missing. */
export function createClient(connectionString: string): PgClient {
  return new Client({ connectionString, ...keepAlive, stream: openSocket } as never) as unknown as PgClient;
}

/** A client for a replication connection to a URL. */
export function createReplicationClient(connectionString: string): ReplicationClient {
  return new Client({
    connectionString,
    ...keepAlive,
    replication: 'database',
    stream: openSocket,
  } as never) as unknown as ReplicationClient;
}

/** For TLS a plain socket is used, because Node reads TLS into its own buffers. */
export function openSocket({ ssl }: { readonly ssl?: unknown }): Socket {
  return ssl ? new Socket() : new PgSocket();
}

/** A client outside a pool of the caller. It gets the pool's own object of options: a copy would lack the password, which `pg` hides. */
export function createClientBeside(pool: PgPool): PgClient {
  return new pool.Client(pool.options);
}

/** A client for a replication connection, outside a pool of the caller. */
export function createReplicationClientBeside(pool: PgPool): ReplicationClient {
  const client = createClientBeside(pool) as unknown as ReplicationClient;
  client.connectionParameters.replication = 'database';
  return client;
}

/**
 * Reads the socket of a client that is connected and idle from now on, for good, instead of `pg`, which still says when it ends. `read`
 * returns whether the socket may rest for `restMillis` if it has read all that was there. Only a `PgSocket` does.
 */
export function takeOverSocket({ connection: { stream } }: ReplicationClient, read: ReadSome, restMillis: number): void {
  if (stream instanceof PgSocket) return stream.takeOver(read, restMillis);
  stream.removeAllListeners('data');
  stream.on('data', read);
}

export async function connectClient(client: Pick<PgClient, 'connect' | 'end' | 'connection'>): Promise<void> {
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

/** The client, connected. Errors of a client that nobody uses any more do not end the process. */
export async function openClient(client: PgClient): Promise<PgClient> {
  client.on('error', () => undefined);
  try {
    await connectClient(client);
    return client;
  } catch (error) {
    cutConnection(client);
    throw error;
  }
}

/** Closes the socket of a connection at once, without telling the server. */
export function cutConnection(client: Pick<PgClient, 'connection'>): void {
  client.connection?.stream.destroy();
}

/** Whether nobody has asked a client to connect. */
export function isUnconnected(client: object): boolean {
  const { _connected, _connecting, _ended } = client as { _connected?: unknown; _connecting?: unknown; _ended?: unknown };
  return _connected === false && _connecting === false && _ended === false;
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
/** Returns whether the socket may rest. */
type ReadSome = (bytes: Buffer) => boolean;

/** What this file uses of a socket that is not a `PgSocket`. */
interface DataSocket {
  listeners(event: 'data'): unknown[];
  removeAllListeners(event: 'data'): unknown;
  on(event: 'data', listener: ReadBytes): unknown;
  destroy(error?: Error): unknown;
}

/** The readers of sockets that are not a `PgSocket`. */
const readers = new WeakMap<DataSocket, ReplyReader<ColumnValue>>();

/** The reader of a socket, always the same one. */
export function readerOf(socket: DataSocket): ReplyReader<ColumnValue> {
  if (socket instanceof PgSocket) return socket.reader;
  const existing = readers.get(socket);
  if (existing !== undefined) return existing;
  const reader = readAhead(socket);
  readers.set(socket, reader);
  return reader;
}

/**
 * Puts a reader before the listeners of a socket, for good. `pg`'s parser may just then hold the first part of a message. If so, the reader
 * meets bytes that are no message, or `pg` swallows messages and the reply is too short: either way, the connection is given up.
 */
function readAhead(socket: DataSocket): ReplyReader<ColumnValue> {
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
export class PgSocket extends Socket implements ReplySocket {
  readonly reader: ReplyReader<ColumnValue>;
  #read: ReadSome;
  #restMillis = 0;

  constructor() {
    const onRead = (length: number): boolean => {
      const mayRest = this.#read(sharedBuffer.subarray(0, length));
      if (!mayRest || length === sharedBuffer.length) return true;
      setTimeout(() => this.resume(), this.#restMillis);
      return false;
    };
    super({ onread: { buffer: sharedBuffer, callback: onRead } });
    this.reader = new ReplyReader(this);
    this.#read = (bytes) => {
      this.reader.read(bytes);
      return false;
    };
  }

  /** See `takeOverSocket`. */
  takeOver(read: ReadSome, restMillis: number): void {
    this.#read = read;
    this.#restMillis = restMillis;
  }

  /** A copy, because `pg` keeps parts of messages: the salt of a password, for one. */
  pass(messages: Buffer): void {
    this.emit('data', Buffer.from(messages));
  }
}
