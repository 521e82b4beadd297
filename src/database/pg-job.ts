/**
 * What some connection is to exchange, and who waits for it: a flight, or a query of rowgraph's own. Knows when it is not to go on, and settles once.
 */
import type { Deadline, StopReason } from '../budget/deadline.ts';
import { DatabaseError, type Field, type Flight } from './database.ts';
import type { PgRun } from './pg-run.ts';
import { type JitOff, toFlightError } from './session-statement.ts';
import { stopError, toDatabaseError, tooLargeError } from './to-database-error.ts';
import { countLeading, encodeFlight, encodeScript } from './wire/encode-flight.ts';
import type { ExpectedReply, PgExchange } from './wire/pg-exchange.ts';
import type { PreparedStatements } from './wire/prepared-statements.ts';

/** How often a job finds a connection that has ended. */
const mostUnsent = 10;

export interface JobSettlement {
  resolve(results: Field[][]): void;
  reject(error: DatabaseError): void;
}

/** Jobs that leave in one write; all but one only where none of them changes anything. The connection counts for the first one's client. */
export class JobGroup {
  readonly client: string | null;
  readonly jobs: readonly PgJob[];

  constructor(jobs: readonly PgJob[]) {
    this.client = jobs[0]!.client;
    this.jobs = jobs;
  }

  /** Ends their wait. */
  refuse(error: DatabaseError): void {
    for (const job of this.jobs) job.reject(error);
  }
}

export class PgJob {
  /** Null for a query outside of flights. */
  readonly flight: Flight | null;
  /** Whose share it uses; null for rowgraph's own. */
  readonly client: string | null;
  /** The script of a query outside of flights. */
  readonly script: { readonly text: string; readonly parameters: Flight['statements'][number]['parameters'] | undefined } | null;
  readonly #deadline: Deadline | null;
  readonly #settlement: JobSettlement;
  /** Where it runs, and with whom; null while it waits. */
  run: { readonly run: PgRun; readonly jobs: readonly PgJob[] } | null = null;
  /** In which it waits for a connection; null where it waits for the end of a turn. */
  group: JobGroup | null = null;
  /** How often its connection was lost before it was sent, and after. */
  readonly #lost = { before: 0, after: 0 };
  isSettled = false;

  private constructor(flight: Flight | null, script: PgJob['script'], deadline: Deadline | null, settlement: JobSettlement) {
    this.flight = flight;
    this.script = script;
    this.client = flight === null ? null : (flight.client ?? '');
    this.#deadline = deadline;
    this.#settlement = settlement;
  }

  static ofFlight(flight: Flight, settlement: JobSettlement): PgJob {
    return new PgJob(flight, null, flight.deadline ?? null, settlement);
  }

  static ofScript(script: NonNullable<PgJob['script']>, deadline: Deadline, settlement: JobSettlement): PgJob {
    return new PgJob(null, script, deadline, settlement);
  }

  /** Whether it changes nothing, and may be sent again. */
  get isRead(): boolean {
    return this.flight === null || this.flight.template !== undefined;
  }

  /**
   * Whether a job whose connection was lost may be sent again: what was not `written` yet a few times, as all idle connections may have ended; what was
   * written once, and only if it cannot have changed anything.
   */
  mayBeResent(written: boolean): boolean {
    if (!written) return ++this.#lost.before <= mostUnsent;
    return this.flight !== null && this.isRead && ++this.#lost.after <= 1;
  }

  /** Calls back when the job is not to go on: at once if that is so already. */
  onStop(listener: (reason: StopReason) => void): void {
    this.#deadline?.onStop(listener);
  }

  resolve(results: Field[][]): void {
    if (this.#settle()) this.#settlement.resolve(results);
  }

  reject(error: DatabaseError): void {
    if (this.#settle()) this.#settlement.reject(error);
  }

  /** Rejects a job that is not to go on. */
  stop(reason: StopReason): void {
    this.reject(stopError(reason));
  }

  /** Its bytes, for a connection on which these statements are prepared. */
  encode(prepared: PreparedStatements | null, jitOff: JitOff): Uint8Array {
    if (this.flight !== null) return encodeFlight(this.flight, prepared, jitOff, true);
    const { text, parameters } = this.script!;
    return parameters ? encodeFlight({ session: null, statements: [{ text, parameters }] }, null) : encodeScript(text);
  }

  /** What comes back for so many jobs of its kind. */
  replyTo(flights: number): ExpectedReply {
    const { flight } = this;
    if (flight === null) return { flights, unwanted: 0, everyRow: true, maxBytes: Infinity };
    return { flights, unwanted: countLeading(flight), everyRow: false, maxBytes: flight.maxBytes ?? Infinity };
  }

  /** Why an exchange of it failed. */
  explain(exchange: PgExchange): DatabaseError {
    const { error, broken, written, refused, overflown, completed } = exchange;
    const { flight } = this;
    const isUndone = this.isRead || !written || (refused && (!broken || completed < countLeading(flight!) + flight!.statements.length));
    if (broken && !isUndone) return outcomeUnknown(error);
    if (overflown) return tooLargeError(flight!, isUndone);
    const stopped = this.#deadline?.stopped ?? null;
    if (stopped !== null) return stopError(stopped);
    return flight === null ? toDatabaseError(error) : toFlightError(error, flight, completed);
  }

  #settle(): boolean {
    if (this.isSettled) return false;
    this.isSettled = true;
    this.#deadline?.onStop(null);
    return true;
  }
}

function outcomeUnknown(cause: unknown): DatabaseError {
  const message = 'The connection ended before PostgreSQL said whether the transaction was committed';
  return new DatabaseError(message, { sqlstate: null, reason: 'outcome-unknown', cause });
}
