/**
 * Sends jobs in one write, and settles each when its reply arrives. In: a connection and the group that it was lent to; out: jobs that are
 * settled or requested again, and the connection given back.
 */
import { Deadline } from '../budget/deadline.ts';
import type { BatchMeasures } from './batch-measures.ts';
import type { ColumnValue } from './database.ts';
import type { ConnectionState, PgConnectionStates } from './pg-connection-states.ts';
import type { PgConnections } from './pg-connections.ts';
import { type JobGroup, PgJob } from './pg-job.ts';
import { PgRun, type RunListener } from './pg-run.ts';
import type { Pipelining } from './pipelining.ts';
import { afterRollback } from './session-statement.ts';
import { isPoolersRefusal, isStalePlan, toDatabaseError } from './to-database-error.ts';
import type { ConnectionUse } from './wire/encode-batch.ts';
import type { PgPoolClient } from './wire/pg-client.ts';
import type { PgExchange } from './wire/pg-exchange.ts';

/**
 * How long a job that was sent waits before it is sent again, in milliseconds. Whatever ended its connection, such as an administrator who
 * terminates all backends, may be about to end the others: by then, those are known to be closed.
 */
const resendMillis = 50;
/** How long cleaning up may take. */
const cleanUpMillis = 5000;

/** What all runs of a database share. */
export interface JobRunContext {
  readonly connections: PgConnections<PgPoolClient, JobGroup>;
  readonly states: PgConnectionStates;
  readonly pipelining: Pipelining<PgJob>;
  readonly measures: BatchMeasures;
  /** The pool's option `stream`: how it opens sockets. */
  readonly stream: unknown;
  /** Puts a job back into the queue. */
  readonly request: (job: PgJob) => void;
  /** Called when connections that have not replied since a time, in milliseconds of `performance.now()`, are likely dead. */
  readonly onSilence: (since: number) => void;
  /** Called when a batch is sent again because of the error that ended its connection. */
  readonly onResend: (error: unknown) => void;
}

/** Sends a job alone. */
export function sendAlone(context: JobRunContext, client: PgPoolClient, group: JobGroup, job: PgJob, mayRetry = true): void {
  const { connections, states } = context;
  const connection = job.aloneOn(states.of(client), connections.isOnSpare(group) && (job.isRead || group.isQuick));
  send(context, client, group, [job], mayRetry, connection);
}

/** Sends jobs in one write, which are prepared for this use. Each batch is a transaction of its own; if one fails, it runs again alone. */
export function sendTogether(
  context: JobRunContext,
  client: PgPoolClient,
  group: JobGroup,
  jobs: readonly PgJob[],
  connection: ConnectionUse,
): void {
  send(context, client, group, jobs, false, connection);
}

function send(
  context: JobRunContext,
  client: PgPoolClient,
  group: JobGroup,
  jobs: readonly PgJob[],
  mayRetry: boolean,
  connection: ConnectionUse,
): void {
  const { connections, request } = context;
  const [first] = jobs as readonly [PgJob];
  let bytes: Uint8Array;
  try {
    bytes = jobs.length === 1 ? first.encode(connection) : PgJob.encodeTogether(jobs, connection);
  } catch (error) {
    // The connection is returned in a later turn, because the work that waits for it may fail in the same way.
    setImmediate(() => connections.giveBack(client, group));
    if (jobs.length === 1) first.reject(toDatabaseError(error));
    else for (const job of jobs) request(job);
    return;
  }
  new PgJobRun(context, client, group, jobs, mayRetry, bytes, connection).start();
}

class PgJobRun implements RunListener {
  readonly jobs: readonly PgJob[];
  readonly run: PgRun;
  readonly #context: JobRunContext;
  readonly #client: PgPoolClient;
  readonly #state: ConnectionState;
  readonly #group: JobGroup;
  readonly #mayRetry: boolean;
  readonly #connection: ConnectionUse;
  readonly #started = performance.now();
  #completed = 0;
  /** Whether the only job is being sent again on the same connection. */
  #isResent = false;
  /** Whether the only job has failed and may have left something on the connection. */
  #needsCleanUp = false;

  constructor(
    context: JobRunContext,
    client: PgPoolClient,
    group: JobGroup,
    jobs: readonly PgJob[],
    mayRetry: boolean,
    bytes: Uint8Array,
    connection: ConnectionUse,
  ) {
    this.#context = context;
    this.#client = client;
    this.#state = context.states.of(client);
    this.#group = group;
    this.jobs = jobs;
    this.#mayRetry = mayRetry;
    this.#connection = connection;
    this.run = new PgRun(client, context.stream, bytes, jobs[0]!.replyTo(jobs.length, connection), this);
  }

  start(): void {
    this.#state.run = this.run;
    for (const job of this.jobs) {
      job.run = this;
      if (job.batch?.marks !== undefined) job.batch.marks.sent = this.#started;
    }
    this.run.start();
  }

