/** A batch or an internal query that needs a connection, and whoever waits for it. Knows when it must stop, and settles once. */
import type { Deadline, StopReason } from '../budget/deadline.ts';
import { DatabaseError } from '../errors/database-error.ts';
import type { Batch, ColumnValue } from './database.ts';
import { restartMillis } from './opening-pause.ts';
import type { ConnectionState } from './pg-connection-states.ts';
import type { PgRun } from './pg-run.ts';
import { countLeading, countStatements, queryBatch, toBatchError } from './session-statement.ts';
import {
  isOwnFault,
  isPoolersRefusal,
  isServerError,
  isTermination,
  lockNotAvailable,
  queryCancelled,
  stopError,
  toDatabaseError,
  tooLargeError,
} from './to-database-error.ts';
import { type ConnectionUse, encodeBatches, encodeScript, ownerOf } from './wire/encode-batch.ts';
import type { ExpectedReply, PgExchange } from './wire/pg-exchange.ts';

/** How often a job may be lent a connection that turns out to be closed. */
const mostUnsent = 10;

/**
 * How long a query may wait for a lock on a spare connection, in milliseconds as text for PostgreSQL, and how long it may run there. A
 * query that takes longer runs again on another connection.
 */
const spareLockMillis = '250';
const spareMillis = 1000;
/**
 * How long each statement of a mutation may run there. Mutations get no `lock_timeout`: a function that they call could catch that error,
 * unlike a cancellation.
 */
const spareMutationMillis = 250;
const lockTimeout = 'lock_timeout';

const none: readonly string[] = [];

/**
 * Approximate bytes of a value, including the part of the request's variables that it came from. Measured: 10,000 rows of one value each
 * take 2.5 MB.
 */
const bytesOfParameter = 200;

/** A query outside of batches. */
interface Script {
  readonly text: string;
  readonly parameters: Batch['statements'][number]['parameters'] | undefined;
  /** See `QueryOptions`. */
  readonly isRepeated: boolean;
}

export interface JobSettlement {
  resolve(results: ColumnValue[][]): void;
  reject(error: DatabaseError): void;
}

/** How quick recent jobs were. */
interface Pace {
  /** How many jobs of a template may be sent together: one if they are slow, or their speed is unknown. */
  mostOf(template: object): number;
  /** Whether jobs of an origin are known to be quick. */
  isBrief(origin: object): boolean;
}

/**
 * Jobs that leave in one write; several only if none of them changes anything. The connection counts for the first job's client, and all
 * touch the same tables and functions.
 */
export class JobGroup {
  readonly client: string | null;
  readonly touches: readonly string[];
  readonly jobs: readonly PgJob[];
  arrived = 0;
  readonly #pace: Pace;
  #bytes: number | null = null;

  constructor(jobs: readonly PgJob[], pace: Pace) {
    this.#pace = pace;
    this.client = jobs[0]!.client;
    this.touches = jobs[0]!.batch?.touches ?? none;
    this.jobs = jobs;
  }

  get isQuick(): boolean {
    const { batch } = this.jobs[0]!;
    if (batch === null) return false;
    const { template, origin } = batch;
    return template === undefined ? origin !== undefined && this.#pace.isBrief(origin) : this.#pace.mostOf(template) > 1;
  }

  get isRepeated(): boolean {
    return this.jobs[0]!.script?.isRepeated === true;
  }

  get bytes(): number {
    this.#bytes ??= this.jobs.reduce((total, { batch }) => total + (batch === null ? 0 : bytesOf(batch)), 0);
    return this.#bytes;
  }

  /** Ends the wait. */
  refuse(error: DatabaseError): void {
    for (const job of this.jobs) job.reject(error);
  }
}

export class PgJob {
  /** Null for a query outside of batches. */
  readonly batch: Batch | null;
  /** The client whose share it uses; null for internal work. */
  readonly client: string | null;
  readonly script: Script | null;
  readonly #deadline: Deadline | null;
  readonly #settlement: JobSettlement;
  /** The run that it is part of, with all jobs of that run; null while it waits. */
  run: { readonly run: PgRun; readonly jobs: readonly PgJob[] } | null = null;
  /** The group in which it waits for a connection; null while it waits for the end of a turn. */
  group: JobGroup | null = null;
  /** How often its connection was lost before the job was sent. */
  #lostUnsent = 0;
  /** How often after. */
  #lostSent = 0;
  /** When a pooler first refused it, in milliseconds of `performance.now()`. */
  #refusedAt: number | null = null;
  isSettled = false;
  /** The batch with the time limits of a spare connection, if it is sent on one. */
  #briefBatch: Batch | null = null;
  /** How many statements were sent ahead of it. */
  #preceding = 0;

