/** What rows are ordered by, as SQL. A value is named by its place in the plan, and written by whoever knows where its row comes from. */
import type { Relation, Table, ValueType } from '../model/model.ts';
import type { RelatedRows } from '../model/related-rows.ts';
import type { AggregateOrder, OrderValue } from '../plan/plan.ts';
import { type Sql, sql } from '../sql/sql.ts';
import { aggregateSql, aggregateType } from './order-aggregate.ts';
import { callOnRow, relatedRows, selectRelated } from './related-source.ts';
import type { Aliases, Scope } from './scope.ts';

/** The values that order the rows of a part of a statement. */
export interface OrderValues {
  sqlOf(value: OrderValue): Sql;
  isNeverNull(value: OrderValue): boolean;
}

/** A value of a related row, or one that related rows come to. */
export type RelatedValue = AggregateOrder | Extract<OrderValue, { kind: 'related' }>;

/** The type of what rows are ordered by. */
export function typeOf(value: OrderValue): ValueType {
  switch (value.kind) {
    case 'column':
      return value.column.type;
    case 'computed': {
      const { result } = value.routine;
      if (result.kind !== 'value') throw new Error(`${value.routine.name} returns no value to order by.`);
      return result.type;
    }
    case 'related':
      return typeOf(value.value);
    case 'aggregate':
      return aggregateType(value);
  }
}

/** A text for each value of a table's rows: two are the same if they have the same one. */
export function identityOf(value: OrderValue): string {
  switch (value.kind) {
    case 'column':
      return JSON.stringify(['column', value.column.name]);
    case 'computed':
      return JSON.stringify(['computed', value.routine.fieldName]);
    case 'related':
      return `${JSON.stringify(value.rows.fieldName)} ${identityOf(value.value)}`;
    case 'aggregate':
      return JSON.stringify([value.function, value.rows.fieldName, value.function === 'count' ? '' : value.column.name]);
  }
}

/** The relation that leads to at most one row, if it is one. */
export function uniqueRelation({ by }: RelatedRows): Relation | undefined {
  return by.kind === 'relation' && by.relation.kind === 'to-one' && by.relation.unique ? by.relation : undefined;
}

/** Whether indexes can find the rows of a table by a range of the value: one that begins with its column, and those that lead back from its table. */
export function leadsIndex(value: OrderValue, table: Table): boolean {
  if (value.kind === 'column') return value.column.leadsIndex;
  const relation = value.kind === 'related' ? uniqueRelation(value.rows) : undefined;
  if (value.kind !== 'related' || !relation) return false;
  const near = table.columns.find(({ name }) => name === relation.columns[0]?.near);
  return near?.leadsIndex === true && leadsIndex(value.value, relation.target);
}

/** The values of a row, by subqueries where they are not its own: for places without a FROM that joins could stand in. */
export class RowValues implements OrderValues {
  readonly #scope: Scope;
  readonly #aliases: Aliases;

  constructor(scope: Scope, aliases: Aliases) {
    this.#scope = scope;
    this.#aliases = aliases;
  }

  sqlOf(value: OrderValue): Sql {
    if (value.kind === 'column') return this.#scope.column(value.column.name);
    if (value.kind === 'computed') return callOnRow(value.routine, this.#scope);
    return sql`(${this.select(value)})`;
  }

  isNeverNull(value: OrderValue): boolean {
    if (value.kind === 'column') return this.#scope.isNeverNull(value.column);
    return value.kind === 'aggregate' && value.function === 'count';
  }

  /** A select of the value, of at most one row. */
  select(value: RelatedValue): Sql {
    const related = relatedRows(value.rows, this.#scope, this.#aliases);
    if (value.kind === 'aggregate') return selectRelated(aggregateSql(value, related.scope), related);
    const output = new RowValues(related.scope, this.#aliases).sqlOf(value.value);
    // A key that only a directive declares may match several rows, and a function may return them.
    return sql`${selectRelated(output, related)}${uniqueRelation(value.rows) ? sql`` : sql` limit 1`}`;
  }
}
