/**
 * A graph whose database may not be there yet, so that the server can open its port before: health says that it lives and is not ready, and requests
 * are refused with DATABASE_UNAVAILABLE.
 */
import { ApiError } from '../errors.ts';
import type { ServedGraph } from '../http/served-graph.ts';

export class AwaitedGraph implements ServedGraph {
  #graph: ServedGraph | null = null;

  /** Whether it has got its database. */
  get isOpen(): boolean {
    return this.#graph !== null;
  }

  /** From now on requests are answered by this graph. */
  open(graph: ServedGraph): void {
    this.#graph = graph;
  }

  executeRaw: ServedGraph['executeRaw'] = (request, caller, options) => {
    return this.#graph === null ? Promise.reject(notYet()) : this.#graph.executeRaw(request, caller, options);
  };

  readCaches: ServedGraph['readCaches'] = () => this.#graph?.readCaches() ?? [];

  ping: ServedGraph['ping'] = () => (this.#graph === null ? Promise.reject(notYet()) : this.#graph.ping());
}

function notYet(): ApiError {
  return new ApiError('DATABASE_UNAVAILABLE', 'The database cannot be reached. Try again later.');
}
