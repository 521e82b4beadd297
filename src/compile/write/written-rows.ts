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
import type { Table } from '../../model/model.ts';
import type { ValueType } from '../../model/value-type.ts';
import type { Member, ResponseValue } from '../../plan/plan.ts';
import { as, coalesce, list, named, rowNumber, select, subselect } from '../../sql/clauses.ts';
import { concatenate } from '../../sql/json-text.ts';
import { builtIn, cast, identifier, integer, literal, newLine, type Sql, sql, trusted } from '../../sql/sql.ts';
import { mayBeGone, toOne } from '../compile-row.ts';
import { needsOfOrder } from '../page/order-keys.ts';
import {
  allNeeds,
  DerivedScope,
  directScope,
  needsOfColumns,
  needsOfValue,
  noNeeds,
  type RowNeeds,
  type Scope,
  tableName,
} from '../scope.ts';
import { andHere } from '../shards.ts';
import type { StatementContext } from '../statement.ts';
import { comparable, comparedType, isNameable } from '../values/comparison.ts';
import { listOrder, responseNeeds, shownRows, sortKeys } from './compile-response.ts';

const setting = literal('rowgraph.written');

/** Empty text: what is stored must not be sent as a result, too. */
export function store(value: Sql): Sql {
  return builtIn('left', builtIn('set_config', setting, value, trusted('true')), integer(0));
}

/** In a subselect, so that PostgreSQL reads it once, and never while it plans. */
export function storedValue(type: Sql): Sql {
  return sql`(select ${builtIn('current_setting', setting, trusted('true'))}::${type})`;
}

/** The number of written rows. */
export const writtenCount: Sql = builtIn('json_array_length', storedValue(trusted('json')));

/** An expression that stores the rows of `w`, which a function returns. */
export function storeResult(table: Table): Sql {
  return store(coalesce(sql`pg_catalog.array_agg(w.*::${tableName(table)})::text`, literal('{}')));
}

