/**
 * A graph that may not be open yet, so that the server can open its port first: health checks then report live but not ready. While the
 * database cannot be reached, requests fail with DATABASE_UNAVAILABLE; while its schema is loaded, they wait for it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Deadline, explainStop, type StopReason, untilStopped } from '../../budget/deadline.ts';
import { ApiError } from '../../errors/api-error.ts';
import type { ServedGraph } from '../../http/endpoint/endpoint-options.ts';
import { LateGraph } from '../../http/endpoint/late-graph.ts';
import { SlowSchemaError, UnreachableError } from '../check-database.ts';

export class AwaitedGraph extends LateGraph implements ServedGraph {
  #graph: ServedGraph | null = null;
  /** The load that requests wait for; null while the database cannot be reached. */
  #loading: PromiseWithResolvers<ServedGraph> | null = null;

  get isOpen(): boolean {
    return this.#graph !== null;
  }

  get isLoading(): boolean {
    return this.#graph === null && this.#loading !== null;
  }

  /** The database has been reached, and its schema is being loaded. */
  noteLoading(): void {
    this.#loading = Promise.withResolvers();
    // Perhaps no request waits for it.
    this.#loading.promise.catch(() => {});
  }

  open(graph: ServedGraph): void {
    this.#graph = graph;
    this.#loading?.resolve(graph);
  }

  /** The database cannot be reached, or its schema cannot be loaded for now: fails the requests that wait. */
  noteFailure(error: ApiError): void {
    this.#loading?.reject(error);
    this.#loading = null;
  }

  readCaches: ServedGraph['readCaches'] = () => this.#graph?.readCaches() ?? [];

  readStatistics: ServedGraph['readStatistics'] = () => this.#graph?.readStatistics() ?? null;

  ping: ServedGraph['ping'] = () => {
    if (this.#graph !== null) return this.#graph.ping();
    return Promise.reject(this.#loading === null ? unreachable() : stillLoading());
  };

  protected override whenOpen(deadline: Deadline | null): ServedGraph | Promise<ServedGraph> {
    if (this.#graph !== null) return this.#graph;
    return this.#loading === null ? Promise.reject(unreachable()) : untilStopped(this.#loading.promise, deadline, explainWait);
  }
}

function explainWait(reason: StopReason): ApiError {
  return reason === 'expired' ? stillLoading() : explainStop(reason);
}

/** The error of a request that cannot be served before the schema is loaded. */
export function stillLoading(): ApiError {
  return new ApiError('SCHEMA_LOADING', 'The schema of the database is being loaded. Try again later.');
}

/** The error of a request while the database cannot be reached. */
export function unreachable(): ApiError {
  return new ApiError('DATABASE_UNAVAILABLE', 'The database cannot be reached. Try again later.');
}

export interface Waiting {
  /** How long to keep trying, in milliseconds, not counting the time that loading the schema takes; 0 tries once. */
  readonly milliseconds: number;
  /** Called if an attempt takes long, which says nothing about its outcome. */
  readonly onSlow: () => Promise<unknown>;
  /** Called before the first wait. */
  readonly onWait: (error: UnreachableError) => Promise<void>;
  /** Whether the database is no longer needed. */
  readonly isOver: () => boolean;
}

const firstPause = 100;
const longestPause = 1000;
/** When an attempt counts as slow, in milliseconds. */
const slow = 3000;
/** How long an attempt may take to connect if another may follow, or if it is the only one, in milliseconds. */
const longestAttempt = 5000;

/**
 * Opens the database, and tries again as long as that rejects with `UnreachableError`. `open` is given the milliseconds in which it must
 * connect. Rejects with the last of these errors when the time is over, and immediately with any other error, also of `onSlow`. Null if the
 * wait ends first.
 */
export async function awaitDatabase<T>(
  open: (patience: number) => Promise<T>,
  { milliseconds, onSlow, onWait, isOver }: Waiting,
): Promise<T | null> {
  let deadline = performance.now() + milliseconds;
  const noteSlow = async (): Promise<unknown> => (isOver() ? undefined : onSlow());
  for (let pause = firstPause; !isOver(); pause = Math.min(pause * 2, longestPause)) {
    const patience = milliseconds === 0 ? longestAttempt : Math.max(1, Math.min(longestAttempt, deadline - performance.now()));
    const began = performance.now();
    try {
      return await withNotice(open(patience), noteSlow);
    } catch (error) {
      if (error instanceof SlowSchemaError) deadline += performance.now() - began;
      const left = deadline - performance.now();
      if (!(error instanceof UnreachableError) || left <= 0) throw error;
      if (pause === firstPause) await onWait(error);
      await sleep(Math.min(pause, left));
    }
  }
  return null;
}

/** The outcome of some work. Calls `onSlow` if it takes long; rejects if that does. */
function withNotice<T>(work: Promise<T>, onSlow: () => Promise<unknown>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => void onSlow().catch(reject), slow);
    void work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
