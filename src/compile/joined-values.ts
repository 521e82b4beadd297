/**
 * What the rows of a page are ordered by, with the joins that it takes. For `{author: {name: …}}` of posts, and `{commentCollection: {count: …}}`:
 *
 *     from "public"."post" as t1
 *     left join "public"."author" as t2 on t2."id" = t1."author_id"
 *     left join lateral (select count(*) from "public"."comment" as t3 where t3."post_id" = t1."id") as t4("value") on true
 *     order by t2."name", t4."value"
 *
 * A relation that leads to at most one row is a plain join, which PostgreSQL can run in any way, and from either side where nulls are left out. What else
 * there is becomes lateral, so that it is computed once for each row, however often the statement compares and shows it; or, where it is needed of all rows
 * of a table, it is grouped in one pass over the other table:
 *
 *     left join (select t3."post_id", count(*) from "public"."comment" as t3 group by t3."post_id") as t4("key 1", "value") on t4."key 1" = t1."id"
 */
import type { Relation, Table } from '../model/model.ts';
import type { AggregateOrder, OrderValue } from '../plan/plan.ts';
import { identifier, join, newLine, type Sql, sql, trusted } from '../sql/sql.ts';
import { aggregateSql } from './order-aggregate.ts';
import { identityOf, type OrderValues, type RelatedValue, RowValues, uniqueRelation } from './order-values.ts';
import { callOnRow, joinConditions, tableSource } from './related-source.ts';
import { type Aliases, directScope, type Scope } from './scope.ts';

/** What is known of the rows whose values are asked for. */
interface RowsRead {
  readonly table: Table;
  /** Whether its constraints hold for them. */
  readonly keepsNotNull: boolean;
  /** A value that is needed of all rows of a table. */
  readonly ofAllRows: OrderValue | null;
}

/** A row in FROM: that of the collection, or one that it leads to. */
interface JoinedRow {
  readonly scope: Scope;
  /** What is true if the row is there; null if it always is. */
  readonly presence: Sql | null;
  readonly table: Table;
  readonly keepsNotNull: boolean;
  /** The relations that lead there, as a text. */
  readonly path: string;
}

export class JoinedValues implements OrderValues {
  readonly #row: JoinedRow;
  readonly #ofAllRows: string | null;
  readonly #aliases: Aliases;
  readonly #joins: Sql[] = [];
  readonly #rows = new Map<string, JoinedRow>();
  readonly #values = new Map<string, Sql>();

  constructor(scope: Scope, { table, keepsNotNull, ofAllRows }: RowsRead, aliases: Aliases) {
    this.#row = { scope, presence: null, table, keepsNotNull, path: '' };
    this.#ofAllRows = ofAllRows && identityOf(ofAllRows);
    this.#aliases = aliases;
  }

  /** The joins of all values that were asked for. To be called last. */
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
      const isGrouped = ofAllRows && by.kind === 'relation' && isGroupable(by.relation, row.table);
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
    const presence = isThere ? null : sql`${scope.column(columns[0]!.target)} is not null`;
    const joined = { scope, presence, table: target, keepsNotNull: target.keepsNotNull, path };
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
      near: pair.near,
      column: scope.column(pair.target),
      name: identifier(`key ${index + 1}`),
    }));
    const list = join(
      keys.map(({ column }) => column),
      ', ',
    );
    const select = sql`select ${list}, ${aggregateSql(value, scope)}${newLine}from ${tableSource(target)} as ${trusted(scope.alias)}${newLine}group by ${list}`;
    const names = join([...keys.map((key) => key.name), name], ', ');
    const conditions = keys.map((key) => sql`${alias}.${key.name} = ${row.scope.column(key.near)}`);
    this.#join(sql`left join (${select}) as ${alias}(${names}) on ${join(conditions, ' and ')}`);
    // A group is there for each row that has any.
    return value.function === 'count' ? ifPresent(row, sql`coalesce(${alias}.${name}, 0)`) : sql`${alias}.${name}`;
  }

  #join(text: Sql): void {
    this.#joins.push(sql`${newLine}${text}`);
  }
}

function ifPresent({ presence }: JoinedRow, value: Sql): Sql {
  return presence ? sql`case when ${presence} then ${value} end` : value;
}

/** Whether the related rows can be grouped by their key: they are all seen, and values that are equal there are equal for the row that they belong to. */
function isGroupable({ target, columns }: Relation, near: Table): boolean {
  const typeOf = (table: Table, name: string) => table.columns.find((column) => column.name === name)?.type.sqlType;
  return (
    !target.rowSecurity &&
    columns.every((pair) => typeOf(near, pair.near) !== undefined && typeOf(near, pair.near) === typeOf(target, pair.target))
  );
}

/** Whether every row has the one that the relation leads to. */
function isAlwaysThere({ nullable }: Relation, keepsNotNull: boolean): boolean {
  return !nullable && keepsNotNull;
}

function isNeverNull(value: OrderValue, keepsNotNull: boolean): boolean {
  switch (value.kind) {
    case 'column':
      return value.column.notNull;
    case 'computed':
      return false;
    case 'related': {
      const relation = uniqueRelation(value.rows);
      return !!relation && isAlwaysThere(relation, keepsNotNull) && relation.target.keepsNotNull && isNeverNull(value.value, true);
    }
    case 'aggregate':
      return value.function === 'count';
  }
}