/** The rows that a function has returned, as an expression for FROM. If Citus has a part in the statement, it is read where the setting is. */
export function storedResult(table: Table): Sql {
  const rows = builtIn('unnest', storedValue(sql`${tableName(table)}[]`));
  const isSharded = table.placement !== null || table.relations.some(({ target }) => target.placement !== null);
  return isSharded ? subselect({ columns: [trusted('w.*')], from: sql`${as(rows, 'w')}${andHere}` }) : rows;
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

/** How the written rows of a table are stored, and read again. */
export interface StoredRows {
  /** The rows that the response reads, and the order of its lists. */
  readonly rows: DerivedScope;
  readonly order: readonly Sql[];
  /** The outputs of RETURNING, and the select from `changed` that stores them. */
  readonly returned: readonly Sql[];
  readonly store: Sql;
  readonly from: Sql;
  /** The rows in the order in which they were written, as a FROM item. */
  readonly read: Sql;
}

/** Whether written rows of a table can be found by their key. */
export function hasReadableKey({ keyIsProven, primaryKey }: Table): boolean {
  return keyIsProven && primaryKey.every(({ selectable, comparable }) => selectable && comparable);
}

/** Rows that are read again by their key: as they are then, without those that are no longer there or that the role can no longer see. */
export function rowsByKey(written: Written): StoredRows {
  const { table, members, alias } = written;
  const rows = new DerivedScope(alias, table, responseNeeds(members), table.keepsNotNull);
  const inner = directScope(alias, table);
  const names = table.primaryKey.map(({ name }) => name);
  const cells = names.map((name) => columnCell(name, table));
  const outputs = rows.outputs(inner, written.context.valueJson);
  const stored = storedRows(written, rows, cells, foundByKey(written, outputs.length > 0 ? outputs : [integer(1)], names));
  return { ...stored, read: rows.withJson(stored.read) };
}

/** Rows that are read as they were written: deleted rows, and those that no key surely leads to. */
export function rowsAsWritten(written: Written): StoredRows {
  const { table, alias } = written;
  const { rows, cells } = writtenScope(written, []);
  const inner = directScope(alias, table);
  // The first select has no rows. It gives the columns the collations that they have in the table.
  const columns = outputsOf(cells, (cell) => (cell.isJson ? sql`null::text` : cell.of(inner)));
  const none = select({ columns, from: as(tableName(table), alias), where: [trusted('false')] });
  return storedRows(written, rows, cells, unionAll(none, restored(cells)));
}

/**
 * Rows of a view that are read again by their key, or as they were written if the key leads to none: a trigger of the view may not know the
 * key, and a change may take a row out of the view.
 */
export function rowsByKeyOrAsWritten(written: Written): StoredRows {
  const { table, alias } = written;
  const key = table.primaryKey.map(({ name }) => name);
  const { rows, cells } = writtenScope(written, key);
  const inner = directScope(alias, table);
  const outputs = outputsOf(cells, (cell) => (cell.isJson ? cast(cell.of(inner), 'text') : cell.of(inner)));
  const found = foundByKey(written, outputs, rows.needs.columns);
  return storedRows(written, rows, cells, sql`${unionAll(sql`(${found})`, restored(cells))} limit 1`);
}

/** The row that the key in the cells of `names` leads to. The limit keeps PostgreSQL from joining in another order. */
function foundByKey({ table, alias }: Written, outputs: readonly Sql[], names: readonly string[]): Sql {
  const inner = directScope(alias, table);
  const isSame = table.primaryKey.map(({ name, type }) => {
    const key = restoredValue(cellAt(names.indexOf(name)), name, table, comparedType(type));
    return sql`${comparable(inner.column(name), type)} = ${key}`;
  });
  return select({ columns: outputs, from: as(tableName(table), alias), where: isSame, limit: integer(1) });
}

/** A part of a written row that is stored as text. */
interface Cell {
  /** The output of the rows that has it. */
  readonly output: string;
  readonly isJson: boolean;
  /** Its value in a row of the table. */
  readonly of: (row: Scope) => Sql;
  /** Its value again. */
  readonly restored: (text: Sql) => Sql;
}

/**
 * The rows as they were written. The columns that are only shown are stored as JSON, because a role may be able to read values without
 * being able to name their types; so are rows that they refer to and that may be gone.
 */
function writtenScope(written: Written, key: readonly string[]): { rows: DerivedScope; cells: Cell[] } {
  const { table, alias, context } = written;
  const needs = writtenNeeds(written, key);
  const rows = new DerivedScope(alias, table, needs, table.keepsNotNull);
  const rowCell: Cell = {
    output: rows.rowName(),
    isJson: false,
    of: ({ row }) => sql`(${row}::${tableName(table)})`,
    restored: (text) => sql`${text}::${tableName(table)}`,
  };
  const json = [
    ...needs.json.map((column) => (row: Scope) => concatenate(row.columnJson(column))),
    ...needs.kept.map((value) => (row: Scope) => toOne(value, table, row, context)),
  ];
  const jsonCells = json.map((jsonOf, index): Cell => {
    return { output: rows.jsonName(index), isJson: true, of: (row) => sql`(${jsonOf(row)})`, restored: (text) => text };
  });
  return { rows, cells: [...needs.columns.map((name) => columnCell(name, table)), ...(needs.row ? [rowCell] : []), ...jsonCells] };
}

function writtenNeeds({ table, members }: Written, key: readonly string[]): RowNeeds {
  const values = shownRows(members).flatMap((row) => row.members.map(({ value }) => value));
  const shown = {
    ...noNeeds,
    json: values.flatMap((value) => (value.kind === 'column' ? [value.column] : [])),
    kept: values.filter((value) => value.kind === 'to-one').filter((value) => mayBeGone(value, table)),
  };
  const others = values.flatMap((value) => (value.kind === 'column' ? [] : [needsOfValue(value, table)]));
  return allNeeds([...others, ...sortKeys(members).map(({ value }) => needsOfOrder(value)), needsOfColumns(key), shown]);
}

function columnCell(name: string, table: Table): Cell {
  return {
    output: name,
    isJson: false,
    of: (row) => row.column(name),
    restored: (text) => restoredValue(text, name, table),
  };
}

/** A select of the stored row `w`. */
function restored(cells: readonly Cell[]): Sql {
  return select({ columns: outputsOf(cells, (cell, index) => cell.restored(cellAt(index))) });
}

/** Without an output, rows could not be counted. */
function outputsOf(cells: readonly Cell[], value: (cell: Cell, index: number) => Sql): Sql[] {
  if (cells.length === 0) return [integer(1)];
  return cells.map((cell, index) => named(value(cell, index), cell.output));
}

/** `row` selects a row by the stored row `w`. */
function storedRows({ members, target }: Written, rows: DerivedScope, cells: readonly Cell[], row: Sql): StoredRows {
  // Without a cell, rows could not be counted.
  const values = cells.length > 0 ? cells.map((cell) => cast(cell.of(target), 'text')) : [integer(1)];
  const names = values.map((_, index) => trusted(`c${index}`));
  const columns = list(names.map((name) => sql`${name} text`));
  const { position, order } = listOrder(rows, members);
  const read = subselect({
    columns: [sql`${trusted(rows.alias)}.*`, ...(position === null ? [] : [named(rowNumber(), position)])],
    from: sql`${builtIn('json_to_recordset', storedValue(trusted('json')))} as w(${columns})`,
    joins: [sql`cross join ${as(sql`lateral (${row})`, rows.alias)}`],
  });
  return {
    rows,
    order,
    returned: values.map((value, index) => sql`${value} as ${names[index]!}`),
    store: store(cast(coalesce(builtIn('json_agg', trusted('w')), literal('[]')), 'text')),
    from: as(subselect({ columns: names, from: trusted('changed') }), 'w'),
    read,
  };
}

/** The stored cell of a row. */
function cellAt(index: number): Sql {
  return trusted(`w.c${index}`);
}

/**
 * A stored cell as the value of a column again. If the role cannot name the type, nor the one that a domain is based on, the value is read
 * as a column of the table's row type. It is put into a row of nulls, because PostgreSQL would check NOT NULL of domains if it made the
 * row.
 */
function valueOf(text: Sql, column: string, type: ValueType, table: Table, name = type.sqlType): Sql {
  if (isNameable(type)) return cast(text, name);
  if ('writtenAs' in type && type.writtenAs !== undefined) return cast(text, type.writtenAs);
  const rowType = tableName(table);
  const json = builtIn('json_build_object', literal(column), text);
  const row = sql`row((null::${rowType}).*)::${rowType}`;
  return sql`(${builtIn('json_populate_record', row, json)}).${identifier(column)}`;
}

/** A stored text as the value of a column again, or as a value of the type that it is compared as. */
export function restoredValue(text: Sql, column: string, table: Table, comparedAs?: string): Sql {
  return valueOf(text, column, typeOf(column, table), table, comparedAs);
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
