/** The public face of the package. */
export type { ErrorCode, ErrorObject } from './errors.ts';
export type { Caller, ExecutionResult, GraphQLRequest, RawResponse } from './pipeline.ts';
export type { Rowgraph, RowgraphOptions } from './rowgraph.ts';
export { createRowgraph } from './rowgraph.ts';
