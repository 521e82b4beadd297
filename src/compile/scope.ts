/** Scopes of columns: how SQL refers to the rows of a FROM item. */
import type { Column, Table } from '../model/model.ts';
import type { RowValue } from '../plan/plan.ts';
import { as, list, select } from '../sql/clauses.ts';
import { concatenate, type JsonText } from '../sql/json-text.ts';
import { identifier, type Sql, sql, trusted } from '../sql/sql.ts';
import type { RowNeeds } from './row-needs.ts';
import { valueJson } from './values/value-json.ts';

/** Numbers the aliases of a statement, `t1`, `t2`, …, in order of creation, so that its text is deterministic. */
export class Aliases {
  #last = 0;

  next(): string {
    this.#last += 1;
    return `t${this.#last}`;
  }
}

/** Refers to columns and the whole row of a FROM item. */
export interface Scope {
  readonly alias: string;
  /** Whether NOT NULL holds. The result of a function, or a value of a row type, need not satisfy the table's constraints. */
  readonly keepsNotNull: boolean;
  /** The row as a value of its table's row type, to pass to functions. */
  readonly row: Sql;
  column(name: string): Sql;
  /** The JSON of a column; a reference to it if it is computed with the rows. */
  columnJson(column: Column): JsonText;
  /** The JSON that a relation had when the rows were written. Only of rows that are read as they were written. */
  asWritten?(value: ToOneValue): Sql | undefined;
}

export type ToOneValue = Extract<RowValue, { kind: 'to-one' }>;

/** Whether a column is null in no row. */
export function isNeverNull({ notNull }: Column, { keepsNotNull }: Scope): boolean {
  return notNull && keepsNotNull;
}

/**
 * A table or function directly in FROM. The row is `alias.*` unless it is given; the star is needed because the alias alone may be the name of
 * a column.
 */
export function directScope(alias: string, { keepsNotNull, row }: { readonly keepsNotNull: boolean; readonly row?: Sql }): Scope {
  const scope: Scope = {
    alias,
    keepsNotNull,
    row: row ?? sql`${trusted(alias)}.*`,
    column: (name) => sql`${trusted(alias)}.${identifier(name)}`,
    columnJson: (column) => valueJson(scope.column(column.name), column.type, isNeverNull(column, scope)),
  };
  return scope;
}

/** A subselect that returns what is needed of its rows. */
export class DerivedScope implements Scope {
  readonly alias: string;
  readonly keepsNotNull: boolean;
  readonly row: Sql;
  readonly needs: RowNeeds;
  readonly #table: Table;

  constructor(alias: string, table: Table, needs: RowNeeds, keepsNotNull: boolean) {
    this.alias = alias;
    this.needs = needs;
    this.keepsNotNull = keepsNotNull;
    this.#table = table;
    this.row = this.output(this.#rowName());
  }

  column(name: string): Sql {
    return this.output(name);
  }

  columnJson(column: Column): JsonText {
    const index = this.needs.json.indexOf(column);
    if (index >= 0) return [this.output(this.jsonName(index))];
    return valueJson(this.column(column.name), column.type, isNeverNull(column, this));
  }

  /** The output of this name. */
  output(name: string): Sql {
    return sql`${trusted(this.alias)}.${identifier(name)}`;
  }

  /** The select list: the columns of `inner`, `others` as well, and its whole row if a function needs it. */
  outputs(inner: Scope, others: readonly string[] = []): Sql[] {
    const columns = [...new Set([...this.needs.columns, ...others])].map((name) => inner.column(name));
    if (!this.needs.row) return columns;
    const { schema, name } = this.#table;
    // Without the cast, the star in a select list would expand to all columns.
    return [...columns, sql`${inner.row}::${identifier(schema, name)} as ${identifier(this.#rowName())}`];
  }

  /**
   * Adds the JSON that is used several times to the rows. It is computed once per row, after sorting and limiting; `offset 0` keeps
   * PostgreSQL from inlining it.
   */
  withJson(rows: Sql): Sql {
    if (this.needs.json.length === 0) return rows;
    const json = this.needs.json.map((column, index) => {
      const text = concatenate(valueJson(this.column(column.name), column.type, isNeverNull(column, this)));
      return sql`${text} as ${identifier(this.jsonName(index))}`;
    });
    const columns = [sql`${trusted(this.alias)}.*, ${list(json)}`];
    return sql`(${select({ columns, from: as(rows, this.alias) })} offset 0)`;
  }

  /** The name of the output with the JSON of a column. */
  jsonName(index: number): string {
    return this.freeName(`(json ${index + 1})`);
  }

  /** A name for an output of the subselect that differs from all columns that may be used. */
  freeName(wish: string): string {
    const { columns, primaryKey, relations } = this.#table;
    const isColumn = (name: string) =>
      [...columns, ...primaryKey].some((column) => column.name === name) ||
      relations.some((relation) => relation.columns.some(({ near }) => near === name));
    let name = wish;
    while (isColumn(name)) name += '_';
    return name;
  }

  #rowName(): string {
    return this.freeName('(row)');
  }
}
