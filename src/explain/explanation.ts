/** What explaining a request gives: plain data, from the operation down to the plan of PostgreSQL. Types only. */
import type { OperationCost, RequestCost } from '../engine/request.ts';

/**
 * How far a request is explained. `sql`: without the database. `plan`: with the plan of PostgreSQL, which runs nothing. `analyze`: the statements run, in a
 * transaction that is rolled back, and times and rows are measured.
 */
export type ExplainMode = 'sql' | 'plan' | 'analyze';

export interface ExplainOptions {
  /** Default: `plan`. */
  readonly mode?: ExplainMode;
}

/** What a request is, what it costs, what it becomes, and what would make it faster. */
export interface Explanation {
  readonly operation: { readonly name: string | null; readonly kind: 'query' | 'mutation' };
  readonly role: string;
  readonly mode: ExplainMode;
  /** What the operation counts against each limit, and the limits. */
  readonly cost: { readonly counts: OperationCost['counts']; readonly limits: RequestCost['limits'] };
  /** What is read, written or called for each root field; null if the operation is too long to be shown. */
  readonly plan: readonly PlanTree[] | null;
  /** The statements in the order in which they run, in one transaction. */
  readonly statements: readonly ExplainedStatement[];
  readonly advice: readonly Advice[];
}

/** A line of the plan, and the lines below it. */
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

/** The plan of PostgreSQL (https://www.postgresql.org/docs/current/using-explain.html). */
export interface DatabasePlan {
  readonly root: DatabasePlanNode;
  /** Null unless the statement ran. */
  readonly planningMillis: number | null;
  readonly executionMillis: number | null;
}

export interface DatabasePlanNode {
  /** `Seq Scan`, `Nested Loop`, `Sort` … */
  readonly type: string;
  /** What it is to the node above: `Outer`, `Inner`, `SubPlan`, `InitPlan` …; null for the root. */
  readonly relationship: string | null;
  /** The name of a subplan: `SubPlan 1`. */
  readonly name: string | null;
  readonly table: { readonly schema: string; readonly name: string; readonly alias: string } | null;
  readonly index: string | null;
  readonly function: string | null;
  /** `Filter`, `Index Cond`, `Hash Cond` … with their text. */
  readonly conditions: readonly { readonly kind: string; readonly text: string }[];
  readonly sortKeys: readonly string[];
  readonly estimate: { readonly startupCost: number; readonly totalCost: number; readonly rows: number };
  /** What was measured, for one loop on average, but for `loops` themselves; null unless the statement ran. */
  readonly actual: { readonly rows: number; readonly loops: number; readonly milliseconds: number; readonly removed: number } | null;
  readonly children: readonly DatabasePlanNode[];
}

export type AdviceCode = 'missing-index' | 'sort-without-index' | 'unindexed-relation' | 'policy-calls-per-row';

/** What would make the operation faster, with the SQL that does it. */
export interface Advice {
  readonly code: AdviceCode;
  /** Qualified name: `public.note`. */
  readonly table: string;
  /** What is slow, and what to do. */
  readonly message: string;
  readonly sql: string;
}
