/**
 * Keys of rows that a statement leaves for later ones of its transaction, in settings: the text of the only row for each column, or a JSON array of texts in
 * the order of the rows. Where the plan does not know the labels of the rows, these have a setting, too. Only statements of the same root field read one, each
 * after a statement that has set it anew; no other root field has one of the same name.
 *
 *     select set_config('rowgraph.keys_1_0', json_agg(w.c0::text)::text, true) from written as w
 *     select ((select current_setting('rowgraph.keys_1_0', true)::jsonb) ->> 7)::int8
 */
import type { KeyList } from '../plan/nested-plan.ts';
import { identifier, integer, join, literal, type Sql, sql, trusted } from '../sql/sql.ts';

/** The settings of the columns, and of the labels. */
function settingsOf({ number, columns, labels }: KeyList): { readonly columns: readonly Sql[]; readonly labels: Sql | null } {
  const setting = (part: number | 'n'): Sql => literal(`rowgraph.keys_${number}_${part}`);
  return { columns: columns.map((_, index) => setting(index)), labels: labels === null ? setting('n') : null };
}

/**
 * Whether a list has but one row, whose values settings hold as they are, which is less work than JSON. An empty text stands for null there, so that none may
 * be null.
 */
export function holdsOnlyRow({ labels, columns, table }: KeyList): boolean {
  if (labels?.length !== 1 || !table.keepsNotNull) return false;
  return columns.every((name) => table.columns.some((column) => column.name === name && column.notNull));
}

function textOf(setting: Sql): Sql {
  return sql`pg_catalog.current_setting(${setting}, true)`;
}

/** As JSON that finds an element at once, wherever it stands. */
function read(setting: Sql): Sql {
  return sql`${textOf(setting)}::jsonb`;
}

/** The rows of a list that may have several as a FROM item: `m`, the number, and the columns; and `n`, the label, if the plan does not know it. */
export function keyRows(list: KeyList, alias: string): Sql {
  const { columns, labels } = settingsOf(list);
  const settings = labels === null ? columns : [labels, ...columns];
  const arrays = settings.map((setting) => sql`pg_catalog.jsonb_array_elements_text(${read(setting)})`);
  const names = [...(labels === null ? [] : ['n']), ...columns.map((_, index) => `c${index}`), 'm'];
  const rows = arrays.length === 1 ? arrays[0]! : sql`rows from (${join(arrays, ', ')})`;
  return sql`${rows} with ordinality as ${trusted(alias)}(${trusted(names.join(', '))})`;
}

/** The values of a column of a list that may have several rows, in an array. */
export function keysAsArray(list: KeyList, column: string, type: string): Sql {
  const values = sql`pg_catalog.jsonb_array_elements_text(${read(settingsOf(list).columns[indexIn(list, column)]!)})`;
  return sql`array(select a.v::${trusted(type)} from ${values} as a(v))`;
}

/** How many rows a list has. */
export function countOfKeys(list: KeyList): Sql {
  if (holdsOnlyRow(list)) return integer(1);
  return sql`pg_catalog.jsonb_array_length(${read(settingsOf(list).columns[0]!)})`;
}

/** The label of a row of a list, whose rows are a FROM item. */
export function keyLabel(alias: string): Sql {
  return sql`${trusted(alias)}.n::int4`;
}

/** A column of a row of a list, by its name in PostgreSQL, as a value of a type. The rows are a FROM item. */
export function keyColumn(list: KeyList, alias: string, column: string, type: string): Sql {
  return sql`${trusted(`${alias}.c${indexIn(list, column)}`)}::${trusted(type)}`;
}

/** A column of the only row of a list. */
export function onlyKey(list: KeyList, column: string, type: string): Sql {
  const setting = settingsOf(list).columns[indexIn(list, column)]!;
  const value = holdsOnlyRow(list) ? textOf(setting) : sql`(${read(setting)} ->> 0)`;
  return sql`(select ${value}::${trusted(type)})`;
}

/** A column of the row at a place, which begins with 0; null if that is null. */
export function keyAt(list: KeyList, place: Sql, column: string, type: string): Sql {
  if (holdsOnlyRow(list)) return sql`case ${place} when 0 then ${onlyKey(list, column, type)} end`;
  return sql`((select ${read(settingsOf(list).columns[indexIn(list, column)]!)}) ->> ${place})::${trusted(type)}`;
}

function indexIn({ columns }: KeyList, column: string): number {
  const index = columns.indexOf(column);
  if (index < 0) throw new Error(`The column ${column} is not kept.`);
  return index;
}

/** What a statement returns of the rows that it writes, for the list: the columns of `alias`. */
export function keptColumns({ columns }: KeyList, alias: string): Sql {
  return join(
    columns.map((column, index) => sql`${trusted(alias)}.${identifier(column)} as ${trusted(`c${index}`)}`),
    ', ',
  );
}

/** Leaves the only row of a list, of which these are the values as texts. */
function keepOnlyRow(list: KeyList, values: readonly Sql[]): Sql[] {
  return settingsOf(list).columns.map((setting, index) => sql`pg_catalog.set_config(${setting}, ${values[index]!}, true)`);
}

/** Leaves the only row of a list where it is returned. */
export function keepReturned(list: KeyList, { alias }: { readonly alias: string }): Sql[] {
  return keepOnlyRow(
    list,
    list.columns.map((column) => sql`${trusted(alias)}.${identifier(column)}::text`),
  );
}

/**
 * Leaves rows in a list: aggregates over `rows`, which has the columns and, if the list has labels, `m`. `appends`: behind those that are there. Rows that an
 * insert returns come in the order in which it has written them.
 */
export function keepKeys(list: KeyList, label: Sql, rows: string, appends: boolean): Sql[] {
  const { columns, labels } = settingsOf(list);
  if (holdsOnlyRow(list))
    return keepOnlyRow(
      list,
      columns.map((_, index) => sql`pg_catalog.min(${trusted(`${rows}.c${index}`)}::text)`),
    );
  const keep = (setting: Sql, value: Sql): Sql => {
    const all =
      labels === null
        ? sql`pg_catalog.json_agg(${value})`
        : sql`coalesce(pg_catalog.jsonb_agg(${value} order by ${trusted(rows)}.m), '[]')`;
    return sql`pg_catalog.set_config(${setting}, (${appends ? sql`${read(setting)} || ` : sql``}${all})::text, true)`;
  };
  const kept = columns.map((setting, index) => keep(setting, sql`${trusted(`${rows}.c${index}`)}::text`));
  return labels === null ? kept : [keep(labels, label), ...kept];
}
