/** Order keys with the SQL of their values: as expressions over a row, or (`joined-keys.ts`) read from joins. */
import type { Relation, Table, ValueType } from '../../model/model.ts';
import type { RelatedRows } from '../../model/related-rows.ts';
import type { AggregateOrder, OrderKey, OrderValue } from '../../plan/plan.ts';
import { select } from '../../sql/clauses.ts';
import { integer, type Sql, sql } from '../../sql/sql.ts';
import { callOnRow, relatedRows } from '../related-rows.ts';
import type { Aliases, Scope } from '../scope.ts';
import { aggregateSql, aggregateType } from '../values/order-aggregate.ts';

/** An order key, written for one part of a statement. */
export interface WrittenKey extends OrderKey {
  readonly sql: Sql;
  readonly isNeverNull: boolean;
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

/** Whether every row has a related row. */
export function isAlwaysThere({ nullable }: Relation, keepsNotNull: boolean): boolean {
  return !nullable && keepsNotNull;
}

/** Whether a value is null for no row of a statement that reads the related rows together with it. */
export function isValueNeverNull(value: OrderValue, keepsNotNull: boolean): boolean {
  switch (value.kind) {
    case 'column':
      return value.column.notNull && keepsNotNull;
    case 'computed':
      return false;
    case 'related': {
      const relation = uniqueRelation(value.rows);
      return !!relation && isAlwaysThere(relation, keepsNotNull) && isValueNeverNull(value.value, relation.target.keepsNotNull);
    }
    case 'aggregate':
      return value.function === 'count';
  }
}

/**
 * Keys over a single row. Values of related rows are subqueries, for expressions that have no FROM to add joins to. They may be null even if
 * a constraint forbids it: the related row may be gone.
 */
export function keysOfRow(keys: readonly OrderKey[], scope: Scope, aliases: Aliases): WrittenKey[] {
  return keys.map((key) => ({
    ...key,
    sql: valueOfRow(key.value, scope, aliases),
    isNeverNull: key.value.kind !== 'related' && isValueNeverNull(key.value, scope.keepsNotNull),
  }));
}

function valueOfRow(value: OrderValue, scope: Scope, aliases: Aliases): Sql {
  if (value.kind === 'column') return scope.column(value.column.name);
  if (value.kind === 'computed') return callOnRow(value.routine, scope);
  return sql`(${selectValue(value, scope, aliases)})`;
}

/** A select of a value of the row in `near`, which returns at most one row. */
export function selectValue(value: RelatedValue, near: Scope, aliases: Aliases): Sql {
  const { scope, from, conditions } = relatedRows(value.rows, near, aliases);
  if (value.kind === 'aggregate') return select({ columns: [aggregateSql(value, scope)], from, where: conditions });
  const columns = [valueOfRow(value.value, scope, aliases)];
  // A key declared by a directive may match several rows, and a function may return several.
  return select({ columns, from, where: conditions, limit: uniqueRelation(value.rows) ? null : integer(1) });
}
