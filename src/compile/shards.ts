/**
 * What statements need for Citus, which keeps the rows of a table on shards. A statement runs on a single shard if the placement column of
 * every table in it is compared with the same value; so the value that a filter gives is repeated for all rows that are related by it:
 *
 *     select … from (select t1."name", (select … from "public"."task" as t2
 *         where t2."tenant_id" = t1."tenant_id" and t2."project_id" = t1."id" and t2."tenant_id" = $1::int4) as "(related 1)"
 *       from "public"."project" as t1 where t1."tenant_id" = $1::int4 … limit 30) as t1
 *
 * Without such a value, Citus runs the page on each shard. What it returns is no table, to which no subquery could refer; so the JSON of
 * related rows is computed with the rows of the page, and not in the select around it.
 */
import type { Relation, Table } from '../model/model.ts';
import type { Filter, RowKey } from '../plan/conditions.ts';
import type { RowValue } from '../plan/plan.ts';
import { requiredComparisons } from '../plan/walk.ts';
import { type Sql, sql, trusted } from '../sql/sql.ts';
import { comparand } from './values/comparison.ts';

/** The value that a statement gives the placement column of a table. */
export interface Shard {
  readonly column: string;
  /** See `Placement`. */
  readonly group: number;
  readonly value: Sql;
}

/** The shard of the rows that match a filter. */
export function shardOfFilter(table: Table, filter: Filter | null): Shard | undefined {
  if (table.placement?.column === undefined) return undefined;
  return shardOfKey(
    table,
    requiredComparisons(filter).filter(({ operator }) => operator === 'eq'),
  );
}

export function shardOfKey({ placement }: Table, key: RowKey): Shard | undefined {
  const found = key.find(({ column }) => column.name === placement?.column);
  if (!placement || !found) return undefined;
  return { column: found.column.name, group: placement.group, value: comparand(found.parameter, found.column.type) };
}

/** The shard of the rows that are related to a row on this shard, if the relation is by the placement columns of both tables. */
export function shardAlong({ columns, target: { placement } }: Relation, near: Shard | undefined): Shard | undefined {
  if (!near || placement?.group !== near.group) return undefined;
  const pair = columns.find((each) => each.near === near.column && each.target === placement.column);
  if (!pair || pair.nearType.sqlType !== pair.targetType.sqlType) return undefined;
  return { ...near, column: pair.target };
}

/**
 * A FROM item with which a select runs on the coordinator, where the settings of the transaction are. Citus runs what has no distributed
 * table there, too, but together with the rest of its statement wherever that runs, unless it has a table that only the coordinator has.
 */
export const here: Sql = trusted('(select 1 from pg_catalog.pg_am limit 1) as here');
/** The same behind another FROM item. */
export const andHere: Sql = sql` cross join ${here}`;

/** A value that other tables may have a part in. */
export type RelatedValue = Extract<RowValue, { kind: 'to-one' | 'to-many' | 'computed' }>;

/** The values whose JSON is computed with the rows of the table. */
export function valuesWithRows({ placement }: Table, values: readonly RowValue[]): readonly RelatedValue[] {
  return placement === null ? [] : values.filter(isRelated);
}

function isRelated(value: RowValue): value is RelatedValue {
  return value.kind === 'to-one' || value.kind === 'to-many' || value.kind === 'computed';
}
