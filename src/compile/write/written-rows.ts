/**
 * Rows on their way from the statement that writes them to the one that reads the response. A setting of the transaction holds their
 * primary keys or, if no key leads to the rows afterwards, what the response needs of them. For an update of posts with their authors:
 *
 *     with changed as (update "public"."post" as t1 set … returning t1."id"::text as c0)
 *     select left(set_config('rowgraph.written', coalesce(json_agg(w), '[]')::text, true), 0) from (select c0 from changed) as w
 *
 *     select … from (select t1.* from json_to_recordset((select current_setting('rowgraph.written', true)::json)) as w(c0 text)
 *       cross join lateral (select t1."title", t1."author_id" from "public"."post" as t1 where t1."id" = w.c0::int4 limit 1) as t1) as t1
 *
 * The rows that a function returns are stored as an array.
 */
import type { Table, ValueType } from '../../model/model.ts';
import type { Member, ResponseValue } from '../../plan/plan.ts';
import { as, coalesce, list, select } from '../../sql/clauses.ts';
import { concatenate } from '../../sql/json-text.ts';
import { builtIn, cast, identifier, integer, literal, newLine, type Sql, sql, trusted } from '../../sql/sql.ts';
import { mayBeGone, toOne } from '../compile-row.ts';
import {
  allNeeds,
  DerivedScope,
  directScope,
  needsOfColumns,
  needsOfOrder,
  needsOfValue,
  type RowNeeds,
  type Scope,
  type ToOneValue,
  tableName,
} from '../scope.ts';
import type { StatementContext } from '../statement.ts';
import { comparable, comparedType, isNameable } from '../values/comparison.ts';
import { responseNeeds, shownRows, sortKeys } from './compile-response.ts';

const setting = literal('rowgraph.written');

/** Empty text: what is stored must not be sent as a result, too. */
function store(value: Sql): Sql {
  return builtIn('left', builtIn('set_config', setting, value, trusted('true')), integer(0));
}

/** In a subselect, so that PostgreSQL reads it once, and never while it plans. */
function storedValue(type: Sql): Sql {
  return sql`(select ${builtIn('current_setting', setting, trusted('true'))}::${type})`;
}

/** The number of written rows. */
export const writtenCount: Sql = builtIn('json_array_length', storedValue(trusted('json')));

/** An expression that stores the rows of `w`, which a function returns. */
export function storeResult(table: Table): Sql {
  return store(coalesce(sql`pg_catalog.array_agg(w.*::${tableName(table)})::text`, literal('{}')));
}

/** The rows that a function has returned, as an expression for FROM. */
export function storedResult(table: Table): Sql {
  return builtIn('unnest', storedValue(sql`${tableName(table)}[]`));
}

/** How the written rows of a table are stored, and read again. */
export interface StoredRows {
  /** The rows that the response reads. */
  readonly rows: DerivedScope;
  /** The outputs of RETURNING, and the select from `changed` that stores them. */
  readonly returned: readonly Sql[];
  readonly store: Sql;
  readonly from: Sql;
  /** The rows in the order in which they were written, as a FROM item. `position` is the name of an output with their number. */
  readonly read: (position: string | null) => Sql;
}

/** The rows that a mutation of a table writes, in the two statements. */
export interface Written {
  readonly table: Table;
  readonly members: readonly Member<ResponseValue>[];
  /** The row in the statement that writes it. */
  readonly target: Scope;
  /** The context of the statement that reads the response, and the alias of the rows in it. */
  readonly context: StatementContext;
  readonly alias: string;
}

/** Whether written rows of a table can be found by their key. */
export function hasReadableKey({ keyIsProven, primaryKey }: Table): boolean {
  return keyIsProven && primaryKey.every(({ selectable, comparable }) => selectable && comparable);
}

/** Rows that are read again by their key: as they are then, without those that are no longer there or that the role can no longer see. */
export function rowsByKey({ table, members, target, alias }: Written): StoredRows {
  const rows = new DerivedScope(alias, table, responseNeeds(members), table.keepsNotNull);
  const names = table.primaryKey.map(({ name }) => name);
  const inner = directScope(alias, table);
  const found = foundByKey(table, inner, rows.outputs(inner), names);
  const cells = names.map((name) => target.column(name));
  return storedRows(rows, cells, found, (read) => rows.withJson(read));
}

