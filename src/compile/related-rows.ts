/** Tables and related rows in FROM. */
import type { ColumnPair, Relation, Routine, Table } from '../model/model.ts';
import type { RelatedRows } from '../model/related-rows.ts';
import { as } from '../sql/clauses.ts';
import { identifier, type Sql, sql } from '../sql/sql.ts';
import { type Aliases, directScope, type Scope } from './scope.ts';
import { collated, comparable } from './values/comparison.ts';

/** A table in FROM. */
export function tableSource(table: Table): Sql {
  return identifier(table.schema, table.name);
}

/** The call of a computed field on a row. */
export function callOnRow({ schema, name }: Routine, scope: Scope): Sql {
  return sql`${identifier(schema, name)}(${scope.row})`;
}

/** The conditions that relate a row of the target to one of the near table. */
export function joinConditions({ columns }: Relation, near: Scope, target: Scope): Sql[] {
  return columns.map((pair) => areEqual(pair, near.column(pair.near), target.column(pair.target)));
}

/** Compares the values of a pair of columns as a foreign key does: by the collation of the referenced column. */
export function areEqual({ nearType, targetType, collation }: ColumnPair, near: Sql, target: Sql): Sql {
  const value = comparable(near, nearType);
  return sql`${comparable(target, targetType)} = ${collation?.implied === false ? collated(value, collation) : value}`;
}

/** Related rows in FROM, with the conditions that relate them to the row that leads to them. */
export interface RelatedFrom {
  readonly scope: Scope;
  readonly from: Sql;
  readonly conditions: readonly Sql[];
}

/** The rows that the row in `near` leads to. */
export function relatedRows({ by, target, many }: RelatedRows, near: Scope, aliases: Aliases): RelatedFrom {
  const alias = aliases.next();
  if (by.kind === 'relation') {
    const scope = directScope(alias, target);
    return { scope, from: as(tableSource(target), alias), conditions: joinConditions(by.relation, near, scope) };
  }
  const scope = directScope(alias, { keepsNotNull: false });
  // In FROM, a function that returns no row yields a row of nulls.
  return { scope, from: as(callOnRow(by.routine, near), alias), conditions: many ? [] : [sql`not (${scope.row} is null)`] };
}
