/** What the server needs from a graph: the part of the public API that returns responses as bytes. Types only. */

import type { Deadline } from '../budget/deadline.ts';
import type { Caller, GraphQLRequest, RawResponse, RequestOptions } from '../engine/request.ts';
import type { CacheStatistics, GraphStatistics } from '../events.ts';

export interface ServedGraph {
  executeRaw(request: GraphQLRequest, caller: Caller, options?: RequestOptions): Promise<RawResponse>;
  /**
   * Loads what a role's requests need of the database before they can be prepared, unless it is loaded. Rejects with what they would fail with.
   * A graph that loads nothing does without it.
   */
  loadRole?(role: string, deadline: Deadline): Promise<void>;
  /** Statistics of its caches. */
  readCaches(): readonly CacheStatistics[];
  /** Its statistics and the current state of its connections; null if it is not open yet. */
  readStatistics(): GraphStatistics | null;
  /** Resolves if the database responds. */
  ping(): Promise<void>;
}

/** What the endpoint alone needs. */
export type ExecutingGraph = Pick<ServedGraph, 'executeRaw' | 'loadRole'>;