/** The row that the key in the cells of `names` leads to. The limit keeps PostgreSQL from joining in another order. */
function foundByKey(table: Table, inner: Scope, outputs: readonly Sql[], names: readonly string[]): Sql {
  const isSame = table.primaryKey.map(({ name, type }) => {
    const key = valueOf(cell(names.indexOf(name)), name, type, table, comparedType(type));
    return sql`${comparable(inner.column(name), type)} = ${key}`;
  });
  return select({ columns: orOne(outputs), from: as(tableName(table), inner.alias), where: isSame, limit: integer(1) });
}

/** Rows that are read as they were written: deleted rows, and those that no key surely leads to. */
export function rowsAsWritten(written: Written): StoredRows {
  const { table, alias } = written;
  const rows = new WrittenScope(written, writtenNeeds(written));
  // The first select has no rows. It gives the columns the collations that they have in the table.
  const none = select({ columns: orOne(rows.outputsOfNone()), from: as(tableName(table), alias), where: [trusted('false')] });
  return storedRows(rows, rows.cells(), unionAll(none, select({ columns: orOne(rows.outputsOfCells()) })));
}

/**
 * Rows of a view that are read again by their key, or as they were written if the key leads to none: a trigger of the view may not know the
 * key, and a change may take a row out of the view.
 */
export function rowsByKeyOrAsWritten(written: Written): StoredRows {
  const { table, alias } = written;
  const key = needsOfColumns(table.primaryKey.map(({ name }) => name));
  const rows = new WrittenScope(written, allNeeds([writtenNeeds(written), key]));
  const inner = directScope(alias, table);
  const found = foundByKey(table, inner, rows.outputsOfRow(inner), rows.needs.columns);
  return storedRows(rows, rows.cells(), sql`${unionAll(sql`(${found})`, select({ columns: orOne(rows.outputsOfCells()) }))} limit 1`);
}

/** Needs of rows that are read as they were written: the columns that are only shown are stored as JSON. */
function writtenNeeds({ members }: Written): RowNeeds {
  const needs = shownRows(members).map(({ table, members: values }): RowNeeds => {
    const others = values.flatMap(({ value }) => (value.kind === 'column' ? [] : [needsOfValue(value, table)]));
    const json = values.flatMap(({ value }) => (value.kind === 'column' ? [value.column] : []));
    return { ...allNeeds(others), json };
  });
  return allNeeds([...needs, ...sortKeys(members).map(({ value }) => needsOfOrder(value))]);
}

/**
 * Rows as they were written. The columns that are only shown are stored as JSON, because a role may be able to read values without being
 * able to name their types; so are rows that they refer to and that may be gone.
 */
class WrittenScope extends DerivedScope {
  readonly #written: Written;
  readonly #gone: readonly ToOneValue[];

  constructor(written: Written, needs: RowNeeds) {
    const { table, alias, members } = written;
    super(alias, table, needs, table.keepsNotNull);
    this.#written = written;
    const values = shownRows(members).flatMap((row) => row.members.map(({ value }) => value));
    this.#gone = values.filter((value) => value.kind === 'to-one').filter((value) => mayBeGone(value, table));
  }

  asWritten(value: ToOneValue): Sql | undefined {
    const index = this.#gone.indexOf(value);
    return index < 0 ? undefined : this.output(this.jsonName(this.needs.json.length + index));
  }

