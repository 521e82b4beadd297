/** The public API of the package. */
import './check-node.ts';

export type {
  AccessOptions,
  AccessReport,
  DefinerAccess,
  Note,
  PolicyAccess,
  Reach,
  RoleAccess,
  RoleFacts,
  Sentence,
  TableAccess,
  Verb,
  VerbAccess,
} from './access/access.ts';
export { Deadline } from './budget/deadline.ts';
export type { LimitName, LimitSettings } from './budget/limits.ts';
export { ConnectionBudget } from './database/connection-budget.ts';
export type { PgClientLike, PgliteLike, PgliteTransactionLike, PgPoolLike } from './database/drivers.ts';
export type { DoctorReport, Finding, FindingCode, FindingObject, Severity } from './doctor/finding-codes.ts';
export type {
  Caller,
  CostCounts,
  ExecutionResult,
  GraphQLRequest,
  HttpHead,
  OperationCost,
  RawResponse,
  RequestCost,
  RequestOptions,
  SubscribeOptions,
} from './engine/request.ts';
export type { CacheSizes } from './engine/snapshot/caches.ts';
export type { ErrorObject, SourcePosition } from './errors/api-error.ts';
export { ApiError } from './errors/api-error.ts';
export type { ErrorCode } from './errors/codes.ts';
export type { BeginTrace, OperationTimes, RanOperation, RequestDetails, TraceContext } from './event-details.ts';
export type { Event, Observer } from './events.ts';
export type {
  Advice,
  AdviceCode,
  DatabasePlan,
  DatabasePlanNode,
  ExplainedStatement,
  ExplainMode,
  ExplainOptions,
  Explanation,
  LiveExplanation,
  PlanTree,
} from './explain/explanation.ts';
export { pgliteExtension } from './extension/pglite-extension.ts';
export { createRowgraph } from './rowgraph.ts';
export type { Rowgraph, SchemaOptions } from './rowgraph-interface.ts';
export type { RowgraphOptions } from './rowgraph-options.ts';
export type { AdditionName } from './settings/additions.ts';
export type { CacheStatistics, Distribution, GraphStatistics, LiveStatistics, PoolStatistics } from './statistics.ts';
