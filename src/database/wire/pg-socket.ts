/**
 * Reads the input of a `pg` connection in place of `pg`: as bytes, from our own or any other socket. In: the socket and the reader; out:
 * the bytes as they arrive, until the socket is given back.
 *
 * Relies on undocumented behaviour: Node calls `onread` before it reads another socket into the same buffer
 * (`test/contracts/node.test.ts`), and `pg` reads a connection through `data` listeners on its stream (`test/contracts/pg.test.ts`).
 */
import { Socket } from 'node:net';

/** Receives bytes as they are read. They are valid only until it returns. */
export interface ByteReader {
  read(bytes: Buffer): void;
}

type ReadBytes = (bytes: Buffer) => void;

/** What this file uses of a socket that is not a `PgSocket`. */
export interface DataSource {
  listeners(event: 'data'): unknown[];
  removeAllListeners(event: 'data'): unknown;
  on(event: 'data', listener: ReadBytes): unknown;
  removeListener(event: 'data', listener: ReadBytes): unknown;
}

/** Bytes of a socket that go to a reader instead of to its `data` listeners. */
export interface Interception {
  /** Passes bytes to the listeners after all. */
  pass(bytes: Buffer): void;
  /** From now on all bytes go to the listeners again. */
  giveBack(): void;
}

/** Sends a socket's bytes to a reader instead of to its `data` listeners. */
export function intercept(socket: DataSource, reader: ByteReader): Interception {
  return socket instanceof PgSocket ? socket.readWith(reader) : new ListenerSwap(socket, (bytes) => reader.read(bytes));
}

/** Node reads one socket at a time and calls back before it reads another, so one buffer is enough for all. */
const sharedBuffer = Buffer.allocUnsafeSlow(64 * 1024);

/**
 * The socket of connections that we open. All share one read buffer, because a buffer for each read, and the stream that delivers it, cost
 * more than processing its content. Without an interception, its bytes are emitted as events, like those of any socket.
 */
export class PgSocket extends Socket implements Interception {
  #reader: ByteReader | null = null;

  constructor() {
    const onRead = (length: number): boolean => {
      const bytes = sharedBuffer.subarray(0, length);
      if (this.#reader === null) this.pass(Buffer.from(bytes));
      else this.#reader.read(bytes);
      return true;
    };
    super({ onread: { buffer: sharedBuffer, callback: onRead } });
  }

  readWith(reader: ByteReader): this {
    this.#reader = reader;
    return this;
  }

  pass(bytes: Buffer): void {
    this.emit('data', bytes);
  }

  giveBack(): void {
    this.#reader = null;
  }
}

/** Replaces the listeners for a while: for the caller's sockets, and for TLS. */
class ListenerSwap implements Interception {
  readonly #socket: DataSource;
  readonly #read: ReadBytes;
  readonly #listeners: readonly ReadBytes[];

  constructor(socket: DataSource, read: ReadBytes) {
    this.#socket = socket;
    this.#read = read;
    this.#listeners = socket.listeners('data') as ReadBytes[];
    socket.removeAllListeners('data');
    socket.on('data', read);
  }

  pass(bytes: Buffer): void {
    for (const listener of this.#listeners) listener.call(this.#socket, bytes);
  }

  giveBack(): void {
    this.#socket.removeListener('data', this.#read);
    for (const listener of this.#listeners) this.#socket.on('data', listener);
  }
}
