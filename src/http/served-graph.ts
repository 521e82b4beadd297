/** What the server needs from a graph: the part of the public API that returns responses as bytes. Types only. */

import type { Caller, GraphQLRequest, RawResponse, RequestOptions } from '../engine/request.ts';
import type { CacheStatistics, GraphStatistics } from '../events.ts';

export interface ServedGraph {
  executeRaw(request: GraphQLRequest, caller: Caller, options?: RequestOptions): Promise<RawResponse>;
  /** Statistics of its caches. */
  readCaches(): readonly CacheStatistics[];
  /** Its statistics and the current state of its connections; null if it is not open yet. */
  readStatistics(): GraphStatistics | null;
  /** Resolves if the database responds. */
  ping(): Promise<void>;
}
