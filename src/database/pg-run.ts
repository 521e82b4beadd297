/**
 * One run of a batch, or of a query of rowgraph's own, from its arrival to its result: its state, when it stops, and when it is tried
 * again.
 */
import type { Deadline, StopReason } from '../budget/deadline.ts';
import { DatabaseError } from '../errors/database-error.ts';
import type { Batch, ColumnValue, Statement } from './database.ts';
import type { Pace } from './pace.ts';
import type { QueuedWork } from './scheduler.ts';
import { countLeading, countStatements, queryBatch, toBatchError } from './session-statement.ts';
import {
  isOwnFault,
  isPoolersRefusal,
  isServerError,
  isStalePlan,
  isTermination,
  lockNotAvailable,
  queryCancelled,
  stopError,
  toDatabaseError,
  tooLargeError,
} from './to-database-error.ts';
import { encodeBatches, encodeScript, ownerOf } from './wire/encode-batch.ts';
import type { ExpectedReply, PgExchange } from './wire/pg-exchange.ts';
import type { PreparedStatements } from './wire/prepared-statements.ts';

/** What a run sends. A query returns all rows of its last statement, a script those of all. */
export type Task =
  | { readonly kind: 'batch'; readonly batch: Batch }
  | { readonly kind: 'query'; readonly batch: Batch }
  | { readonly kind: 'script'; readonly text: string };

type RunState =
  /** It has just arrived: runs that arrive in one turn of the event loop may be sent together. */
  | { readonly kind: 'new' }
  | { readonly kind: 'queued'; readonly queue: { withdraw(run: PgRun): void } }
  | { readonly kind: 'sent'; readonly flight: { cancelUnlessAwaited(): void } }
  /** It is about to be queued again. */
  | { readonly kind: 'pausing' }
  | { readonly kind: 'settled' };

/** Why a run that was sent has no result, and may get one if it is tried again. */
export type Fault =
  /** Its connection turned out to be closed. All idle ones may be. */
  | 'unsent'
  /** Its connection was lost. */
  | 'lost'
  /** A pooler ended the connection because it does not reach PostgreSQL. */
  | 'unreached'
  /** A prepared statement of its connection is gone, or its plan no longer holds. */
  | 'stale-plan'
  /** It was sent together with others, and failed. */
  | 'in-company'
  /** It held a reserved connection for too long. */
  | 'held-reserve';

/** How long a server that was there may be away, as during a restart, before work is refused instead of waiting for it. */
export const restartMillis = 2_000;
/**
 * How long a run that was sent waits before it is sent again. Whatever ended its connection, such as an administrator who terminates all
 * backends, may be about to end the others: by then, those are known to be closed.
 */
const resendMillis = 50;

interface Retry {
  /** Whether what may have changed something is tried again, too: it has been undone, or was never sent. */
  readonly mayWrite: boolean;
  readonly most: number;
  /** For how long after the first fault of the kind. */
  readonly withinMillis: number;
  readonly pauseMillis: number;
}

/** What is tried again after each fault. */
export const retries: Readonly<Record<Fault, Retry>> = {
  unsent: { mayWrite: true, most: 10, withinMillis: Infinity, pauseMillis: 0 },
  lost: { mayWrite: false, most: 1, withinMillis: Infinity, pauseMillis: resendMillis },
  unreached: { mayWrite: false, most: Infinity, withinMillis: restartMillis, pauseMillis: resendMillis },
  'stale-plan': { mayWrite: true, most: 1, withinMillis: Infinity, pauseMillis: 0 },
  'in-company': { mayWrite: true, most: 1, withinMillis: Infinity, pauseMillis: 0 },
  'held-reserve': { mayWrite: true, most: Infinity, withinMillis: Infinity, pauseMillis: 0 },
};

/**
 * How long a query may wait for a lock on a reserved connection, in milliseconds as text for PostgreSQL, and how long it may run there. A
 * query that takes longer runs again on another connection.
 */
const reserveLockMillis = '250';
const reserveMillis = 1000;
/**
 * How long each statement of a mutation may run there. Mutations get no `lock_timeout`: a function that they call could catch that error,
 * unlike a cancellation.
 */
const reserveMutationMillis = 250;
const lockTimeout = 'lock_timeout';

const none: readonly string[] = [];
const plain = { begins: false, hasFollowUp: false };

/**
 * Approximate bytes of a value, including the part of the request's variables that it came from. Measured: 10,000 rows of one value each
 * take 2.5 MB.
 */
const bytesOfParameter = 200;

interface Settlement {
  resolve(results: ColumnValue[][]): void;
  reject(error: DatabaseError): void;
}

