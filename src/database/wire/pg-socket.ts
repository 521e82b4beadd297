/**
 * Reads the input of a `pg` connection before `pg` does: as bytes, from our own or any other socket. In: the socket; out: its reader, which
 * passes on what is for `pg`, always complete messages.
 *
 * Relies on undocumented behaviour: Node calls `onread` before it reads another socket into the same buffer
 * (`test/contracts/node.test.ts`), and `pg` reads a connection through `data` listeners on its stream (`test/contracts/pg.test.ts`).
 */
import { Socket } from 'node:net';
import type { ColumnValue } from '../database.ts';
import { ReplyReader, type ReplySource } from './reply-reader.ts';

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
