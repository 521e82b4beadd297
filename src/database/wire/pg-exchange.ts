/**
 * One exchange on one connection of `pg`, as a submittable (like `pg-cursor`): the bytes of a batch, or of several that share the
 * connection, go out in a single write, and the replies are collected until the server is ready again.
 *
 * Relies on undocumented behaviour of `pg` (`test/contracts/pg.test.ts`): how a client drives a submittable, where it keeps its
 * `query_timeout`, its connection's stream and events, and that its parser takes messages one by one.
 */

import { longestTimer } from '../../budget/deadline.ts';
import { DatabaseError } from '../../errors/database-error.ts';
import type { ColumnValue } from '../database.ts';
import { isServerError } from '../to-database-error.ts';
import { encodeScript } from './encode-batch.ts';
import { type PgClient, type PgSubmittable, type PgWire, readerOf } from './pg-client.ts';
import type { ReplyReader, ReplySink } from './reply-reader.ts';

export interface ExpectedReply {
  /** The number of batches, and so of ReadyForQuery messages. */
  readonly batches: number;
  /** How many statements each batch has; null if that is unknown. */
  readonly statements: number | null;
  /** How many statements at the start of each batch return rows that are to be skipped. */
  readonly skipped: number;
  /** Whether to keep every row, or only the first of each statement. */
  readonly everyRow: boolean;
  /** Maximum bytes in the rows of each batch. */
  readonly maxBytes: number;
  /** Whether the only batch begins and ends its transaction itself, so that one that fails stays open. */
  readonly begins: boolean;
  /** Whether a statement in a transaction of its own follows the only batch. */
  readonly hasFollowUp: boolean;
}

export interface ExchangeListener {
  done(exchange: PgExchange): void;
  /** Called when the rows of a batch exceed the allowed bytes: further rows are dropped, and the server must be stopped. */
  overflow(): void;
}

const shortReply = 'PostgreSQL was ready before all statements had been answered: part of the reply was lost';
const openTransaction = 'The pool lent a connection with an open transaction: somebody returned it without commit or rollback';
const foreignTransaction = 'The batch ran in a transaction that was already open on the connection, because somebody else began it';
const errorResponse = 0x45;
const readyForQuery = 0x5a;
/** The status of a session that is not in a transaction, in ReadyForQuery. */
const notInTransaction = 0x49;
/** That of one whose transaction has failed, and is to be rolled back. */
const inFailedTransaction = 0x45;
/** In bytes. Above this size a copy costs more than it saves. */
const longestString = 16 * 1024;

/** In bytes. A longer error is not read: what it says would be the whole response. */
const longestError = 1024 * 1024;
/** The status of a connection on which no transaction is open. */
const outside = 'I';

const longError = `PostgreSQL reported an error of more than ${longestError} bytes, which is not shown. Nothing was changed.`;

/** The error of a batch that shared the connection: the reason is not read, because the batch runs again. */
const failedInCompany = new Error('Another batch that shared the connection has failed');
/** The exception: the server ended the connection, which decides whether the batch may run again. */
const endedInCompany = Object.assign(new Error('terminating connection due to administrator command'), {
  severity: 'FATAL',
  code: '57P01',
});
const terminationCode = Buffer.from('\0C57P01\0');

/** `pg` calls the methods (its protocol for submittables); the receiver of `done` reads the fields. */
export class PgExchange implements ReplySink<ColumnValue>, PgSubmittable {
  /**
   * Of the current batch, as are the next two fields: the first row of each statement (empty if there was none), or every row if asked for.
   */
  results: ColumnValue[][] = [];
  /** Null unless something failed. */
  error: unknown = null;
  completed = 0;
  /** The row of the statement that follows the batch; null if there is none. */
  followUpRow: readonly ColumnValue[] | null = null;
  /** Whether the bytes were written to the socket. If not, another connection may be tried. */
  written = false;
  /** Whether the connection is unusable, for other exchanges and for the remaining batches of this one. */
  broken = false;
  /** Whether the server reported that a batch failed, so none of it remains. */
  refused = false;
  /** Whether the rows exceeded the allowed bytes. */
  overflown = false;
  /** After how many milliseconds `pg` would stop waiting, instead of the client's own `query_timeout`. */
  query_timeout: number | undefined;
  /** Called at the end. `pg` replaces it by a function that stops the timer of `query_timeout`. */
  callback: () => void = ignore;
  readonly #client: PgClient;
  readonly #bytes: Uint8Array;
  readonly #expected: ExpectedReply;
  readonly #listener: ExchangeListener;
  #rowBytes = 0;
  #batchesLeft: number;
  #row: ColumnValue[] | null = null;
  #connection: PgWire | null = null;
  #reader: ReplyReader<ColumnValue> | null = null;
  /** Whether the batch is over, and what follows it is not: then nothing that fails concerns the batch. */
  #isFollowing = false;
  #finished = false;
  /** Whether the transaction of a failed batch is being rolled back. */
  #undoing = false;

  constructor(client: PgClient, bytes: Uint8Array, expected: ExpectedReply, listener: ExchangeListener) {
    this.#client = client;
    this.#bytes = bytes;
    this.#expected = expected;
    this.#batchesLeft = expected.batches;
    this.#listener = listener;
  }

