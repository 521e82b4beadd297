/** The explanation of a request: plain data, from the operation down to PostgreSQL's plans. Types only. */
import type { OperationCost, RequestCost } from '../engine/request.ts';

/**
 * How far to explain a request. `sql`: without the database. `plan`: with PostgreSQL's plans, but without running anything. `analyze`: runs
 * the statements in a transaction that is rolled back, and measures times and rows.
 */
export type ExplainMode = 'sql' | 'plan' | 'analyze';

export interface ExplainOptions {
  /** Default: `plan`. */
  readonly mode?: ExplainMode;
}

/** An operation, its cost, its plan, its statements, and advice to make it faster. */
export interface Explanation {
  readonly operation: { readonly name: string | null; readonly kind: 'query' | 'mutation' };
  readonly role: string;
  readonly mode: ExplainMode;
  readonly cost: { readonly counts: OperationCost['counts']; readonly limits: RequestCost['limits'] };
  /** What lenient coercion let pass, each with what to write instead; none if the document is valid as it is. */
  readonly mismatches: readonly string[];
  /** What each root field reads, writes or calls; null if the operation is too long to show. */
  readonly plan: readonly PlanTree[] | null;
  /** The statements in execution order, all in one transaction. */
  readonly statements: readonly ExplainedStatement[];
  readonly advice: readonly Advice[];
  /** How it behaves as a live query; null if it cannot be one. */
  readonly live: LiveExplanation | null;
}

export interface LiveExplanation {
  /** Whether callers of a role share its answers, because these do not depend on the claims. */
  readonly isShared: boolean;
  /** Whether each evaluation finds out anew which tables it reads, because it calls functions that may read any. */
  readonly isTraced: boolean;
  /** What changes its answer without any table changing, so that no change is announced: it needs a refresh interval. */
  readonly unannounced: readonly string[];
}

export interface PlanTree {
  readonly label: string;
  readonly children: readonly PlanTree[];
}

export interface ExplainedStatement {
  readonly text: string;
  /** The values of `$1`, `$2` and so on, in PostgreSQL's text format. */
  readonly parameters: readonly (string | null)[];
  /** Null in the mode `sql`. */
  readonly databasePlan: DatabasePlan | null;
}

/** PostgreSQL's plan of a statement (https://www.postgresql.org/docs/current/using-explain.html). */
export interface DatabasePlan {
  readonly root: DatabasePlanNode;
  /** Null unless the statement ran. */
  readonly planningMillis: number | null;
  readonly executionMillis: number | null;
}

export interface DatabasePlanNode {
  /** `Seq Scan`, `Nested Loop`, `Sort` … */
  readonly type: string;
  /** Its relationship to the parent node: `Outer`, `Inner`, `SubPlan`, `InitPlan` …; null for the root. */
  readonly relationship: string | null;
  /** The name of a subplan: `SubPlan 1`. */
  readonly name: string | null;
  readonly table: { readonly schema: string; readonly name: string; readonly alias: string } | null;
  readonly index: string | null;
  readonly function: string | null;
  /** `Filter`, `Index Cond`, `Hash Cond` … with their text. */
  readonly conditions: readonly { readonly kind: string; readonly text: string }[];
  readonly sortKeys: readonly string[];
  /** Rows that parallel workers share are counted in total, here and in `actual`; PostgreSQL counts those of one process. */
  readonly estimate: { readonly startupCost: number; readonly totalCost: number; readonly rows: number };
  /** Measurements: averages per loop, except `loops` itself; null unless the statement ran. */
  readonly actual: { readonly rows: number; readonly loops: number; readonly milliseconds: number; readonly removed: number } | null;
  /** In how many tasks Citus runs its children, each on a shard; one is shown. Null for what Citus does not run. */
  readonly tasks: number | null;
  readonly children: readonly DatabasePlanNode[];
}

export type AdviceCode = 'missing-index' | 'sort-without-index' | 'unindexed-relation' | 'unindexed-search' | 'policy-calls-per-row';

/** A way to make the operation faster, with the SQL for it. */
export interface Advice {
  readonly code: AdviceCode;
  readonly table: string;
  readonly message: string;
  readonly sql: string;
}
