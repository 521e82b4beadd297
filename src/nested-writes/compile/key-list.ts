/**
 * Stores keys of rows for later statements of the transaction, in settings: for a single row, the text of each column, otherwise a JSON
 * array of texts per column, in row order. Labels have a setting too, unless the plan knows them. A setting is read only by statements of
 * the same root field, after one that has set it; names of settings are unique to a root field.
 *
 *     select set_config('rowgraph.keys_1_0', json_agg(w.c0::text)::text, true) from written as w
 *     select ((select current_setting('rowgraph.keys_1_0', true)::jsonb) ->> 7)::int8
 */
import type { KeyList } from '../../plan/nested-write-plan.ts';
import { identifier, integer, join, literal, type Sql, sql, trusted } from '../../sql/sql.ts';

/** The names of the settings. */
function settingsOf({ number, columns, labels }: KeyList): { readonly columns: readonly Sql[]; readonly labels: Sql | null } {
  const setting = (part: number | 'n'): Sql => literal(`rowgraph.keys_${number}_${part}`);
  return { columns: columns.map((_, index) => setting(index)), labels: labels === null ? setting('n') : null };
}

/**
 * Whether a list has a single row that settings hold as plain text, which is cheaper than JSON. An empty setting would stand for null, so
 * all its columns must be non-null.
 */
export function holdsOnlyRow({ labels, columns, table }: KeyList): boolean {
  if (labels?.length !== 1 || !table.keepsNotNull) return false;
  return columns.every((name) => table.columns.some((column) => column.name === name && column.notNull));
}

function textOf(setting: Sql): Sql {
  return sql`pg_catalog.current_setting(${setting}, true)`;
}

/** As jsonb, in which any element is found directly. */
function read(setting: Sql): Sql {
  return sql`${textOf(setting)}::jsonb`;
}

/**
 * A list that may have several rows as a FROM item with the columns, `m` (the row number), and `n` (the label), if the plan does not know
 * it.
 */
export function keyRows(list: KeyList, alias: string): Sql {
  const { columns, labels } = settingsOf(list);
  const settings = labels === null ? columns : [labels, ...columns];
  const arrays = settings.map((setting) => sql`pg_catalog.jsonb_array_elements_text(${read(setting)})`);
  const names = [...(labels === null ? [] : ['n']), ...columns.map((_, index) => `c${index}`), 'm'];
  const rows = arrays.length === 1 ? arrays[0]! : sql`rows from (${join(arrays, ', ')})`;
  return sql`${rows} with ordinality as ${trusted(alias)}(${trusted(names.join(', '))})`;
}

/** The values of a column of a list that may have several rows, as an array. */
export function keysAsArray(list: KeyList, column: string, type: string): Sql {
  const values = sql`pg_catalog.jsonb_array_elements_text(${read(settingsOf(list).columns[indexIn(list, column)]!)})`;
  return sql`array(select a.v::${trusted(type)} from ${values} as a(v))`;
}

/** The number of rows in a list. */
export function countOfKeys(list: KeyList): Sql {
  if (holdsOnlyRow(list)) return integer(1);
  return sql`pg_catalog.jsonb_array_length(${read(settingsOf(list).columns[0]!)})`;
}

/** The label of a row of a list in FROM. */
export function keyLabel(alias: string): Sql {
  return sql`${trusted(alias)}.n::int4`;
}

/** A column of a row of a list in FROM, cast to a type. */
export function keyColumn(list: KeyList, alias: string, column: string, type: string): Sql {
  return sql`${trusted(`${alias}.c${indexIn(list, column)}`)}::${trusted(type)}`;
}

/** A column of the only row of a list. */
export function onlyKey(list: KeyList, column: string, type: string): Sql {
  const setting = settingsOf(list).columns[indexIn(list, column)]!;
  const value = holdsOnlyRow(list) ? textOf(setting) : sql`(${read(setting)} ->> 0)`;
  return sql`(select ${value}::${trusted(type)})`;
}

/** A column of the row at a zero-based position; null if the position is null. */
export function keyAt(list: KeyList, place: Sql, column: string, type: string): Sql {
  if (holdsOnlyRow(list)) return sql`case ${place} when 0 then ${onlyKey(list, column, type)} end`;
  return sql`((select ${read(settingsOf(list).columns[indexIn(list, column)]!)}) ->> ${place})::${trusted(type)}`;
}

function indexIn({ columns }: KeyList, column: string): number {
  const index = columns.indexOf(column);
  if (index < 0) throw new Error(`The column ${column} is not kept.`);
  return index;
}

/** The columns of the list, as a statement returns them from the rows of `alias` that it writes. */
export function keptColumns({ columns }: KeyList, alias: string): Sql {
  return join(
    columns.map((column, index) => sql`${trusted(alias)}.${identifier(column)} as ${trusted(`c${index}`)}`),
    ', ',
  );
}

/** Stores the only row of a list. `values` are its columns as text. */
function keepOnlyRow(list: KeyList, values: readonly Sql[]): Sql[] {
  return settingsOf(list).columns.map((setting, index) => sql`pg_catalog.set_config(${setting}, ${values[index]!}, true)`);
}

/** Stores the only row of a list within RETURNING. */
export function keepReturned(list: KeyList, { alias }: { readonly alias: string }): Sql[] {
  return keepOnlyRow(
    list,
    list.columns.map((column) => sql`${trusted(alias)}.${identifier(column)}::text`),
  );
}

/**
 * Stores rows in a list, by aggregates over `rows`, which has the columns and, if the plan knows the labels, `m`. `appends` adds them to
 * the stored ones. Without labels in the plan, the order is that in which an insert returns its rows, which is the order in which it writes
 * them.
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
