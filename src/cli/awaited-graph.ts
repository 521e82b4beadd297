/**
 * A graph whose database may not be reachable yet, so that the server can open its port first: health checks then report live but not
 * ready, and requests fail with DATABASE_UNAVAILABLE.
 */
import type { Deadline } from '../budget/deadline.ts';
import { ApiError } from '../errors.ts';
import type { ServedGraph } from '../http/served-graph.ts';

export class AwaitedGraph implements ServedGraph {
  #graph: ServedGraph | null = null;

  /** Whether the graph behind it is open. */
  get isOpen(): boolean {
    return this.#graph !== null;
  }

  /** Serves requests from this graph from now on. */
  open(graph: ServedGraph): void {
    this.#graph = graph;
  }

  executeRaw: ServedGraph['executeRaw'] = (request, caller, options) => {
    return this.#graph === null ? Promise.reject(notYet()) : this.#graph.executeRaw(request, caller, options);
  };

  async loadRole(role: string, deadline: Deadline): Promise<void> {
    if (this.#graph === null) throw notYet();
    await this.#graph.loadRole?.(role, deadline);
  }

  readCaches: ServedGraph['readCaches'] = () => this.#graph?.readCaches() ?? [];

  readStatistics: ServedGraph['readStatistics'] = () => this.#graph?.readStatistics() ?? null;

  ping: ServedGraph['ping'] = () => (this.#graph === null ? Promise.reject(notYet()) : this.#graph.ping());
}

function notYet(): ApiError {
  return new ApiError('DATABASE_UNAVAILABLE', 'The database cannot be reached. Try again later.');
}
