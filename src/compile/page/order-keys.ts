/** Order keys with the SQL of their values: as expressions over a row, or read from joins. */
import type { Relation, Table } from '../../model/model.ts';
import type { RelatedRows } from '../../model/relations/related-rows.ts';
import { namedTypes } from '../../model/types/named-types.ts';
import type { ValueType } from '../../model/value-type.ts';
import type { AggregateOrder, OrderKey, OrderValue } from '../../plan/plan.ts';
import { and, as, coalesce, select, subselect } from '../../sql/clauses.ts';
import { identifier, integer, type Sql, sql, trusted } from '../../sql/sql.ts';
import { distanceSql } from '../distance.ts';
import {
  type Aliases,
  areEqual,
  callOnRow,
  directScope,
  joinConditions,
  namesOfSearch,
  needsOfColumns,
  type RowNeeds,
  relatedRows,
  type Scope,
  tableName,
  wholeRow,
} from '../scope.ts';
import { searchRank } from '../search.ts';
import { aggregateSql, aggregateType } from '../values/aggregate.ts';
import { isNotNull } from '../values/comparison.ts';

/** An order key, written for one part of a statement. */
export interface WrittenKey extends OrderKey {
  readonly sql: Sql;
  readonly isNeverNull: boolean;
}

/** A value of a related row, or an aggregate of related rows. */
type RelatedValue = AggregateOrder | Extract<OrderValue, { kind: 'related' }>;

export function typeOf(value: OrderValue): ValueType {
  switch (value.kind) {
    case 'column':
      return value.column.type;
    case 'computed': {
      const { result } = value.routine;
      if (result.kind !== 'value') throw new Error(`${value.routine.name} returns no value to order by.`);
      return result.type;
    }
    case 'search rank':
      return namedTypes.float4;
    case 'related':
      return typeOf(value.value);
    case 'distance':
      return namedTypes.float8;
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
    case 'search rank':
      return 'search rank';
    case 'related':
      return `${JSON.stringify(value.rows.fieldName)} ${identityOf(value.value)}`;
    case 'distance':
      return JSON.stringify(['distance', value.distance.column.name]);
    case 'aggregate':
      return JSON.stringify([value.function, value.rows.fieldName, value.function === 'count' ? '' : value.column.name]);
  }
}

/** What a value needs of its row, if it is written as an expression over it. */
export function needsOfOrder(value: OrderValue): RowNeeds {
  if (value.kind === 'column') return needsOfColumns([value.column.name]);
  if (value.kind === 'search rank') return needsOfColumns(namesOfSearch(value.search));
  if (value.kind === 'distance') return needsOfColumns([value.distance.column.name]);
  if (value.kind === 'computed' || value.rows.by.kind === 'computed') return wholeRow;
  return needsOfColumns(value.rows.by.relation.columns.map(({ near }) => near));
}

