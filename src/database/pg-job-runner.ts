/** Decides which jobs share a write to a connection. In: a connection and the group that it was lent to; out: runs of jobs (`pg-job-run.ts`). */
import type { JobGroup, PgJob } from './pg-job.ts';
import { type JobRunContext, sendAlone, sendTogether } from './pg-job-run.ts';
import { type ConnectionUse, isPrepared } from './wire/encode-batch.ts';
import type { PgPoolClient } from './wire/pg-client.ts';

export class PgJobRunner {
  readonly #context: JobRunContext;

  constructor(context: JobRunContext) {
    this.#context = context;
  }

  /** Runs a group on a connection that was lent to it, and gives the connection back. */
  serve(client: PgPoolClient, group: JobGroup): void {
    const { connections, request } = this.#context;
    const jobs = this.#gather(client, group);
    const first = jobs[0];
    if (first === undefined) setImmediate(() => connections.giveBack(client, group));
    else if (jobs.length === 1) sendAlone(this.#context, client, group, first);
    else {
      const use = connections.isOnSpare(group) ? null : this.#togetherOn(client, jobs);
      if (use !== null) return sendTogether(this.#context, client, group, jobs, use);
      // After a failed Parse it would be unknown which of several batches failed; and on a spare connection, no batch should wait for
      // others.
      sendAlone(this.#context, client, group, first);
      for (const job of jobs.slice(1)) request(job);
    }
  }

  /** The jobs of a group that have not stopped, together with waiting jobs of the same template. */
  #gather(client: PgPoolClient, group: JobGroup): readonly PgJob[] {
    const { connections, states, pipelining } = this.#context;
    if (group.jobs.length === 1 && !connections.hasWaiting && !group.jobs[0]!.isSettled) return group.jobs;
    const jobs = group.jobs.filter(({ isSettled }) => !isSettled);
    const [first] = jobs;
    const template = first?.batch?.template;
    if (template === undefined || !states.prepares || connections.isOnSpare(group)) return jobs;
    const room = pipelining.mostOf(template) - jobs.length;
    if (room <= 0 || this.#togetherOn(client, jobs) === null) return jobs;
    const isAlike = (other: JobGroup): boolean => other.jobs.length === 1 && first!.isAlike(other.jobs[0]!);
    for (const other of connections.takeAlike(isAlike, room)) jobs.push(...other.jobs.filter(({ isSettled }) => !isSettled));
    return jobs;
  }

  /** How to send jobs together; null if the first must be sent alone, because something is to be parsed or kept. */
  #togetherOn(client: PgPoolClient, jobs: readonly PgJob[]): ConnectionUse | null {
    const { prepared, settings } = this.#context.states.of(client);
    const uses = new Set(jobs.map(({ batch }) => (batch === null ? 'connection' : settings.choose(batch, true))));
    if (uses.has('connection')) return null;
    // If one needs a time limit of its own, each gets its own.
    const use = uses.has('kept') && uses.size === 1 ? 'kept' : uses.has('transaction') ? 'transaction' : 'limited';
    const connection = { prepared, use, kept: null, unlimits: false, hasTimers: true } as const;
    return isPrepared(jobs[0]!.batch!, connection) ? connection : null;
  }
}
