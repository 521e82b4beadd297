/**
 * A graph that may not be open yet, so that the server can open its port first: health checks then report live but not ready. While the
 * database cannot be reached, requests fail with DATABASE_UNAVAILABLE; while its schema is loaded, they wait for it.
 */
import { type Deadline, explainStop, type StopReason, untilStopped } from '../budget/deadline.ts';
import { ApiError } from '../errors/api-error.ts';
import type { ServedGraph } from '../http/endpoint/endpoint-options.ts';

export class AwaitedGraph implements ServedGraph {
  #graph: ServedGraph | null = null;
  /** The load that requests wait for; null while the database cannot be reached. */
  #loading: PromiseWithResolvers<ServedGraph> | null = null;

  /** Whether the graph behind it is open. */
  get isOpen(): boolean {
    return this.#graph !== null;
  }

  /** Whether its schema is being loaded. */
  get isLoading(): boolean {
    return this.#graph === null && this.#loading !== null;
  }

  /** The database has been reached, and its schema is being loaded. */
  noteLoading(): void {
    this.#loading = Promise.withResolvers();
    // Perhaps no request waits for it.
    this.#loading.promise.catch(() => {});
  }

  /** Serves requests from this graph from now on. */
  open(graph: ServedGraph): void {
    this.#graph = graph;
    this.#loading?.resolve(graph);
  }

  /** The database cannot be reached, or its schema cannot be loaded for now: fails the requests that wait. */
  noteFailure(error: ApiError): void {
    this.#loading?.reject(error);
    this.#loading = null;
  }

  executeRaw: ServedGraph['executeRaw'] = (request, caller, options) => {
    if (this.#graph !== null) return this.#graph.executeRaw(request, caller, options);
    return this.#whenOpen(options?.deadline ?? null).then((graph) => graph.executeRaw(request, caller, options));
  };

  async loadRole(role: string, deadline: Deadline): Promise<void> {
    const graph = this.#graph ?? (await this.#whenOpen(deadline));
    await graph.loadRole?.(role, deadline);
  }

  readCaches: ServedGraph['readCaches'] = () => this.#graph?.readCaches() ?? [];

  readStatistics: ServedGraph['readStatistics'] = () => this.#graph?.readStatistics() ?? null;

  ping: ServedGraph['ping'] = () => {
    if (this.#graph !== null) return this.#graph.ping();
    return Promise.reject(this.#loading === null ? unreachable() : stillLoading());
  };

  #whenOpen(deadline: Deadline | null): Promise<ServedGraph> {
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
