/** What the server needs of a graph: the part of the public API that answers requests as bytes. Types only. */
import type { Caller, GraphQLRequest, RawResponse } from '../pipeline.ts';

export interface ServedGraph {
  executeRaw(request: GraphQLRequest, caller: Caller): Promise<RawResponse>;
  /** Resolves if the database answers. */
  ping(): Promise<void>;
}