  private constructor(batch: Batch | null, script: Script | null, deadline: Deadline | null, settlement: JobSettlement) {
    this.batch = batch;
    this.script = script;
    this.client = batch === null ? null : (batch.client ?? '');
    this.#deadline = deadline;
    this.#settlement = settlement;
  }

  static ofBatch(batch: Batch, settlement: JobSettlement): PgJob {
    return new PgJob(batch, null, batch.deadline ?? null, settlement);
  }

  static ofScript(script: Script, deadline: Deadline, settlement: JobSettlement): PgJob {
    return new PgJob(null, script, deadline, settlement);
  }

  /** Whether it only reads, and so may be sent again. */
  get isRead(): boolean {
    return this.batch === null || this.batch.template !== undefined;
  }

  /**
   * Whether both may share a connection: queries with the same template, prepared statements and row limit, whose sessions begin in the
   * same way, as all sessions of one role do.
   */
  isAlike({ batch: other }: PgJob): boolean {
    const { batch } = this;
    if (batch === null || other === null || batch.template === undefined || batch.template !== other.template) return false;
    if (ownerOf(batch) !== ownerOf(other) || batch.maxBytes !== other.maxBytes) return false;
    return batch.preparedFor !== undefined || batch.session?.defaults === other.session?.defaults;
  }

  /**
   * Whether a job whose connection was lost may be sent again, unless it must stop. A job that was not `written` may be, a few times,
   * because all idle connections may have ended; one that was written may be once, and only if it cannot have changed anything or ended the
   * connection itself, or for as long as a restart takes if a pooler refused it. `error` is what ended the connection; `wasRunning`: whether this job ran then, and not one sent ahead of it.
   */
  mayBeResent(written: boolean, error: unknown, wasRunning = true): boolean {
    if (this.mustStop) return false;
    if (!written) return ++this.#lostUnsent <= mostUnsent;
    const changesNothing = this.script === null ? this.isRead : this.script.parameters !== undefined;
    if (!changesNothing) return false;
    if (wasRunning && (isOwnFault(error) || (this.batch?.callsFunctions && isTermination(error)))) return false;
    if (!isPoolersRefusal(error)) return ++this.#lostSent <= 1;
    const now = performance.now();
    this.#refusedAt ??= now;
    return now - this.#refusedAt < restartMillis;
  }

