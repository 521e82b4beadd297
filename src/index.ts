/** The public face of the package. */
export { Deadline } from './deadline.ts';
export type { FindingCode, Severity } from './doctor/finding-codes.ts';
export type { DoctorReport, Finding, FindingObject } from './doctor/report.ts';
export type { ErrorCode, ErrorObject } from './errors.ts';
export type { CacheStatistics } from './events.ts';
export type { LimitName, LimitSettings } from './limits.ts';
export type { Caller, ExecutionResult, GraphQLRequest, RawResponse, RequestOptions } from './pipeline.ts';
export type { CostCounts, OperationCost, RequestCost } from './request-cost.ts';
export type { Rowgraph, RowgraphOptions } from './rowgraph.ts';
export { createRowgraph } from './rowgraph.ts';
