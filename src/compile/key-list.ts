/**
 * Keys of rows that a statement leaves for later ones of its transaction, in a setting: JSON arrays with the label, the number and the columns of each row,
 * as texts. Only statements of the same root field read one, each after a statement that has set it anew.
 *
 *     select (v ->> 0)::int4 as n, (v ->> 1)::int8 as m, v ->> 2 as c0 from json_array_elements(('[' || current_setting('rowgraph.keys_1', true) || ']')::json) as e(v)
 */
import type { KeyList } from '../plan/nested-plan.ts';
import { identifier, integer, join, literal, newLine, type Sql, sql, trusted } from '../sql/sql.ts';

function settingOf({ number }: KeyList): Sql {
  return literal(`rowgraph.keys_${number}`);
}

/** The rows of a list as a FROM item: `n`, the label; `m`, the number; and the columns. */
export function keyRows(list: KeyList, alias: string): Sql {
  const columns = list.columns.map((_, index) => sql`, v ->> ${integer(index + 2)} as ${trusted(`c${index}`)}`);
  const elements = sql`pg_catalog.json_array_elements(('[' || pg_catalog.current_setting(${settingOf(list)}, true) || ']')::json)`;
  return sql`(select (v ->> 0)::int4 as n, (v ->> 1)::int8 as m${join(columns, '')}${newLine}from ${elements} as e(v)) as ${trusted(alias)}`;
}

/** A column of a row of a list, by its name in PostgreSQL, as a value of a type. */
export function keyColumn({ columns }: KeyList, alias: string, column: string, type: string): Sql {
  const index = columns.indexOf(column);
  if (index < 0) throw new Error(`The column ${column} is not kept.`);
  return sql`${trusted(`${alias}.c${index}`)}::${trusted(type)}`;
}

/** What a statement returns of the rows that it writes, for the list: the columns of `alias`. */
export function keptColumns({ columns }: KeyList, alias: string): Sql {
  return join(
    columns.map((column, index) => sql`${trusted(alias)}.${identifier(column)} as ${trusted(`c${index}`)}`),
    ', ',
  );
}

/** Leaves rows in a list: an aggregate over `rows`, which has `m` and the columns. `appends`: behind those that are there. */
export function keepKeys(list: KeyList, label: Sql, rows: string, appends: boolean): Sql {
  const columns = list.columns.map((_, index) => sql`, ${trusted(`${rows}.c${index}`)}::text`);
  const row = sql`pg_catalog.json_build_array(${label}, ${trusted(rows)}.m${join(columns, '')})::text`;
  const before = appends ? sql`nullif(pg_catalog.current_setting(${settingOf(list)}, true), ''), ` : sql``;
  const text = sql`pg_catalog.concat_ws(',', ${before}string_agg(${row}, ',' order by ${trusted(rows)}.m))`;
  return sql`pg_catalog.set_config(${settingOf(list)}, ${text}, true)`;
}
