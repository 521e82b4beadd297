/**
 * One exchange with one connection of `pg`, as a submittable (as `pg-cursor` is one): the bytes of a batch, or of several that share the
 * connection, go out in a single write, and the replies are collected until the server is ready again. Which connection that is, and
 * what happens after a failure, is up to `pg-job-run.ts`.
 *
 * Leans on undocumented behaviour of `pg` (`test/contracts/pg.test.ts`): how a client drives a submittable, its connection's stream and events, and that its
 * parser takes messages one by one.
 */
import type { ColumnValue } from '../database.ts';
import { isServerError } from '../to-database-error.ts';
import { type DataSource, type Interception, intercept } from './pg-socket.ts';
import { ReplyReader, type ReplySink } from './reply-reader.ts';

/** What this file needs of `pg`'s Connection. */
export interface PgConnection {
  readonly stream: DataSource & {
    readonly writable: boolean;
    write(bytes: Uint8Array): unknown;
    destroy(): unknown;
  };
  /** How `pg`'s parser tells its client that the server is ready. */
  emit(event: 'readyForQuery', message: { readonly status: string }): unknown;
  once(event: 'readyForQuery' | 'end', listener: () => void): unknown;
  removeListener(event: 'readyForQuery' | 'end', listener: () => void): unknown;
  sendCopyFail(message: string): void;
}

/** What comes back for the bytes of an exchange. */
export interface ExpectedReply {
  /** How many batches there are: how many times the server reports that it is ready. */
  readonly batches: number;
  /** How many statements lead the way of each whose rows nobody wants. */
  readonly skipped: number;
  /** Whether every row is wanted, or the first one of each statement. */
  readonly everyRow: boolean;
  /** Maximum bytes in the rows of each batch. */
  readonly maxBytes: number;
}

/** The callbacks. */
export interface ExchangeListener {
  /** Called for each batch when it is over. */
  done(exchange: PgExchange): void;
  /** Called when the rows of a batch exceed the allowed bytes: further rows are dropped, and the server must be stopped. */
  overflow(): void;
}

const errorResponse = 0x45;
const readyForQuery = 0x5a;
/** In bytes. Above this size a copy costs more than it saves. */
const longestString = 16 * 1024;

/** Of a batch in company: why it failed is not read, as it runs again. */
const failedInCompany = new Error('Another batch that shared the connection has failed');
/** But for the end of the connection, which decides whether it may run again. */
const endedInCompany = Object.assign(new Error('terminating connection due to administrator command'), {
  severity: 'FATAL',
  code: '57P01',
});
const terminationCode = Buffer.from('\0C57P01\0');

/** The methods that `pg` calls are its protocol for submittables; the fields are read by whoever `done` calls. */
export class PgExchange implements ReplySink<ColumnValue> {
  /** One row a statement (the first; empty if there was none), or every row if asked for. Of one batch, as the next two. */
  results: ColumnValue[][] = [];
  /** Null unless something failed. */
  error: unknown = null;
  /** How many statements ran to their end. */
  completed = 0;
  /** Whether the bytes were handed to the socket. If not, another connection may be tried. */
  written = false;
  /** Whether the connection can serve no other exchange, and no other batch of this one. */
  broken = false;
  /** Whether the server said that a batch failed, and so that nothing of it remains. */
  refused = false;
  /** Whether the rows exceeded the allowed bytes. */
  overflown = false;
  readonly #bytes: Uint8Array;
  readonly #expected: ExpectedReply;
  readonly #listener: ExchangeListener;
  #rowBytes = 0;
  #batchesLeft: number;
  #row: ColumnValue[] | null = null;
  #connection: PgConnection | null = null;
  #interception: Interception | null = null;
  #finished = false;

  constructor(bytes: Uint8Array, expected: ExpectedReply, listener: ExchangeListener) {
    this.#bytes = bytes;
    this.#expected = expected;
    this.#batchesLeft = expected.batches;
    this.#listener = listener;
  }

  /**
   * Writes, and reads what comes back in the place of `pg`'s own parser, which decodes every value. Messages that are not about rows are
   * handed on to it. The connection is idle at this point, so that its parser holds no half of a message. An error that is returned
   * comes back through `handleError`.
   */
  submit(connection: PgConnection): Error | undefined {
    const { stream } = connection;
    if (!stream.writable) return new Error('The connection is closed');
    this.#connection = connection;
    this.#interception = intercept(stream, new ReplyReader(this));
    this.written = true;
    stream.write(this.#bytes);
    return undefined;
  }

  /** Bytes in the rows of the batch so far. */
  get rowBytes(): number {
    return this.#rowBytes;
  }

  /** Ends the connection, and the exchange with it. */
  abort(): void {
    this.#connection?.stream.destroy();
  }

  admits(length: number): boolean {
    this.#rowBytes += length;
    if (this.#rowBytes <= this.#expected.maxBytes) return true;
    if (!this.overflown) {
      this.overflown = true;
      this.#listener.overflow();
    }
    return false;
  }

  wantsRow(): boolean {
    return this.#expected.everyRow || (this.#row === null && this.completed >= this.#expected.skipped);
  }

  value(bytes: Buffer, start: number, end: number, mayKeep: boolean): ColumnValue {
    if (this.#expected.everyRow) return bytes.toString('utf8', start, end);
    if (end - start <= longestString) return { latin1: bytes.toString('latin1', start, end) };
    const value = bytes.subarray(start, end);
    return [mayKeep ? value : Buffer.from(value)];
  }

  row(values: ColumnValue[]): void {
    if (this.#expected.everyRow) this.results.push(values);
    else this.#row = values;
  }

  complete(): void {
    this.completed++;
    if (!this.#expected.everyRow && this.completed > this.#expected.skipped) this.results.push(this.#row ?? []);
    this.#row = null;
  }

  other(message: Buffer): void {
    const interception = this.#interception!;
    if (message[0] === readyForQuery) {
      if (--this.#batchesLeft > 0) return this.#goOn();
      interception.giveBack();
      // Said here, since it comes with every exchange: `pg`'s parser would take longer to say it than all the rest takes to read.
      this.#connection!.emit('readyForQuery', { status: String.fromCharCode(message[5]!) });
    } else if (message[0] === errorResponse && this.#expected.batches > 1) {
      // For `pg` an error ends all that was submitted.
      this.error = message.includes(terminationCode) ? endedInCompany : failedInCompany;
      this.refused = true;
    } else interception.pass(message);
  }

  handleReadyForQuery(): void {
    this.#finish();
  }

  /**
   * After an error of the server `pg` tells us nothing more, but the connection is ours until it is ready again, or gone: a fatal
   * error is followed by the end of the connection.
   */
  handleError(error: unknown, connection: PgConnection): void {
    this.error ??= error;
    if (isServerError(error)) this.refused = true;
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
  handleCopyInResponse(connection: PgConnection): void {
    connection.sendCopyFail('COPY FROM STDIN is not supported here');
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
    this.#listener.done(this);
  }
}
