/**
 * Keys of rows on their way to later statements of the transaction: a setting for each column that these read, with a JSON array of texts
 * in row order. Labels have a setting too, unless the plan tells them. A setting is read only by statements of the same root field, after
 * one that has set it; its name is unique in the operation.
 *
 *     select set_config('rowgraph.keys_1_c0', json_agg(w.c0::text)::text, true) from written as w
 *     select ((select current_setting('rowgraph.keys_1_c0', true)::jsonb) ->> 7)::int8
 */
import { andHere, here } from '../../compile/shards.ts';
import type { Column } from '../../model/model.ts';
import type { KeyList, NestedStep, NestedWritePlan } from '../../plan/nested-write-plan.ts';
import { as, coalesce, subselect } from '../../sql/clauses.ts';
import { builtIn, identifier, integer, join, literal, nothing, type Sql, sql, trusted } from '../../sql/sql.ts';

export class StoredKeys {
  readonly #columns = new Map<KeyList, string[]>();
  readonly #labels = new Map<KeyList, readonly number[] | null>();
  readonly #first = new Map<KeyList, NestedStep>();
  /** Whether a table has shards: then settings are read where they are. */
  readonly isSharded: boolean;

  constructor({ table, steps, written }: NestedWritePlan) {
    this.isSharded = [table, ...steps.map((step) => step.table)].some(({ placement }) => placement !== null);
    this.#keep(written, written.table.primaryKey);
    for (const step of steps) {
      this.#keepWhatIsRead(step);
      if ('into' in step && step.into) {
        this.#labels.set(step.into, this.#first.has(step.into) ? null : this.#labelsOf(step));
        if (!this.#first.has(step.into)) this.#first.set(step.into, step);
      }
    }
  }

  /** The label of each row, in order, if a single step writes them all; null if only the statements determine the rows. */
  labels(list: KeyList): readonly number[] | null {
    return this.#labels.get(list) ?? null;
  }

  isRead(list: KeyList): boolean {
    return this.#columns.has(list);
  }

  /** The list as a FROM item with its columns, `m` (the row number), and `n` (the label), if the plan does not tell it. */
  rows(list: KeyList, alias: string): Sql {
    const columns = this.#columnsOf(list).map((_, index) => `c${index}`);
    const isLabelled = this.labels(list) === null;
    const settings = isLabelled ? ['n', ...columns] : columns;
    const arrays = settings.map((name) => builtIn('jsonb_array_elements_text', read(list, name)));
    const rows = arrays.length === 1 ? arrays[0]! : sql`rows from (${join(arrays, ', ')})`;
    const item = sql`${rows} with ordinality as ${trusted(alias)}(${trusted([...settings, 'm'].join(', '))})`;
    return this.isSharded ? as(subselect({ columns: [trusted(`${alias}.*`)], from: sql`${item}${andHere}` }), alias) : item;
  }

  /** A column of a row of `rows`, cast to a type. */
  column(list: KeyList, alias: string, column: string, type: string): Sql {
    return sql`${trusted(`${alias}.${this.#nameOf(list, column)}`)}::${trusted(type)}`;
  }

  array(list: KeyList, column: string, type: string): Sql {
    const values = builtIn('jsonb_array_elements_text', read(list, this.#nameOf(list, column)));
    return sql`array(select a.v::${trusted(type)} from ${values} as a(v)${this.isSharded ? andHere : nothing})`;
  }

  only(list: KeyList, column: string, type: string): Sql {
    return sql`(select (${read(list, this.#nameOf(list, column))} ->> 0)::${trusted(type)}${this.#fromHere})`;
  }

  /** A column of the row at a zero-based position; null if the position is null. */
  at(list: KeyList, position: Sql, column: string, type: string): Sql {
    return sql`((select ${read(list, this.#nameOf(list, column))}${this.#fromHere}) ->> ${position})::${trusted(type)}`;
  }

  /** A column of the row at a known position, without a query. */
  valueAt(list: KeyList, position: number, column: string, type: string): Sql {
    return sql`(${read(list, this.#nameOf(list, column))} ->> ${integer(position)})::${trusted(type)}`;
  }

  count(list: KeyList): Sql {
    if (this.labels(list)?.length === 1) return integer(1);
    const count = builtIn('jsonb_array_length', read(list, 'c0'));
    return this.isSharded ? sql`(select ${count}${this.#fromHere})` : count;
  }

  /** The columns as outputs of a statement that has the rows under an alias. */
  outputs(list: KeyList, alias: string): Sql[] {
    return this.#columnsOf(list).map((column, index) => sql`${trusted(alias)}.${identifier(column)} as ${trusted(`c${index}`)}`);
  }

  /**
   * Stores rows by aggregates over a FROM item that has the columns and, unless the plan tells the labels, `m`. Adds them to those that
   * earlier steps have stored. If the plan tells the labels, the order is that in which an insert returns its rows, which is the order in
   * which it writes them; that of `m` if it is numbered.
   */
  store(list: KeyList, step: NestedStep, rows: string, label: Sql, isNumbered = false): Sql[] {
    const isLabelled = this.labels(list) === null;
    const appends = this.#first.get(list) !== step;
    const keep = (name: string, value: Sql): Sql => {
      const all = isLabelled
        ? coalesce(sql`pg_catalog.jsonb_agg(${value} order by ${trusted(rows)}.m)`, literal('[]'))
        : builtIn('json_agg', isNumbered ? sql`${value} order by ${trusted(rows)}.m` : value);
      const combined = appends ? sql`${read(list, name)} || ${all}` : all;
      return builtIn('set_config', setting(list, name), sql`(${combined})::text`, trusted('true'));
    };
    const kept = this.#columnsOf(list).map((_, index) => keep(`c${index}`, sql`${trusted(`${rows}.c${index}`)}::text`));
    return isLabelled ? [keep('n', label), ...kept] : kept;
  }

  /** FROM of what stores rows. */
  atHome(from: Sql): Sql {
    return this.isSharded ? sql`${from}${andHere}` : from;
  }

  get #fromHere(): Sql {
    return this.isSharded ? sql` from ${here}` : nothing;
  }

  #columnsOf(list: KeyList): readonly string[] {
    return this.#columns.get(list) ?? [];
  }

  #nameOf(list: KeyList, column: string): string {
    return `c${this.#columnsOf(list).indexOf(column)}`;
  }

  #keep(list: KeyList, columns: readonly Pick<Column, 'name'>[]): void {
    const kept = this.#columns.get(list) ?? [];
    for (const { name } of columns) if (!kept.includes(name)) kept.push(name);
    this.#columns.set(list, kept);
  }

