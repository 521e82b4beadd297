/** The public face of the package. */
export { Deadline } from './budget/deadline.ts';
export type { LimitName, LimitSettings } from './budget/limits.ts';
export type { FindingCode, Severity } from './doctor/finding-codes.ts';
export type { DoctorReport, Finding, FindingObject } from './doctor/report.ts';
export type { Caller, ExecutionResult, GraphQLRequest, RawResponse, RequestOptions } from './engine/request.ts';
export type { CostCounts, OperationCost, RequestCost } from './engine/request-cost.ts';
export type { ErrorCode, ErrorObject } from './errors.ts';
export type { CacheStatistics } from './events.ts';
export type { Rowgraph, RowgraphOptions } from './rowgraph.ts';
export { createRowgraph } from './rowgraph.ts';