export class PgRun implements QueuedWork {
  readonly task: Task;
  readonly client: string | null;
  readonly touches: readonly string[];
  arrived = 0;
  readonly #deadline: Deadline | null;
  readonly #settlement: Settlement;
  readonly #pace: Pace;
  /** How often it met each fault, and since when; null if none. */
  #faults: Map<Fault, { readonly count: number; readonly since: number }> | null = null;
  #state: RunState = { kind: 'new' };
  #bytes: number | null = null;
  /** The batch with the time limits of a reserved connection, if it was sent on one. */
  #briefBatch: Batch | null = null;

  /** From now on, it stops when it must. */
  constructor(task: Task, deadline: Deadline | null, pace: Pace, settlement: Settlement) {
    this.task = task;
    this.client = task.kind === 'batch' ? (task.batch.client ?? '') : null;
    this.touches = (task.kind === 'batch' && task.batch.touches) || none;
    this.#deadline = deadline;
    this.#pace = pace;
    this.#settlement = settlement;
    deadline?.onStop((reason) => this.#stop(reason));
  }

  static ofQuery(query: Statement, deadline: Deadline, pace: Pace, settlement: Settlement): PgRun {
    return new PgRun({ kind: 'query', batch: queryBatch(query) }, deadline, pace, settlement);
  }

  get state(): RunState {
    return this.#state;
  }

  get isSettled(): boolean {
    return this.#state.kind === 'settled';
  }

  get batch(): Batch | null {
    return this.task.kind === 'batch' ? this.task.batch : null;
  }

  /** What its batch was made from: batches of one kind take about equally long. */
  get kind(): object | undefined {
    return this.batch?.template ?? this.batch?.origin;
  }

  get isQuick(): boolean {
    const { batch } = this;
    if (batch === null) return false;
    const { template, origin } = batch;
    return template === undefined ? origin !== undefined && this.#pace.isBrief(origin) : this.#pace.mostTogether(template) > 1;
  }

  get bytes(): number {
    this.#bytes ??= this.batch === null ? 0 : bytesOf(this.batch);
    return this.#bytes;
  }

  /**
   * Whether it may be sent together with others: a query of a client that has not failed in company. Not if it begins its transaction
   * itself, in which the next one would be if it failed.
   */
  get isSociable(): boolean {
    const { batch } = this;
    if (batch?.template === undefined || batch.followUp !== undefined) return false;
    return batch.session?.hasNodes !== true && this.#faults?.has('in-company') !== true;
  }

  /** Whether nobody needs to know how it ends: it changes nothing, or is a script of rowgraph's own. */
  get isForgettable(): boolean {
    return this.batch === null || this.batch.template !== undefined;
  }

  /**
   * Whether both may be sent together: queries with the same template, prepared statements and row limit, whose sessions begin in the same
   * way, as all sessions of one role do.
   */
  isAlike(other: PgRun): boolean {
    const mine = this.batch;
    const theirs = other.batch;
    if (mine === null || theirs === null || !this.isSociable || !other.isSociable || mine.template !== theirs.template) return false;
    if (ownerOf(mine) !== ownerOf(theirs) || mine.maxBytes !== theirs.maxBytes) return false;
    if (mine.precondition?.text !== theirs.precondition?.text) return false;
    return mine.preparedFor !== undefined || mine.session?.defaults === theirs.session?.defaults;
  }

  noteQueued(queue: { withdraw(run: PgRun): void }): void {
    this.#move({ kind: 'queued', queue });
  }

  noteSent(flight: { cancelUnlessAwaited(): void }): void {
    this.#move({ kind: 'sent', flight });
    if (this.batch?.marks !== undefined) this.batch.marks.sent = performance.now();
  }

  resolve(results: ColumnValue[][]): void {
    if (this.#settle()) this.#settlement.resolve(results);
  }

  reject(error: DatabaseError): void {
    if (this.#settle()) this.#settlement.reject(error);
  }

  /** The bytes to send alone. `isReserved`: on a reserved connection, where its time is limited. */
  encode(prepared: PreparedStatements | null, isReserved: boolean): Uint8Array {
    const { task } = this;
    if (task.kind === 'script') return encodeScript(task.text);
    this.#briefBatch = isReserved && this.#mayRunElsewhere() ? runningBriefly(task.batch) : null;
    return encodeBatches([this.#briefBatch ?? task.batch], prepared);
  }

  /** The reply to expect for this many runs like this one. */
  replyTo(batches: number): ExpectedReply {
    const { task } = this;
    if (task.kind === 'script') return { ...plain, batches, statements: null, skipped: 0, everyRow: true, maxBytes: Infinity };
    const statements = countStatements(task.batch);
    if (task.kind === 'query') return { ...plain, batches, statements, skipped: statements - 1, everyRow: true, maxBytes: Infinity };
    const { session, maxBytes = Infinity, followUp } = task.batch;
    const transactions = { begins: session?.hasNodes === true, hasFollowUp: followUp !== undefined };
    return { batches, statements, skipped: countLeading(task.batch), everyRow: false, maxBytes, ...transactions };
  }

  /** The fault with which an exchange of it alone ended; null if it failed by itself. */
  faultOf({ error, broken, written }: PgExchange): Fault | null {
    if (broken && !written) return 'unsent';
    if (broken) return isOwnFault(error) || (this.batch?.callsFunctions && isTermination(error)) ? null : lossBy(error);
    if (isStalePlan(error)) return 'stale-plan';
    return this.#heldReserve(error) ? 'held-reserve' : null;
  }

  /** Whether it is tried again after a fault. Counts the fault. */
  mayRetry(fault: Fault): boolean {
    if (this.isSettled || (this.#deadline?.stopped ?? null) !== null) return false;
    const { mayWrite, most, withinMillis } = retries[fault];
    if (!mayWrite && !(this.task.kind === 'query' || this.batch?.template !== undefined)) return false;
    const now = performance.now();
    this.#faults ??= new Map();
    const { count, since } = this.#faults.get(fault) ?? { count: 0, since: now };
    this.#faults.set(fault, { count: count + 1, since });
    return count < most && now - since < withinMillis;
  }

  /** Waits before it is queued again. */
  pause(millis: number, queueAgain: () => void): void {
    this.#move({ kind: 'pausing' });
    setTimeout(() => {
      if (!this.isSettled) queueAgain();
    }, millis);
  }

  /** The error with which an exchange of it failed. */
  explain(exchange: PgExchange): DatabaseError {
    const { error, broken, written, refused, overflown, completed } = exchange;
    const { batch } = this;
    const isUndone = batch === null || this.isForgettable || !written || (refused && (!broken || completed < countStatements(batch)));
    if (broken && !isUndone) return outcomeUnknown(error);
    if (overflown && batch !== null) return tooLargeError(batch, isUndone);
    const stopped = this.#deadline?.stopped ?? null;
    if (stopped !== null) return stopError(stopped);
    return batch === null ? toDatabaseError(error) : toBatchError(error, batch, completed);
  }

  /** Only PostgreSQL knows whether a mutation finished in time, so its reply is awaited for as long as a cancel request takes. */
  #stop(reason: StopReason): void {
    const state = this.#state;
    if (state.kind === 'queued') state.queue.withdraw(this);
    if (state.kind !== 'sent' || this.isForgettable) this.reject(stopError(reason));
    if (state.kind === 'sent') state.flight.cancelUnlessAwaited();
  }

  /** A query keeps the `lock_timeout` of its role. */
  #mayRunElsewhere(): boolean {
    const { batch } = this;
    if (batch === null) return false;
    return batch.template === undefined || !batch.session?.defaults?.settings.some(([name]) => name === lockTimeout);
  }

  /** Whether PostgreSQL stopped it because it held a reserved connection for too long. */
  #heldReserve(error: unknown): boolean {
    if (this.#briefBatch === null || !isServerError(error)) return false;
    const isRead = this.#briefBatch.template !== undefined;
    const ownMillis = this.batch?.session?.defaults?.statementTimeout ?? Infinity;
    if (error.code === queryCancelled) return ownMillis > (isRead ? reserveMillis : reserveMutationMillis);
    return isRead && error.code === lockNotAvailable;
  }

  #move(state: RunState): void {
    if (!this.isSettled) this.#state = state;
  }

  #settle(): boolean {
    if (this.isSettled) return false;
    this.#state = { kind: 'settled' };
    this.#deadline?.onStop(null);
    return true;
  }
}

/** The fault of a run whose connection was lost with this error. */
export function lossBy(error: unknown): Fault {
  return isPoolersRefusal(error) ? 'unreached' : 'lost';
}

/** The same batch with the time limits of a reserved connection. */
function runningBriefly(batch: Batch): Batch {
  const { session } = batch;
  if (session === null) return batch;
  const { statementTimeout = null, isolation = null, mayWrite = false, settings = [] } = session.defaults ?? {};
  const isRead = batch.template !== undefined;
  const defaults = {
    statementTimeout: Math.min(statementTimeout ?? Infinity, isRead ? reserveMillis : reserveMutationMillis),
    isolation,
    mayWrite,
    settings: isRead ? [...settings, [lockTimeout, reserveLockMillis] as const] : settings,
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
