/** Scopes of columns: the alias of a FROM item, and which of its columns the SQL around it uses. */
import type { Column, Table } from '../model/model.ts';
import { identifier, join, newLine, type Sql, sql, trusted } from '../sql/sql.ts';

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
  column(name: string): Sql;
  /** Whether the column is never null. The result of a function, or a value of a row type, need not satisfy the table's constraints. */
  isNeverNull(column: Column): boolean;
  /** The row as a value of its table's row type, to pass to functions. */
  row(): Sql;
  /** The JSON text of a column that is selected several times; a reference to it if it can be computed once. */
  repeated(column: string, json: JsonOf): Sql;
  /** Stores a JSON text when the rows are written, and refers to it. Only rows that are read as they were written have this. */
  keep?(json: JsonOf): Sql;
}

/** Writes a JSON text of the row in a scope. */
export type JsonOf = (scope: Scope) => Sql;

/** Properties of the rows of a FROM item. */
export interface RowOrigin {
  /** Whether NOT NULL holds for the rows. */
  readonly keepsNotNull: boolean;
  /** The whole row, as an expression if it is not `alias.*`. The star is needed because the alias alone may be the name of a column. */
  readonly row?: Sql | undefined;
}

/** A table or function directly in FROM. */
export function directScope(alias: string, { keepsNotNull, row = sql`${trusted(alias)}.*` }: RowOrigin): Scope {
  const scope: Scope = {
    alias,
    column: (name) => sql`${trusted(alias)}.${identifier(name)}`,
    isNeverNull: ({ notNull }) => notNull && keepsNotNull,
    row: () => row,
    repeated: (_, json) => json(scope),
  };
  return scope;
}

/**
 * A subselect that returns only the columns used. They are collected here, and `outputs` writes them when the SQL around the subselect is
 * complete.
 */
export class DerivedScope implements Scope {
  readonly alias: string;
  readonly #table: Table;
  readonly #keepsNotNull: boolean;
  readonly #names = new Set<string>();
  /** The name of the output and the JSON text, by column. */
  readonly #repeated = new Map<string, { readonly name: Sql; readonly json: Sql }>();
  #usesRow = false;

  /** `table` is the table of its rows; `keepsNotNull` says whether NOT NULL holds for them. */
  constructor(alias: string, table: Table, { keepsNotNull }: RowOrigin) {
    this.alias = alias;
    this.#table = table;
    this.#keepsNotNull = keepsNotNull;
  }

  isNeverNull({ notNull }: Column): boolean {
    return notNull && this.#keepsNotNull;
  }

  column(name: string): Sql {
    this.#names.add(name);
    return sql`${trusted(this.alias)}.${identifier(name)}`;
  }

  row(): Sql {
    this.#usesRow = true;
    return sql`${trusted(this.alias)}.${identifier(this.#rowName())}`;
  }

  repeated(column: string, json: JsonOf): Sql {
    const known = this.#repeated.get(column);
    const name = known?.name ?? identifier(this.freeName(`(json ${this.#repeated.size + 1})`));
    if (!known) this.#repeated.set(column, { name, json: json(this) });
    return sql`${trusted(this.alias)}.${name}`;
  }

  /**
   * Adds the JSON that is used several times to the rows. It is computed once per row, after sorting and limiting; `offset 0` keeps
   * PostgreSQL from inlining it.
   */
  withRepeated(rows: Sql): Sql {
    if (this.#repeated.size === 0) return rows;
    const alias = trusted(this.alias);
    const outputs = [...this.#repeated.values()].map(({ name, json }) => sql`${json} as ${name}`);
    return sql`(select ${alias}.*, ${join(outputs, ', ')}${newLine}from ${rows} as ${alias} offset 0)`;
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

  /** The columns used so far. */
  names(): readonly string[] {
    return [...this.#names];
  }

  /** Whether a function needs the whole row. */
  usesRow(): boolean {
    return this.#usesRow;
  }

  /** The select list: the columns of `inner`, and its whole row if a function needs it. */
  outputs(inner: Scope): Sql[] {
    const columns = this.names().map((name) => inner.column(name));
    if (!this.#usesRow) return columns;
    const { schema, name } = this.#table;
    // Without the cast, the star in a select list would expand to all columns.
    return [...columns, sql`${inner.row()}::${identifier(schema, name)} as ${identifier(this.#rowName())}`];
  }

  #rowName(): string {
    return this.freeName('(row)');
  }
}