/** The relation, if a constraint guarantees that it leads to at most one row. */
function uniqueRelation({ by }: RelatedRows): Relation | undefined {
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

function isAlwaysThere({ nullable }: Relation, keepsNotNull: boolean): boolean {
  return !nullable && keepsNotNull;
}

/** Whether a value is null for no row of a statement that reads the related rows together with it. */
export function isValueNeverNull(value: OrderValue, keepsNotNull: boolean): boolean {
  switch (value.kind) {
    case 'column':
      return value.column.notNull && keepsNotNull;
    case 'computed':
      return false;
    case 'distance':
      // The filter leaves out rows without one.
      return true;
    case 'related': {
      const relation = uniqueRelation(value.rows);
      return !!relation && isAlwaysThere(relation, keepsNotNull) && isValueNeverNull(value.value, relation.target.keepsNotNull);
    }
    // Rows without the text would not have been found.
    case 'search rank':
      return true;
    case 'aggregate':
      return value.function === 'count';
  }
}

/**
 * Keys over a single row. Values of related rows are subqueries, for expressions that have no FROM to add joins to. They may be null even
 * if a constraint forbids it: the related row may be gone.
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
  if (value.kind === 'search rank') return searchRank(value.search, scope);
  if (value.kind === 'distance') return distanceSql(value.distance, scope, aliases);
  return sql`(${selectValue(value, scope, aliases)})`;
}

/** A select of a value of the row in `near`, which returns at most one row. */
function selectValue(value: RelatedValue, near: Scope, aliases: Aliases): Sql {
  const { scope, from, conditions } = relatedRows(value.rows, near, aliases);
  if (value.kind === 'aggregate') return select({ columns: [aggregateSql(value, scope)], from, where: conditions });
  const columns = [valueOfRow(value.value, scope, aliases)];
  // A key declared by a directive may match several rows, and a function may return several.
  return select({ columns, from, where: conditions, limit: uniqueRelation(value.rows) ? null : integer(1) });
}

/**
 * The keys that order the rows of a page, with the joins that their values need. For posts ordered by `{author: {name: …}}` and
 * `{commentCollection: {count: …}}`:
 *
 *     from "public"."post" as t1
 *     left join "public"."author" as t2 on t2."id" = t1."author_id"
 *     left join lateral (select count(*) from "public"."comment" as t3 where t3."post_id" = t1."id") as t4("value") on true
 *     order by t2."name", t4."value"
 *
 * A relation to at most one row is a plain join, which PostgreSQL can execute in any way, and starting from either table if nulls are left
 * out. All other values are lateral joins, so that each is computed once per row, however often the statement uses it. But if all rows of a
 * table need a value, one pass over the other table groups it:
 *
 *     left join (select t3."post_id", count(*) from "public"."comment" as t3 group by t3."post_id") as t4("key 1", "value")
 *       on t4."key 1" = t1."id"
 */

export interface JoinedKeys {
  readonly keys: readonly WrittenKey[];
  readonly joins: readonly Sql[];
}

/** Writes the keys of the rows in `scope`. `ofAllRows`: every row of the table needs the first of them. */
export function joinKeys(keys: readonly OrderKey[], scope: Scope, ofAllRows: boolean, aliases: Aliases): JoinedKeys {
  const joins = new Joins(aliases);
  const row: JoinedRow = { scope, presence: null, path: '' };
  const written = keys.map((key, index) => ({
    ...key,
    sql: joins.valueOf(key.value, row, ofAllRows && index === 0),
    isNeverNull: isValueNeverNull(key.value, scope.keepsNotNull),
  }));
  return { keys: written, joins: joins.written };
}

/** A row in FROM: a row of the collection, or a related row. */
interface JoinedRow {
  readonly scope: Scope;
  /** A condition that is true if the row exists; null if it always does. */
  readonly presence: Sql | null;
  /** The relations that lead to it, as text. */
  readonly path: string;
}

const output = 'value';

class Joins {
  readonly written: Sql[] = [];
  readonly #aliases: Aliases;
  readonly #rows = new Map<string, JoinedRow>();

  constructor(aliases: Aliases) {
    this.#aliases = aliases;
  }

  valueOf(value: OrderValue, row: JoinedRow, ofAllRows: boolean): Sql {
    if (value.kind === 'column') return row.scope.column(value.column.name);
    if (value.kind === 'computed') return ifPresent(row, callOnRow(value.routine, row.scope));
    if (value.kind === 'search rank') return searchRank(value.search, row.scope);
    if (value.kind === 'distance') return ifPresent(row, distanceSql(value.distance, row.scope, this.#aliases));
    if (value.kind === 'aggregate') {
      const { by } = value.rows;
      const isGrouped = ofAllRows && by.kind === 'relation' && isGroupable(by.relation);
      return isGrouped ? this.#grouped(value, by.relation, row) : this.#lateral(value, row);
    }
    const relation = uniqueRelation(value.rows);
    return relation ? this.valueOf(value.value, this.#joined(relation, row), ofAllRows) : this.#lateral(value, row);
  }

  #joined(relation: Relation, row: JoinedRow): JoinedRow {
    const path = `${row.path} ${JSON.stringify(relation.fieldName)}`;
    const present = this.#rows.get(path);
    if (present) return present;
    const { target, columns } = relation;
    const scope = directScope(this.#aliases.next(), target);
    const isThere = row.presence === null && isAlwaysThere(relation, row.scope.keepsNotNull);
    this.#join(isThere ? 'join' : 'left join', as(tableName(target), scope.alias), joinConditions(relation, row.scope, scope));
    const [key] = columns;
    const presence = isThere ? null : isNotNull(scope.column(key!.target), key!.targetType);
    const joined = { scope, presence, path };
    this.#rows.set(path, joined);
    return joined;
  }

  #lateral(value: RelatedValue, row: JoinedRow): Sql {
    const rows = sql`lateral (${selectValue(value, row.scope, this.#aliases)})`;
    const alias = this.#aliases.next();
    this.#join('left join', as(rows, alias, [output]), [row.presence ?? trusted('true')]);
    return sql`${trusted(alias)}.${identifier(output)}`;
  }

  #grouped(value: AggregateOrder, { target, columns }: Relation, row: JoinedRow): Sql {
    const scope = directScope(this.#aliases.next(), target);
    const groups = directScope(this.#aliases.next(), { keepsNotNull: false });
    const keyName = (index: number): string => `key ${index + 1}`;
    const groupBy = columns.map((pair) => scope.column(pair.target));
    const from = as(tableName(target), scope.alias);
    const rows = subselect({ columns: [...groupBy, aggregateSql(value, scope)], from, groupBy });
    const names = [...columns.map((_, index) => keyName(index)), output];
    const conditions = columns.map((pair, index) => areEqual(pair, row.scope.column(pair.near), groups.column(keyName(index))));
    this.#join('left join', as(rows, groups.alias, names), conditions);
    const result = groups.column(output);
    // Only rows with related rows have a group.
    return value.function === 'count' ? ifPresent(row, coalesce(result, trusted('0'))) : result;
  }

  #join(kind: 'join' | 'left join', item: Sql, conditions: readonly Sql[]): void {
    this.written.push(sql`${trusted(kind)} ${item} on ${and(conditions)}`);
  }
}

function ifPresent({ presence }: JoinedRow, value: Sql): Sql {
  return presence ? sql`case when ${presence} then ${value} end` : value;
}

/**
 * Whether the related rows can be grouped by their key: no policy hides any, and both sides of the key have the same type and
 * collation and thus the same equality.
 */
function isGroupable({ target, columns }: Relation): boolean {
  return (
    !target.rowSecurity &&
    columns.every(({ nearType, targetType, collation }) => nearType.sqlType === targetType.sqlType && collation === null)
  );
}
