/**
 * The values that order the rows of a page, with the joins that they need. For posts ordered by `{author: {name: …}}` and
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
 *     left join (select t3."post_id", count(*) from "public"."comment" as t3 group by t3."post_id") as t4("key 1", "value") on t4."key 1" = t1."id"
 */
import type { Relation } from '../../model/model.ts';
import type { AggregateOrder, OrderValue } from '../../plan/plan.ts';
import { identifier, join, newLine, type Sql, sql, trusted } from '../../sql/sql.ts';
import { areEqual, callOnRow, joinConditions, tableSource } from '../related-rows.ts';
import { type Aliases, directScope, type Scope } from '../scope.ts';
import { isNotNull } from '../values/comparison.ts';
import { aggregateSql } from '../values/order-aggregate.ts';
import { identityOf, type OrderValues, type RelatedValue, RowValues, uniqueRelation } from './order-values.ts';

/** The rows whose values are read. */
interface RowsRead {
  /** Whether NOT NULL holds for them. */
  readonly keepsNotNull: boolean;
  /** A value that every row of the table needs. */
  readonly ofAllRows: OrderValue | null;
}

/** A row in FROM: a row of the collection, or a related row. */
interface JoinedRow {
  readonly scope: Scope;
  /** A condition that is true if the row exists; null if it always does. */
  readonly presence: Sql | null;
  readonly keepsNotNull: boolean;
  /** The relations that lead to it, as text. */
  readonly path: string;
}

export class JoinedValues implements OrderValues {
  readonly #row: JoinedRow;
  readonly #ofAllRows: string | null;
  readonly #aliases: Aliases;
  readonly #joins: Sql[] = [];
  readonly #rows = new Map<string, JoinedRow>();
  readonly #values = new Map<string, Sql>();

  constructor(scope: Scope, { keepsNotNull, ofAllRows }: RowsRead, aliases: Aliases) {
    this.#row = { scope, presence: null, keepsNotNull, path: '' };
    this.#ofAllRows = ofAllRows && identityOf(ofAllRows);
    this.#aliases = aliases;
  }

  /** The joins of all values used. Must be called last. */
  joins(): Sql {
    return join(this.#joins, '');
  }

  sqlOf(value: OrderValue): Sql {
    if (value.kind === 'column') return this.#row.scope.column(value.column.name);
    const identity = identityOf(value);
    const known = this.#values.get(identity);
    if (known) return known;
    const result = this.#valueOf(value, this.#row, identity === this.#ofAllRows);
    this.#values.set(identity, result);
    return result;
  }

  isNeverNull(value: OrderValue): boolean {
    return isNeverNull(value, this.#row.keepsNotNull);
  }

  #valueOf(value: OrderValue, row: JoinedRow, ofAllRows: boolean): Sql {
    if (value.kind === 'column') return row.scope.column(value.column.name);
    if (value.kind === 'computed') return ifPresent(row, callOnRow(value.routine, row.scope));
    if (value.kind === 'aggregate') {
      const { by } = value.rows;
      const isGrouped = ofAllRows && by.kind === 'relation' && isGroupable(by.relation);
      return isGrouped ? this.#grouped(value, by.relation, row) : this.#lateral(value, row);
    }
    const relation = uniqueRelation(value.rows);
    return relation ? this.#valueOf(value.value, this.#joined(relation, row), ofAllRows) : this.#lateral(value, row);
  }

  #joined(relation: Relation, row: JoinedRow): JoinedRow {
    const path = `${row.path} ${JSON.stringify(relation.fieldName)}`;
    const known = this.#rows.get(path);
    if (known) return known;
    const { target, columns } = relation;
    const scope = directScope(this.#aliases.next(), target);
    const isThere = row.presence === null && isAlwaysThere(relation, row.keepsNotNull);
    const conditions = join(joinConditions(relation, row.scope, scope), ' and ');
    this.#join(sql`${trusted(isThere ? 'join' : 'left join')} ${tableSource(target)} as ${trusted(scope.alias)} on ${conditions}`);
    const [key] = columns;
    const presence = isThere ? null : isNotNull(scope.column(key!.target), key!.targetType);
    const joined = { scope, presence, keepsNotNull: target.keepsNotNull, path };
    this.#rows.set(path, joined);
    return joined;
  }

  #lateral(value: RelatedValue, row: JoinedRow): Sql {
    const select = new RowValues(row.scope, this.#aliases).select(value);
    const alias = trusted(this.#aliases.next());
    const name = identifier('value');
    this.#join(sql`left join lateral (${select}) as ${alias}(${name}) on ${row.presence ?? trusted('true')}`);
    return sql`${alias}.${name}`;
  }

  #grouped(value: AggregateOrder, { target, columns }: Relation, row: JoinedRow): Sql {
    const scope = directScope(this.#aliases.next(), target);
    const alias = trusted(this.#aliases.next());
    const name = identifier('value');
    const keys = columns.map((pair, index) => ({
      pair,
      column: scope.column(pair.target),
      name: identifier(`key ${index + 1}`),
    }));
    const list = join(
      keys.map(({ column }) => column),
      ', ',
    );
    const select = sql`select ${list}, ${aggregateSql(value, scope)}${newLine}from ${tableSource(target)} as ${trusted(scope.alias)}${newLine}group by ${list}`;
    const names = join([...keys.map((key) => key.name), name], ', ');
    const conditions = keys.map((key) => areEqual(key.pair, row.scope.column(key.pair.near), sql`${alias}.${key.name}`));
    this.#join(sql`left join (${select}) as ${alias}(${names}) on ${join(conditions, ' and ')}`);
    // Only rows with related rows have a group.
    return value.function === 'count' ? ifPresent(row, sql`coalesce(${alias}.${name}, 0)`) : sql`${alias}.${name}`;
  }

  #join(text: Sql): void {
    this.#joins.push(sql`${newLine}${text}`);
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

/** Whether every row has a related row. */
function isAlwaysThere({ nullable }: Relation, keepsNotNull: boolean): boolean {
  return !nullable && keepsNotNull;
}

function isNeverNull(value: OrderValue, keepsNotNull: boolean): boolean {
  switch (value.kind) {
    case 'column':
      return value.column.notNull && keepsNotNull;
    case 'computed':
      return false;
    case 'related': {
      const relation = uniqueRelation(value.rows);
      return !!relation && isAlwaysThere(relation, keepsNotNull) && isNeverNull(value.value, relation.target.keepsNotNull);
    }
    case 'aggregate':
      return value.function === 'count';
  }
}
