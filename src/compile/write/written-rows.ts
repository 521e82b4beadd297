/**
 * Rows on their way from the statement that writes them to the one that reads the response. A setting of the transaction holds their primary
 * keys or, if no key leads to the rows afterwards, what the response needs of them. For an update of posts with their authors:
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
import { identifier, join, literal, newLine, type Sql, sql, trusted } from '../../sql/sql.ts';
import { tableSource } from '../related-rows.ts';
import { DerivedScope, directScope, type JsonOf, type Scope } from '../scope.ts';
import { comparable, comparedType, isNameable } from '../values/comparison.ts';

const setting = literal('rowgraph.written');

/** Empty text: what is stored must not be sent as a result, too. */
function store(value: Sql): Sql {
  return sql`pg_catalog.left(pg_catalog.set_config(${setting}, ${value}, true), 0)`;
}

/** In a subselect, so that PostgreSQL reads it once, and never while it plans. */
function stored(type: Sql): Sql {
  return sql`(select pg_catalog.current_setting(${setting}, true)::${type})`;
}

/** The number of written rows. */
export const writtenCount: Sql = sql`pg_catalog.json_array_length(${stored(trusted('json'))})`;

/** An expression that stores the rows of `w`, which a function returns. */
export function storeResult(table: Table): Sql {
  return store(sql`coalesce(pg_catalog.array_agg(w.*::${tableSource(table)})::text, '{}')`);
}

/** The rows that a function has returned, as an expression for FROM. */
export function storedResult(table: Table): Sql {
  return sql`pg_catalog.unnest(${stored(sql`${tableSource(table)}[]`)})`;
}

/** How the written rows of a table are stored, and read again. */
export interface WrittenRows {
  /** The outputs of RETURNING to store. */
  readonly returned: (target: Scope) => readonly Sql[];
  /** An expression that stores the rows of `w`, and FROM with these rows, out of those of `changed`. */
  readonly store: Sql;
  readonly from: Sql;
  /** The rows with the outputs that `rows` needs, in the order in which they were written, as a FROM item. `number` is their position. */
  readonly read: (number: Sql | null) => Sql;
}

/**
 * Rows that are read again by their key: as they are then, without those that are no longer there or that the role can no longer see.
 * `rows` is the scope of what reads them, which must have been compiled.
 */
export function rowsByKey(table: Table, rows: DerivedScope): WrittenRows {
  const names = table.primaryKey.map(({ name }) => name);
  const inner = directScope(rows.alias, table);
  return writtenRows(rows, names.map(columnOf), foundByKey(table, inner, rows.outputs(inner), names));
}

/** The row that the key in the cells of `names` leads to. The limit keeps PostgreSQL from joining in another order. */
function foundByKey(table: Table, inner: Scope, outputs: readonly Sql[], names: readonly string[]): Sql {
  const isSame = table.primaryKey.map(({ name, type }) => {
    const stored = value(cell(names.indexOf(name)), name, type, table, comparedType(type));
    return sql`${comparable(inner.column(name), type)} = ${stored}`;
  });
  return sql`select ${listOf(outputs)} from ${tableSource(table)} as ${trusted(inner.alias)} where ${join(isSame, ' and ')} limit 1`;
}

/** Whether written rows of a table can be found by their key. */
export function hasReadableKey({ keyIsProven, primaryKey }: Table): boolean {
  return keyIsProven && primaryKey.every(({ selectable, comparable }) => selectable && comparable);
}

/** Rows that are read as they were written: deleted rows, and those that no key surely leads to. `rows` must have been compiled. */
export function rowsAsWritten(table: Table, rows: WrittenScope): WrittenRows {
  // The first select has no rows. It gives the columns the collations that they have in the table.
  const none = sql`select ${listOf(rows.outputsOfNone())} from ${tableSource(table)} as ${trusted(rows.alias)} where false`;
  return writtenRows(rows, rows.kept(), sql`${none} union all select ${listOf(rows.outputsOfKept())}`);
}

/**
 * Rows of a view that are read again by their key, or as they were written if the key leads to none: a trigger of the view may not know the
 * key, and a change may take a row out of the view. `rows` must have been compiled.
 */
export function rowsByKeyOrAsWritten(table: Table, rows: WrittenScope): WrittenRows {
  for (const { name } of table.primaryKey) rows.column(name);
  const inner = directScope(rows.alias, table);
  const found = foundByKey(table, inner, rows.outputsOfRow(inner), rows.names());
  return writtenRows(rows, rows.kept(), sql`(${found}) union all select ${listOf(rows.outputsOfKept())} limit 1`);
}

/**
 * The scope of what reads rows as they were written. The columns that are only shown are stored as JSON, because a role may be able to read
 * values without being able to name their types.
 */