  #keepWhatIsRead(step: NestedStep): void {
    if ('inputRows' in step) {
      const { parents, joins, onlyIf, outputs } = step.inputRows;
      for (const { from } of outputs) {
        if (from.kind === 'key') this.#keep(from.join === 'parents' ? parents!.list : joins[from.join]!.list, [{ name: from.of }]);
      }
      if (onlyIf) this.#keep(onlyIf, onlyIf.table.primaryKey.slice(0, 1));
      return;
    }
    const { of, except } = step.rows;
    if (of)
      this.#keep(
        of.list,
        of.pairs.map(({ of: name }) => ({ name })),
      );
    if (except) this.#keep(except, except.table.primaryKey);
    if (step.kind === 'update') for (const { from, of: name } of step.fromKeys) this.#keep(from, [{ name }]);
  }

  /** The labels if the step stores exactly one key per input. */
  #labelsOf(step: NestedStep): readonly number[] | null {
    if (!('inputRows' in step) || (step.kind === 'insert' && step.lenient)) return null;
    const { labels, parents, onlyIf } = step.inputRows;
    return onlyIf === null && (parents === null || this.labels(parents.list) !== null) ? labels : null;
  }
}

/** The label of a row of a list in FROM. */
export function keyLabel(alias: string): Sql {
  return sql`${trusted(alias)}.n::int4`;
}

/** As jsonb, in which any element is found directly. */
function read(list: KeyList, name: string): Sql {
  return sql`${builtIn('current_setting', setting(list, name), trusted('true'))}::jsonb`;
}

function setting({ number }: KeyList, name: string): Sql {
  return literal(`rowgraph.keys_${number}_${name}`);
}
