/**
 * The SQL of the values that order rows. How a value is written depends on where its row comes from, so there are several implementations.
 */
import type { Relation, Table, ValueType } from '../../model/model.ts';
import type { RelatedRows } from '../../model/related-rows.ts';
import type { AggregateOrder, OrderValue } from '../../plan/plan.ts';
import { type Sql, sql } from '../../sql/sql.ts';
import { callOnRow, relatedRows, selectRelated } from '../related-rows.ts';
import type { Aliases, Scope } from '../scope.ts';
import { aggregateSql, aggregateType } from '../values/order-aggregate.ts';

/** The SQL of order values in one part of a statement. */
export interface OrderValues {
  sqlOf(value: OrderValue): Sql;
  isNeverNull(value: OrderValue): boolean;
}

/** A value of a related row, or an aggregate of related rows. */
export type RelatedValue = AggregateOrder | Extract<OrderValue, { kind: 'related' }>;

/** The type of an order value. */
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

/** Identifies a value of a table's rows: equal for equal values. */
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

/** The relation, if a constraint guarantees that it leads to at most one row. */
export function uniqueRelation({ by }: RelatedRows): Relation | undefined {
  return by.kind === 'relation' && by.relation.kind === 'to-one' && by.relation.unique ? by.relation : undefined;
}

/**
 * Whether indexes can find the rows of a table by a range of the value: an index that starts with its column, and for a related row also
 * indexes on the foreign keys that lead back from it.
 */
export function leadsIndex(value: OrderValue, table: Table): boolean {
  if (value.kind === 'column') return value.column.leadsIndex;
  const relation = value.kind === 'related' ? uniqueRelation(value.rows) : undefined;
  if (value.kind !== 'related' || !relation) return false;
  const near = table.columns.find(({ name }) => name === relation.columns[0]?.near);
  return near?.leadsIndex === true && leadsIndex(value.value, relation.target);
}

/** The order values of a single row. Values of related rows are subqueries, for places without a FROM to add joins to. */
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

  /** A select of the value, which returns at most one row. */
  select(value: RelatedValue): Sql {
    const related = relatedRows(value.rows, this.#scope, this.#aliases);
    if (value.kind === 'aggregate') return selectRelated(aggregateSql(value, related.scope), related);
    const output = new RowValues(related.scope, this.#aliases).sqlOf(value.value);
    // A key declared by a directive may match several rows, and a function may return several.
    return sql`${selectRelated(output, related)}${uniqueRelation(value.rows) ? sql`` : sql` limit 1`}`;
  }
}