export class WrittenScope extends DerivedScope {
  readonly #table: Table;
  readonly #kept: { readonly name: Sql; readonly json: JsonOf }[] = [];
  /** References to the JSON of columns. */
  readonly #columns = new Map<string, Sql>();

  constructor(alias: string, table: Table) {
    super(alias, table, table);
    this.#table = table;
  }

  override repeated(column: string, json: JsonOf): Sql {
    const known = this.#columns.get(column) ?? this.keep(json);
    this.#columns.set(column, known);
    return known;
  }

  keep(json: JsonOf): Sql {
    const name = identifier(this.freeName(`(json ${this.#kept.length + 1})`));
    this.#kept.push({ name, json });
    return sql`${trusted(this.alias)}.${name}`;
  }

  /** The outputs that rows of the table would have, for a select without rows. */
  outputsOfNone(): Sql[] {
    const columns = this.outputs(directScope(this.alias, this.#table));
    return [...columns, ...this.#kept.map(({ name }) => sql`null::text as ${name}`)];
  }

  /** The outputs of a row of the table. */
  outputsOfRow(inner: Scope): Sql[] {
    return [...this.outputs(inner), ...this.#kept.map(({ name, json }) => sql`(${json(inner)})::text as ${name}`)];
  }

  /** What to store of a row, in the order of the outputs. */
  kept(): Kept[] {
    const row: Kept[] = this.usesRow() ? [(target) => sql`(${target.row()}::${tableSource(this.#table)})`] : [];
    const json = this.#kept.map(
      (each): Kept =>
        (target) =>
          sql`(${each.json(target)})`,
    );
    return [...this.names().map(columnOf), ...row, ...json];
  }

  /** The outputs of a stored row. */
  outputsOfKept(): Sql[] {
    const names = this.names();
    const typed = (name: string) => value(cell(names.indexOf(name)), name, typeOf(name, this.#table), this.#table);
    const columns = this.outputs({ ...directScope('w', this.#table), column: typed, row: () => cell(names.length) });
    return [...columns, ...this.#kept.map(({ name }, index) => sql`${cell(columns.length + index)} as ${name}`)];
  }
}

/** A part of a written row to store. */
type Kept = (target: Scope) => Sql;

function columnOf(name: string): Kept {
  return (target) => target.column(name);
}

function writtenRows(rows: DerivedScope, kept: readonly Kept[], row: Sql): WrittenRows {
  // Without a cell, rows could not be counted.
  const cells = kept.length > 0 ? kept.map((_, index) => trusted(`c${index}`)) : [trusted('c0')];
  const alias = trusted(rows.alias);
  const columns = cells.map((each) => sql`${each} text`);
  const all = sql`pg_catalog.json_to_recordset(${stored(trusted('json'))}) as w(${join(columns, ', ')})`;
  return {
    returned: (target) => (kept.length > 0 ? kept.map((of, index) => sql`${of(target)}::text as ${cells[index]!}`) : [sql`1 as c0`]),
    store: store(sql`coalesce(pg_catalog.json_agg(w), '[]')::text`),
    from: sql`${newLine}from (select ${join(cells, ', ')} from changed) as w`,
    read: (number) => {
      const position = number ? sql`, pg_catalog.row_number() over () as ${number}` : sql``;
      return sql`(select ${alias}.*${position}${newLine}from ${all}${newLine}cross join lateral (${row}) as ${alias})`;
    },
  };
}

/** A stored cell of a row. */
function cell(index: number): Sql {
  return trusted(`w.c${index}`);
}

/**
 * A stored cell as the value of a column again. If the role cannot name the type, nor the one that a domain is based on, the value is read as
 * a column of the table's row type. It is put into a row of nulls, because PostgreSQL would check NOT NULL of domains if it made the row.
 */
function value(text: Sql, column: string, type: ValueType, table: Table, name = type.sqlType): Sql {
  if (isNameable(type)) return sql`${text}::${trusted(name)}`;
  if (type.kind === 'scalar' && type.writtenAs !== undefined) return sql`${text}::${trusted(type.writtenAs)}`;
  const source = tableSource(table);
  const json = sql`pg_catalog.json_build_object(${literal(column)}, ${text})`;
  return sql`(pg_catalog.json_populate_record(row((null::${source}).*)::${source}, ${json})).${identifier(column)}`;
}

function listOf(outputs: readonly Sql[]): Sql {
  return outputs.length > 0 ? join(outputs, ', ') : sql`1`;
}

/** The type of a column that may be read of a row: a column or key, or one that a relation is by. */
function typeOf(name: string, { columns, primaryKey, relations }: Table): ValueType {
  const column = [...columns, ...primaryKey].find((each) => each.name === name);
  const type = column?.type ?? relations.flatMap((relation) => relation.columns).find(({ near }) => near === name)?.nearType;
  if (!type) throw new Error(`The column ${name} has no type.`);
  return type;
}