  start(): void {
    // The client's own `query_timeout` would end the wait and not the statement. Deadlines end both.
    if (this.#client.connectionParameters?.query_timeout) this.query_timeout = longestTimer;
    this.#client.query(this);
  }

  /**
   * Writes the bytes, and reads the reply instead of `pg`'s own parser, which decodes every value. Messages that do not concern rows are
   * passed on to that parser. `pg` passes an error that is returned to `handleError`.
   */
  submit(connection: PgWire): Error | undefined {
    const { stream } = connection;
    if (!stream.writable) return new Error('The connection is closed');
    if ((this.#client.getTransactionStatus?.() ?? outside) !== outside) return new Error(openTransaction);
    this.#connection = connection;
    this.#reader = readerOf(stream);
    this.#reader.sink = this;
    this.written = true;
    stream.write(this.#bytes);
    return undefined;
  }

  /** Bytes in the rows of the batch so far. */
  get rowBytes(): number {
    return this.#rowBytes;
  }

  /** Closes the connection, which ends the exchange. */
  abort(): void {
    this.#connection?.stream.destroy();
  }

  admits(length: number): boolean {
    if (this.#isFollowing) return true;
    this.#rowBytes += length;
    if (this.#rowBytes <= this.#expected.maxBytes) return true;
    if (!this.overflown) {
      this.overflown = true;
      this.#listener.overflow();
    }
    return false;
  }

  admitsError(length: number): boolean {
    if (length <= longestError) return true;
    this.refused = true;
    this.error = new DatabaseError(longError, { sqlstate: null, reason: 'response-too-large' });
    return false;
  }

  wantsRow(): boolean {
    if (this.#isFollowing) return true;
    const { everyRow, skipped } = this.#expected;
    return this.completed >= skipped && (everyRow || this.#row === null);
  }

  value(bytes: Buffer, start: number, end: number, mayKeep: boolean): ColumnValue {
    if (this.#expected.everyRow) return bytes.toString('utf8', start, end);
    if (end - start <= longestString) return { latin1: bytes.toString('latin1', start, end) };
    const value = bytes.subarray(start, end);
    return [mayKeep ? value : Buffer.from(value)];
  }

  row(values: ColumnValue[]): void {
    if (this.#isFollowing) {
      this.followUpRow = values;
      return;
    }
    if (this.#expected.everyRow) this.results.push(values);
    else this.#row = values;
  }

  complete(): void {
    if (this.#isFollowing || this.#undoing) return;
    this.completed++;
    if (!this.#expected.everyRow && this.completed > this.#expected.skipped) this.results.push(this.#row ?? []);
    this.#row = null;
  }

  other(message: Buffer): boolean {
    if (message[0] === readyForQuery) this.#endBatch(message);
    else if (message[0] === errorResponse && this.#isFollowing) return true;
    else if (message[0] === errorResponse && this.#expected.batches > 1) {
      // `pg` considers everything that was submitted ended by an error.
      this.error = message.includes(terminationCode) ? endedInCompany : failedInCompany;
      this.refused = true;
    } else return false;
    return true;
  }

  handleReadyForQuery(): void {
    this.#finish();
  }

  /**
   * After an error from the server, `pg` calls no further methods, but the connection stays ours until it is ready again, or closed: after
   * a fatal error, the connection ends.
   */
  handleError(error: unknown, connection: PgWire): void {
    if (!this.#isFollowing) {
      this.error ??= error;
      if (isServerError(error)) this.refused = true;
    }
    if (!this.written || !isServerError(error)) {
      this.broken = true;
      this.#finish();
      return;
    }
    const onReady = (): void => {
      connection.removeListener('end', onEnd);
      this.#finish();
    };
    const onEnd = (): void => {
      connection.removeListener('readyForQuery', onReady);
      this.broken = true;
      this.#finish();
    };
    connection.once('readyForQuery', onReady);
    connection.once('end', onEnd);
  }

  handlePortalSuspended(): void {}
  handleCopyData(): void {}
  handleCopyInResponse(connection: PgWire): void {
    connection.sendCopyFail('COPY FROM STDIN is not supported here');
  }

  #endBatch(ready: Buffer): void {
    if (this.#finished) return;
    const { statements, begins, hasFollowUp } = this.#expected;
    const isLeftOpen = begins && ready[5] === inFailedTransaction && this.error !== null && !this.#undoing;
    if (ready[5] !== notInTransaction && !isLeftOpen) this.#giveUp(foreignTransaction);
    else if (this.error === null && statements !== null && this.completed !== statements) this.#giveUp(shortReply);
    else if (hasFollowUp && !this.#isFollowing) this.#isFollowing = true;
    else if (isLeftOpen) this.#undo();
    else if (--this.#batchesLeft > 0) this.#goOn();
    else {
      this.#reader!.sink = null;
      // Emitted here because every exchange ends with it: having `pg`'s parser do it would take longer than reading all the rest.
      this.#connection!.emit('readyForQuery', { status: 'I' });
    }
  }

  #undo(): void {
    this.#undoing = true;
    this.#connection!.stream.write(encodeScript('rollback'));
  }

  /** The connection is not in the state that it should be in. Nothing more is read from it. */
  #giveUp(message: string): void {
    this.broken = true;
    if (!this.#isFollowing) this.error ??= new Error(message);
    this.#finish();
  }

  /** A batch is over, and another one follows. */
  #goOn(): void {
    this.#listener.done(this);
    this.results = [];
    this.error = null;
    this.refused = false;
    this.overflown = false;
    this.#rowBytes = 0;
    this.completed = 0;
    this.#row = null;
  }

  #finish(): void {
    if (this.#finished) return;
    this.#finished = true;
    this.callback();
    this.#listener.done(this);
  }
}

function ignore(): void {}