  /** The outputs that rows of the table would have, for a select without rows. */
  outputsOfNone(): Sql[] {
    const { table, alias } = this.#written;
    return [...this.outputs(directScope(alias, table)), ...this.#jsonOutputs(() => sql`null::text`)];
  }

  /** The outputs of a row of the table. */
  outputsOfRow(inner: Scope): Sql[] {
    const json = this.#jsonOf(inner);
    return [...this.outputs(inner), ...this.#jsonOutputs((index) => sql`(${json[index]!})::text`)];
  }

  /** What to store of a row, in the order of the outputs. */
  cells(): Sql[] {
    const { table, target } = this.#written;
    const { columns, row } = this.needs;
    return [
      ...columns.map((name) => target.column(name)),
      ...(row ? [sql`(${target.row}::${tableName(table)})`] : []),
      ...this.#jsonOf(target).map((json) => sql`(${json})`),
    ];
  }

  /** The outputs of a stored row. */
  outputsOfCells(): Sql[] {
    const { table } = this.#written;
    const { columns } = this.needs;
    const column = (name: string): Sql => valueOf(cell(columns.indexOf(name)), name, typeOf(name, table), table);
    const values = this.outputs({ ...directScope('w', table), column, row: cell(columns.length) });
    return [...values, ...this.#jsonOutputs((index) => cell(values.length + index))];
  }

  #jsonOf(row: Scope): Sql[] {
    const { table, context } = this.#written;
    return [
      ...this.needs.json.map((column) => concatenate(row.columnJson(column))),
      ...this.#gone.map((value) => toOne(value, table, row, context)),
    ];
  }

  #jsonOutputs(json: (index: number) => Sql): Sql[] {
    const { length } = [...this.needs.json, ...this.#gone];
    return Array.from({ length }, (_, index) => sql`${json(index)} as ${identifier(this.jsonName(index))}`);
  }
}

function storedRows(rows: DerivedScope, stored: readonly Sql[], row: Sql, around = (read: Sql): Sql => read): StoredRows {
  // Without a cell, rows could not be counted.
  const cells = stored.length > 0 ? stored : [integer(1)];
  const names = cells.map((_, index) => trusted(`c${index}`));
  const { alias } = rows;
  const all = sql`${builtIn('json_to_recordset', storedValue(trusted('json')))} as w(${list(names.map((name) => sql`${name} text`))})`;
  return {
    rows,
    returned: stored.length > 0 ? stored.map((value, index) => sql`${value}::text as ${names[index]!}`) : [sql`1 as c0`],
    store: store(sql`${coalesce(builtIn('json_agg', trusted('w')), literal('[]'))}::text`),
    from: as(sql`(${select({ columns: names, from: trusted('changed') })})`, 'w'),
    read: (position) => {
      const number = position === null ? [] : [sql`${builtIn('row_number')} over () as ${identifier(position)}`];
      const joins = [sql`cross join ${as(sql`lateral (${row})`, alias)}`];
      return around(sql`(${select({ columns: [sql`${trusted(alias)}.*`, ...number], from: all, joins })})`);
    },
  };
}

/** A stored cell of a row. */
function cell(index: number): Sql {
  return trusted(`w.c${index}`);
}

/**
 * A stored cell as the value of a column again. If the role cannot name the type, nor the one that a domain is based on, the value is read
 * as a column of the table's row type. It is put into a row of nulls, because PostgreSQL would check NOT NULL of domains if it made the
 * row.
 */
function valueOf(text: Sql, column: string, type: ValueType, table: Table, name = type.sqlType): Sql {
  if (isNameable(type)) return cast(text, name);
  if (type.kind === 'scalar' && type.writtenAs !== undefined) return cast(text, type.writtenAs);
  const rowType = tableName(table);
  const json = builtIn('json_build_object', literal(column), text);
  const row = sql`row((null::${rowType}).*)::${rowType}`;
  return sql`(${builtIn('json_populate_record', row, json)}).${identifier(column)}`;
}

function orOne(outputs: readonly Sql[]): readonly Sql[] {
  return outputs.length > 0 ? outputs : [integer(1)];
}

function unionAll(one: Sql, other: Sql): Sql {
  return sql`${one}${newLine}union all${newLine}${other}`;
}

/** The type of a column that may be read of a row: a column or key, or one that a relation is by. */
function typeOf(name: string, { columns, primaryKey, relations }: Table): ValueType {
  const column = [...columns, ...primaryKey].find((each) => each.name === name);
  const type = column?.type ?? relations.flatMap((relation) => relation.columns).find(({ near }) => near === name)?.nearType;
  if (!type) throw new Error(`The column ${name} has no type.`);
  return type;
}
