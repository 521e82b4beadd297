/** What the server needs of a graph: the part of the public API that answers requests as bytes. Types only. */

import type { Caller, GraphQLRequest, RawResponse, RequestOptions } from '../engine/request.ts';
import type { CacheStatistics } from '../events.ts';

export interface ServedGraph {
  executeRaw(request: GraphQLRequest, caller: Caller, options?: RequestOptions): Promise<RawResponse>;
  /** How its caches do. */
  readCaches(): readonly CacheStatistics[];
  /** Resolves if the database answers. */
  ping(): Promise<void>;
}
