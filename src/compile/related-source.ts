/** Where the rows of a table, and those that belong to a row, are read from. */
import type { Relation, Routine, Table } from '../model/model.ts';
import type { RelatedRows } from '../model/related-rows.ts';
import { identifier, join, newLine, type Sql, sql, trusted } from '../sql/sql.ts';
import { type Aliases, directScope, type Scope } from './scope.ts';

/** A table in FROM. */
export function tableSource(table: Table): Sql {
  return identifier(table.schema, table.name);
}

/** The call of a computed field for a row. */
export function callOnRow({ schema, name }: Routine, scope: Scope): Sql {
  return sql`${identifier(schema, name)}(${scope.row()})`;
}

/** The conditions under which a row of the target belongs to one of the near table. */
export function joinConditions({ columns }: Relation, near: Scope, target: Scope): Sql[] {
  return columns.map((pair) => sql`${target.column(pair.target)} = ${near.column(pair.near)}`);
}

/** Related rows in FROM, and the conditions under which they belong to the row that leads to them. */
export interface RelatedSource {
  readonly scope: Scope;
  readonly from: Sql;
  readonly conditions: readonly Sql[];
}

/** The rows to which that of `near` leads. */
export function relatedRows({ by, target, many }: RelatedRows, near: Scope, aliases: Aliases): RelatedSource {
  const alias = aliases.next();
  if (by.kind === 'relation') {
    const scope = directScope(alias, target);
    return { scope, from: tableSource(target), conditions: joinConditions(by.relation, near, scope) };
  }
  const scope = directScope(alias, { keepsNotNull: false });
  // A function that returns no row produces a row of nulls here.
  return { scope, from: callOnRow(by.routine, near), conditions: many ? [] : [sql`not (${scope.row()} is null)`] };
}

/** A select of them. */
export function selectRelated(output: Sql, { scope, from, conditions }: RelatedSource): Sql {
  const where = conditions.length > 0 ? sql`${newLine}where ${join(conditions, ' and ')}` : sql``;
  return sql`select ${output}${newLine}from ${from} as ${trusted(scope.alias)}${where}`;
}