  get mustStop(): boolean {
    return (this.#deadline?.stopped ?? null) !== null;
  }

  /** Calls back when the job must stop, immediately if it already must. */
  onStop(listener: (reason: StopReason) => void): void {
    this.#deadline?.onStop(listener);
  }

  resolve(results: ColumnValue[][]): void {
    if (this.#settle()) this.#settlement.resolve(results);
  }

  reject(error: DatabaseError): void {
    if (this.#settle()) this.#settlement.reject(error);
  }

  /** Rejects the job because it must stop. */
  stop(reason: StopReason): void {
    this.reject(stopError(reason));
  }

  /** How to send the job alone on a connection with this state. `isBrief`: to limit its time, because the connection is a spare one. */
  aloneOn({ prepared, settings }: ConnectionState, isBrief: boolean): ConnectionUse {
    const { batch } = this;
    if (batch === null) {
      const isRepeated = this.script?.isRepeated === true;
      const unlimits = isRepeated ? settings.isShorterThan(this.#deadline?.millis ?? Infinity) : settings.isLimited;
      return { prepared: isRepeated ? prepared : null, use: 'transaction', kept: null, unlimits, hasTimers: true };
    }
    this.#briefBatch = isBrief && this.#mayWaitElsewhere() ? runningBriefly(batch) : null;
    const sent = this.#briefBatch ?? batch;
    const use = settings.choose(sent, this.#briefBatch === null);
    const kept = use === 'connection' ? settings.kept : null;
    return { prepared, use, kept, unlimits: settings.isTooShortFor(sent), hasTimers: true };
  }

  /** The bytes of the job. */
  encode(connection: ConnectionUse): Uint8Array {
    if (this.batch !== null) return encodeBatches([this.#briefBatch ?? this.batch], connection);
    const { text, parameters } = this.script!;
    if (!parameters) return encodeScript(text, connection.unlimits);
    return encodeBatches([queryBatch({ text, parameters })], connection);
  }

  /** The bytes of several jobs that are batches, without limiting their time: they never share a spare connection. */
  static encodeTogether(jobs: readonly PgJob[], connection: ConnectionUse): Uint8Array {
    return encodeBatches(
      jobs.map(({ batch }) => batch!),
      connection,
    );
  }

  /** The reply to expect for this many jobs like this one. */
  replyTo(batches: number, { use, unlimits }: ConnectionUse): ExpectedReply {
    const { batch, script } = this;
    this.#preceding = unlimits ? 1 : 0;
    if (batch === null) {
      if (!script?.parameters) return { batches, statements: null, skipped: 0, everyRow: true, maxBytes: Infinity };
      const skipped = this.#preceding + 1;
      return { batches, statements: skipped + 1, skipped, everyRow: true, maxBytes: Infinity };
    }
    const statements = this.#preceding + countStatements(batch);
    // The last of the leading statements says whether the connection keeps settings.
    const skipped = this.#preceding + countLeading(batch) - (use === 'connection' ? 1 : 0);
    return { batches, statements, skipped, everyRow: false, maxBytes: batch.maxBytes ?? Infinity };
  }

  /** Whether PostgreSQL stopped it because it held a spare connection for too long. */
  heldTooLong({ error }: PgExchange): boolean {
    if (this.#briefBatch === null || !isServerError(error) || this.mustStop) return false;
    const ownMillis = this.batch?.session?.defaults?.statementTimeout ?? Infinity;
    if (error.code === queryCancelled) return ownMillis > (this.isRead ? spareMillis : spareMutationMillis);
    return this.isRead && error.code === lockNotAvailable;
  }

  /** The error with which an exchange of it failed. */
  explain(exchange: PgExchange): DatabaseError {
    const { error, broken, written, refused, overflown } = exchange;
    const { batch } = this;
    const completed = Math.max(0, exchange.completed - this.#preceding);
    const isUndone = this.isRead || !written || (refused && (!broken || completed < countStatements(batch!)));
    if (broken && !isUndone) return outcomeUnknown(error);
    if (overflown) return tooLargeError(batch!, isUndone);
    const stopped = this.#deadline?.stopped ?? null;
    if (stopped !== null) return stopError(stopped);
    return batch === null ? toDatabaseError(error) : toBatchError(error, batch, completed);
  }

  /** A query keeps the `lock_timeout` of its role. */
  #mayWaitElsewhere(): boolean {
    return !this.isRead || !this.batch?.session?.defaults?.settings.some(([name]) => name === lockTimeout);
  }

  #settle(): boolean {
    if (this.isSettled) return false;
    this.isSettled = true;
    this.#deadline?.onStop(null);
    return true;
  }
}

/** The same batch with the time limits of a spare connection. */
function runningBriefly(batch: Batch): Batch {
  const { session } = batch;
  if (session === null) return batch;
  const { statementTimeout = null, isolation = null, mayWrite = false, settings = [] } = session.defaults ?? {};
  const isRead = batch.template !== undefined;
  const defaults = {
    statementTimeout: Math.min(statementTimeout ?? Infinity, isRead ? spareMillis : spareMutationMillis),
    isolation,
    mayWrite,
    settings: isRead ? [...settings, [lockTimeout, spareLockMillis] as const] : settings,
  };
  return { ...batch, session: { ...session, defaults } };
}

/** Approximate bytes that a batch holds in memory. */
function bytesOf({ statements }: Batch): number {
  let total = 0;
  for (const { text, parameters } of statements) {
    total += text.length;
    for (const value of parameters) total += bytesOfParameter + (value?.length ?? 0);
  }
  return total;
}

function outcomeUnknown(cause: unknown): DatabaseError {
  const message = 'The connection was lost before PostgreSQL confirmed whether the transaction was committed';
  return new DatabaseError(message, { sqlstate: null, reason: 'outcome-unknown', cause });
}
