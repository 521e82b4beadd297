/** Order keys with the SQL of their values: as expressions over a row, or read from joins. */
import type { Relation, Table } from '../../model/model.ts';
import type { AggregateOrder, OrderKey, OrderValue } from '../../plan/conditions.ts';
import { isAlwaysThere, traitsOfOrder, uniqueRelation } from '../../plan/traits/order-traits.ts';
import { and, as, coalesce, select, subselect } from '../../sql/clauses.ts';
import { identifier, integer, type Sql, sql, trusted } from '../../sql/sql.ts';
import { memberScope } from '../attributes.ts';
import { distanceSql } from '../distance.ts';
import { relatedRows } from '../related-rows.ts';
import {
  type Aliases,
  areEqual,
  callOnRow,
  directScope,
  joinConditions,
  needsOfColumns,
  noNeeds,
  type RowNeeds,
  type Scope,
  scoreName,
  tableName,
  targetScope,
  wholeRow,
} from '../scope.ts';
import { searchRank } from '../search.ts';
import { aggregateSql } from '../values/aggregate.ts';
import { isNotNull } from '../values/comparison.ts';
import { jsonValue } from '../values/json-values.ts';

/** An order key, written for one part of a statement. */
export interface WrittenKey extends OrderKey {
  readonly sql: Sql;
  readonly isNeverNull: boolean;
}

/** A value of a related row, or an aggregate of related rows. */
type RelatedValue = AggregateOrder | Extract<OrderValue, { kind: 'related' }>;

/** What a value needs of its row, if it is written as an expression over it. */
export function needsOfOrder(value: OrderValue): RowNeeds {
  const { columns } = traitsOfOrder(value);
  return columns === null ? wholeRow : needsOfColumns(columns);
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

/**
 * Keys over a single row. Values of related rows are subqueries, for expressions that have no FROM to add joins to. They may be null even
 * if a constraint forbids it: the related row may be gone.
 */
export function keysOfRow(keys: readonly OrderKey[], scope: Scope, aliases: Aliases): WrittenKey[] {
  return keys.map((key) => ({
    ...key,
    sql: valueOfRow(key.value, scope, aliases),
    isNeverNull: key.value.kind !== 'related' && traitsOfOrder(key.value).isNeverNull(scope.keepsNotNull),
  }));
}

function valueOfRow(value: OrderValue, scope: Scope, aliases: Aliases): Sql {
  switch (value.kind) {
    case 'column':
      return scope.column(value.column.name);
    case 'computed':
      return callOnRow(value.routine, scope);
    case 'json value':
      return jsonValue(scope.column(value.column.name), value);
    case 'attribute':
      return valueOfRow(value.value, memberScope(scope.alias, scope.column(value.column.name), value.column), aliases);
    case 'search rank':
      return searchRank(value.search, scope);
    case 'depth':
      return scope.column(value.lineage.depthName);
    case 'distance':
      return distanceSql(value.distance, scope, aliases);
    case 'score':
      return scope.column(scoreName(value.table));
    case 'related':
    case 'aggregate':
      return sql`(${selectValue(value, scope, aliases)})`;
  }
}

/** A select of a value of the row in `near`, which returns at most one row. */
function selectValue(value: RelatedValue, near: Scope, aliases: Aliases): Sql {
  const { scope, from, conditions } = relatedRows(value.rows, near, aliases, noNeeds);
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
    isNeverNull: traitsOfOrder(key.value).isNeverNull(scope.keepsNotNull),
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
    if (value.kind === 'aggregate') {
      const { by } = value.rows;
      const isGrouped = ofAllRows && by.kind === 'relation' && isGroupable(by.relation);
      return isGrouped ? this.#grouped(value, by.relation, row) : this.#lateral(value, row);
    }
    if (value.kind === 'related') {
      const relation = uniqueRelation(value.rows);
      return relation ? this.valueOf(value.value, this.#joined(relation, row), ofAllRows) : this.#lateral(value, row);
    }
    const own = valueOfRow(value, row.scope, this.#aliases);
    return value.kind === 'column' ? own : ifPresent(row, own);
  }

  #joined(relation: Relation, row: JoinedRow): JoinedRow {
    const path = `${row.path} ${JSON.stringify(relation.fieldName)}`;
    const present = this.#rows.get(path);
    if (present) return present;
    const { target, columns } = relation;
    const scope = targetScope(relation, row.scope, this.#aliases.next());
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
