/**
 * One exchange with one connection of `pg`, as a submittable (as `pg-cursor` is one): bytes that end in one Sync (or one simple query)
 * go out in a single write, and the replies are collected until the server is ready again. Which connection, and what
 * happens after a failure, is `pg-database.ts`'s.
 */
import type { FlightResult } from './database.ts';
import { isServerError } from './to-database-error.ts';

type Row = FlightResult[number];

/** What this file needs of `pg`'s Connection. */
export interface PgConnection {
  readonly stream: { readonly writable: boolean; write(bytes: Uint8Array): unknown };
  once(event: 'readyForQuery' | 'end', listener: () => void): unknown;
  removeListener(event: 'readyForQuery' | 'end', listener: () => void): unknown;
  sendCopyFail(message: string): void;
}

/** The methods that `pg` calls are its protocol for submittables; the fields are read by whoever `done` calls. */
export class PgExchange {
  /** One row a statement (the first; empty where there was none), or every row if asked for. */
  readonly results: Row[] = [];
  /** Null as long as nothing failed. */
  error: unknown = null;
  /** How many statements ran to their end. */
  completed = 0;
  /** Whether the bytes were handed to the socket. If not, another connection may be tried. */
  written = false;
  /** Whether the connection can serve no other exchange. */
  broken = false;
  readonly #bytes: Uint8Array;
  /** How many statements lead the way whose rows nobody wants. */
  readonly #unwanted: number;
  readonly #everyRow: boolean;
  readonly #done: (exchange: PgExchange) => void;
  #row: Row | null = null;
  #finished = false;

  constructor(bytes: Uint8Array, rows: { readonly unwanted: number; readonly every: boolean }, done: (exchange: PgExchange) => void) {
    this.#bytes = bytes;
    this.#unwanted = rows.unwanted;
    this.#everyRow = rows.every;
    this.#done = done;
  }

  /** An error that is returned comes back through `handleError`. */
  submit(connection: PgConnection): Error | undefined {
    if (!connection.stream.writable) return new Error('The connection is closed');
    this.written = true;
    connection.stream.write(this.#bytes);
    return undefined;
  }

  handleDataRow(message: { readonly fields: Row }): void {
    if (this.#everyRow) this.results.push(message.fields);
    else this.#row ??= message.fields;
  }

  handleCommandComplete(): void {
    this.completed++;
    if (!this.#everyRow && this.completed > this.#unwanted) this.results.push(this.#row ?? []);
    this.#row = null;
  }

  handleEmptyQuery(): void {
    this.handleCommandComplete();
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

  handleRowDescription(): void {}
  handlePortalSuspended(): void {}
  handleCopyData(): void {}
  handleCopyInResponse(connection: PgConnection): void {
    connection.sendCopyFail('COPY FROM STDIN is not supported here');
  }

  #finish(): void {
    if (this.#finished) return;
    this.#finished = true;
    this.#done(this);
  }
}
