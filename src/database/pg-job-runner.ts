/**
 * Runs jobs on a connection: which of them share a write, and what becomes of each when its reply is there. In: a connection and the group that it was
 * lent to; out: settled jobs, or jobs that are requested again, and the connection given back.
 */

import { BatchMeasures } from './batch-measures.ts';
import type { PgConnectionStates } from './pg-connection-states.ts';
import type { PgConnections } from './pg-connections.ts';
import type { JobGroup, PgJob } from './pg-job.ts';
import type { PgPoolClient } from './pg-pool.ts';
import { PgRun } from './pg-run.ts';
import type { Pipelining } from './pipelining.ts';
import { isStalePlan, toDatabaseError } from './to-database-error.ts';
import { isPrepared } from './wire/encode-batch.ts';
import type { PgExchange } from './wire/pg-exchange.ts';

export class PgJobRunner {
  readonly measures = new BatchMeasures();
  readonly #connections: PgConnections<PgPoolClient, JobGroup>;
  readonly #states: PgConnectionStates;
  readonly #pipelining: Pipelining<PgJob>;
  readonly #request: (job: PgJob) => void;
  readonly #onSilence: () => void;

  /** `request` puts a job into the queue again. `onSilence` is called when the server cannot be reached over the network. */
  constructor(
    connections: PgConnections<PgPoolClient, JobGroup>,
    states: PgConnectionStates,
    pipelining: Pipelining<PgJob>,
    request: (job: PgJob) => void,
    onSilence: () => void,
  ) {
    this.#connections = connections;
    this.#states = states;
    this.#pipelining = pipelining;
    this.#request = request;
    this.#onSilence = onSilence;
  }

