/** The public face of the package. */
export { Deadline } from './budget/deadline.ts';
export type { LimitName, LimitSettings } from './budget/limits.ts';
export type { PgClientLike, PgliteLike, PgliteTransactionLike, PgPoolLike } from './database/drivers.ts';
export type { FindingCode, Severity } from './doctor/finding-codes.ts';
export type { DoctorReport, Finding, FindingObject } from './doctor/report.ts';
export type { CacheSizes } from './engine/cache-sizes.ts';
export type {
  Caller,
  CostCounts,
  ExecutionResult,
  GraphQLRequest,
  OperationCost,
  RawResponse,
  RequestCost,
  RequestOptions,
} from './engine/request.ts';
export type { ErrorCode, ErrorObject, SourcePosition } from './errors.ts';
export { ApiError } from './errors.ts';
export type { CacheStatistics, Event, Observer } from './events.ts';
export type { Rowgraph, RowgraphOptions } from './rowgraph.ts';
export { createRowgraph } from './rowgraph.ts';
