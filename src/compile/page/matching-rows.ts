/** The rows that match the filter of a connection: what its page, its aggregates and its groups read. */
import type { Relation } from '../../model/model.ts';
import type { ConnectionPlan } from '../../plan/plan.ts';
import { as } from '../../sql/clauses.ts';
import { identifier, type Sql, sql, trusted } from '../../sql/sql.ts';
import { compileFilter } from '../compile-filter.ts';
import { joinConditions, tableSource } from '../related-rows.ts';
import { directScope, type Scope } from '../scope.ts';
import type { StatementContext } from '../statement.ts';

/** A connection to compile, with the rows that it is over. */
export interface Collection {
  readonly plan: ConnectionPlan;
  readonly rows: CollectionRows;
  readonly context: StatementContext;
}

export type CollectionRows =
  /** Those of the table, or those of them that are related to a row. */
  | { readonly kind: 'table'; readonly relatedTo: { readonly relation: Relation; readonly near: Scope } | null }
  /** Those that a function returns. It may return a row several times. */
  | { readonly kind: 'call'; readonly call: Sql }
  /** Those that a function has returned, in the common table expression `called`. */
  | { readonly kind: 'called' };

/** FROM and WHERE. */
export interface MatchingRows {
  readonly scope: Scope;
  readonly from: Sql;
  readonly where: readonly Sql[];
}

/** Whether the rows are those of the table that match the filter, whatever the enclosing row. */
export function isWholeTable({ rows }: Collection): boolean {
  return rows.kind === 'table' && rows.relatedTo === null;
}

/** Whether NOT NULL holds for the rows. */
export function keepsNotNull({ plan, rows }: Collection): boolean {
  return rows.kind === 'table' && plan.table.keepsNotNull;
}

export function matchingRows(collection: Collection, alias = collection.context.aliases.next()): MatchingRows {
  const { plan, rows, context } = collection;
  const { table, filter } = plan;
  // A common table expression has rows of no type.
  const row = rows.kind === 'called' ? { row: sql`${trusted(alias)}.*::${identifier(table.schema, table.name)}` } : {};
  const scope = directScope(alias, { keepsNotNull: keepsNotNull(collection), ...row });
  const related = rows.kind === 'table' && rows.relatedTo ? joinConditions(rows.relatedTo.relation, rows.relatedTo.near, scope) : [];
  const filtered = filter ? [compileFilter(filter, scope, context.aliases)] : [];
  return { scope, from: as(fromOf(rows, plan), alias), where: [...related, ...filtered] };
}

function fromOf(rows: CollectionRows, { table }: ConnectionPlan): Sql {
  switch (rows.kind) {
    case 'table':
      return tableSource(table);
    case 'call':
      return rows.call;
    case 'called':
      return trusted('called');
  }
}
