/** What the server needs from a graph: the part of the public API that returns responses as bytes. Types only. */

import type { Caller, GraphQLRequest, RawResponse, RequestOptions } from '../engine/request.ts';
import type { CacheStatistics } from '../events.ts';

export interface ServedGraph {
  executeRaw(request: GraphQLRequest, caller: Caller, options?: RequestOptions): Promise<RawResponse>;
  /** The statistics of its caches. */
  readCaches(): readonly CacheStatistics[];
  /** Resolves if the database responds. */
  ping(): Promise<void>;
}