  done(exchange: PgExchange): void {
    const { jobs } = this;
    const job = jobs[this.#completed++]!;
    job.run = null;
    const now = performance.now();
    const millis = now - this.#started;
    this.#state.repliedAt = now;
    if (job.batch !== null) this.#context.measures.note(millis, exchange.rowBytes);
    if (jobs.length === 1) this.#finishAlone(job, exchange, millis);
    else {
      this.#finishTogether(job, exchange, millis);
      if (this.#completed < jobs.length && !this.#isAwaited()) this.run.cancel();
    }
  }

  free(error: unknown): void {
    const { connections, request } = this.#context;
    const [first] = this.jobs as readonly [PgJob];
    // It may have been stopped while a cancel request was under way.
    const isResent = this.#isResent && !first.isSettled;
    this.#state.run = null;
    if (isPoolersRefusal(error)) connections.noteRefused(error);
    if (isResent && error === undefined) sendAlone(this.#context, this.#client, this.#group, first, false);
    else if (this.#needsCleanUp && error === undefined) sendAlone(this.#context, this.#client, this.#group, cleanUp(), false);
    else {
      if (isResent) request(first);
      connections.giveBack(this.#client, this.#group, error);
    }
  }

  overflow(): void {
    // The outcome of a mutation must be known.
    if (this.jobs[this.#completed]!.isRead) this.run.abort();
    else this.run.cancel();
  }

  silent(since: number): void {
    this.#context.onSilence(since);
  }

  /** Whether anybody waits for a batch that is not over yet. */
  #isAwaited(): boolean {
    return this.jobs.some(({ isSettled }, index) => index >= this.#completed && !isSettled);
  }

  /** Settles the only job, or has it sent again. */
  #finishAlone(job: PgJob, exchange: PgExchange, millis: number): void {
    const { connections, pipelining } = this.#context;
    const state = this.#state;
    const { error, broken, written, completed, results } = exchange;
    const { batch } = job;
    state.prepared?.settle(completed);
    this.#settleSettings(error, results);
    const resets = batch?.session?.resetsConnection === true;
    this.#needsCleanUp = resets && error !== null && !broken;
    if (resets && error === null) state.settings.noteReset();
    if (error === null && !exchange.overflown) {
      job.resolve(results);
      const origin = batch?.template ?? batch?.origin;
      if (origin !== undefined) pipelining.note(origin, 1, millis);
      connections.noteDone(this.#group);
    } else if (exchange.overflown) job.reject(job.explain(exchange));
    else if (job.isSettled) return;
    else if (this.#mayRetry && !broken && !job.mustStop && isStalePlan(error)) {
      state.prepared?.evictAll();
      this.#isResent = true;
    } else if (broken && job.mayBeResent(written, error)) requestAgain(this.#context, job, error, written);
    else if (job.heldTooLong(exchange)) {
      if (batch?.origin !== undefined) pipelining.noteFailure(batch.origin);
      connections.noteStuck(this.#group);
      this.#context.request(job);
    } else job.reject(job.explain(exchange));
  }

  /** Takes note of the settings that the only job has left on the connection. */
  #settleSettings(error: unknown, results: ColumnValue[][]): void {
    const { settings } = this.#state;
    const { use, unlimits } = this.#connection;
    if (error === null && use === 'connection') settings.settle(results.shift()!);
    else if (error === null && unlimits) settings.noteReset();
    // A script may have committed before it failed.
    else if (unlimits) settings.expire();
  }

  #finishTogether(job: PgJob, exchange: PgExchange, millis: number): void {
    const { pipelining, request } = this.#context;
    const { jobs } = this;
    const template = job.batch!.template!;
    const { error, broken, results, overflown } = exchange;
    if (overflown) job.reject(job.explain(exchange));
    else if (error === null) job.resolve(results);
    if (error === null && !broken) {
      if (this.#completed === jobs.length) pipelining.note(template, jobs.length, millis);
      return;
    }
    pipelining.noteFailure(template);
    for (const each of broken ? jobs.slice(this.#completed - 1) : [job]) {
      each.run = null;
      if (each.isSettled) continue;
      if (!broken) request(each);
      else if (each.mayBeResent(true, error, each === job)) requestAgain(this.#context, each, error, true);
      else each.reject(each.explain(exchange));
    }
  }
}

/** A job for which nobody waits. */
function cleanUp(): PgJob {
  const deadline = new Deadline(cleanUpMillis);
  const end = (): void => deadline.end();
  return PgJob.ofScript({ text: afterRollback, parameters: [], isRepeated: true }, deadline, { resolve: end, reject: end });
}

/** Puts a job back into the queue whose connection was lost with this error. `written`: whether it may have reached the server. */
function requestAgain({ request, onResend }: JobRunContext, job: PgJob, error: unknown, written: boolean): void {
  if (!written) return request(job);
  setTimeout(() => {
    if (job.isSettled) return;
    if (job.batch !== null) onResend(error);
    request(job);
  }, resendMillis);
}