  /** Runs a group on a connection that was lent to it, and gives the connection back. */
  serve(client: PgPoolClient, group: JobGroup): void {
    const jobs = this.#gather(client, group);
    const first = jobs[0];
    if (first === undefined) setImmediate(() => this.#connections.giveBack(client, group));
    else if (jobs.length === 1 || (this.#isPrepared(client, first) && !this.#connections.isOnSpare(group)))
      this.#send(client, group, jobs, true);
    else {
      // If parsing a statement failed, it would be unknown for which of several batches; and no batch should wait for others on a spare connection.
      this.#send(client, group, [first], true);
      for (const job of jobs.slice(1)) this.#request(job);
    }
  }

  /** The jobs of a group that are still wanted, together with waiting jobs of the same template. */
  #gather(client: PgPoolClient, group: JobGroup): readonly PgJob[] {
    if (group.jobs.length === 1 && !this.#connections.hasWaiting && !group.jobs[0]!.isSettled) return group.jobs;
    const jobs = group.jobs.filter(({ isSettled }) => !isSettled);
    const [first] = jobs;
    const template = first?.batch?.template;
    if (template === undefined || !this.#states.prepares || this.#connections.isOnSpare(group)) return jobs;
    const room = this.#pipelining.mostOf(template) - jobs.length;
    if (room <= 0 || !this.#isPrepared(client, first!)) return jobs;
    const isAlike = (other: JobGroup): boolean => other.jobs.length === 1 && first!.isAlike(other.jobs[0]!);
    for (const other of this.#connections.takeAlike(isAlike, room)) jobs.push(...other.jobs.filter(({ isSettled }) => !isSettled));
    return jobs;
  }

  #isPrepared(client: PgPoolClient, { batch }: PgJob): boolean {
    const { prepared, jitOff } = this.#states.of(client);
    return batch !== null && prepared !== null && isPrepared(batch, prepared, jitOff);
  }

  /** Sends jobs in one write. Each batch is a transaction of its own; one that fails in company runs again, alone. */
  #send(client: PgPoolClient, group: JobGroup, jobs: readonly PgJob[], mayRetry: boolean): void {
    const state = this.#states.of(client);
    const isBrief = this.#connections.isOnSpare(group) && (jobs[0]!.isRead || group.isQuick);
    let bytes: Uint8Array;
    try {
      bytes =
        jobs.length === 1
          ? jobs[0]!.encode(state.prepared, state.jitOff, isBrief)
          : Buffer.concat(jobs.map((job) => job.encode(state.prepared, state.jitOff, isBrief)));
    } catch (error) {
      // The connection is returned in a separate turn, because whatever waits for it may fail in the same way.
      setImmediate(() => this.#connections.giveBack(client, group));
      if (jobs.length === 1) jobs[0]!.reject(toDatabaseError(error));
      else for (const job of jobs) this.#request(job);
      return;
    }
    const started = performance.now();
    let completed = 0;
    let resend: (() => void) | null = null;
    const run = new PgRun(client, bytes, jobs[0]!.replyTo(jobs.length), {
      done: (exchange) => {
        const job = jobs[completed++]!;
        job.run = null;
        const millis = performance.now() - started;
        if (job.batch !== null) this.measures.note(millis, exchange.rowBytes);
        if (jobs.length === 1) resend = this.#finishAlone(client, group, job, exchange, mayRetry, millis);
        else this.#finishInCompany(jobs, completed, exchange, millis);
        if (completed < jobs.length && jobs.slice(completed).every(({ isSettled }) => isSettled)) run.cancel();
      },
      free: (error) => {
        state.run = null;
        if (resend !== null && error === undefined) resend();
        else {
          if (resend !== null) this.#request(jobs[0]!);
          this.#connections.giveBack(client, group, error);
        }
      },
      overflow: () => {
        // The outcome of a mutation must be known.
        if (jobs[completed]!.isRead) run.abort();
        else run.cancel();
      },
      silent: () => this.#onSilence(),
    });
    state.run = run;
    const running = { run, jobs };
    for (const job of jobs) {
      job.run = running;
      if (job.batch?.marks !== undefined) job.batch.marks.sent = started;
    }
    run.start();
  }

  /** Settles the only job of an exchange. Returns a function that sends it again over the same connection, if that helps. */
  #finishAlone(
    client: PgPoolClient,
    group: JobGroup,
    job: PgJob,
    exchange: PgExchange,
    mayRetry: boolean,
    millis: number,
  ): (() => void) | null {
    const state = this.#states.of(client);
    const { error, broken, written, completed, results } = exchange;
    const { batch } = job;
    state.prepared?.settle(completed);
    if (error === null && !exchange.overflown) {
      if (batch?.session && state.jitOff === 'connection') state.jitOff = 'nowhere';
      job.resolve(results);
      const origin = batch?.template ?? batch?.origin;
      if (origin !== undefined) this.#pipelining.note(origin, 1, millis);
      this.#connections.noteDone(group);
    } else if (exchange.overflown) job.reject(job.explain(exchange));
    else if (job.isSettled) return null;
    else if (mayRetry && !broken && isStalePlan(error)) {
      state.prepared?.evictAll();
      return () => this.#send(client, group, [job], false);
    } else if (broken && job.mayBeResent(written, error)) this.#request(job);
    else if (job.heldTooLong(exchange)) {
      if (batch?.origin !== undefined) this.#pipelining.noteFailure(batch.origin);
      this.#connections.noteStuck(group);
      this.#request(job);
    } else job.reject(job.explain(exchange));
    return null;
  }

  #finishInCompany(jobs: readonly PgJob[], completed: number, exchange: PgExchange, millis: number): void {
    const job = jobs[completed - 1]!;
    const template = job.batch!.template!;
    const { error, broken, results, overflown } = exchange;
    if (overflown) job.reject(job.explain(exchange));
    else if (error === null) job.resolve(results);
    if (error === null && !broken) {
      if (completed === jobs.length) this.#pipelining.note(template, jobs.length, millis);
      return;
    }
    this.#pipelining.noteFailure(template);
    for (const each of broken ? jobs.slice(completed - 1) : [job]) {
      each.run = null;
      if (each.isSettled) continue;
      if (!broken || each.mayBeResent(true, each === job ? error : null)) this.#request(each);
      else each.reject(each.explain(exchange));
    }
  }
}
