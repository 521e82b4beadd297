/** What is in FROM: how SQL refers to the columns of a row, what it needs of the rows of a subselect, and how related rows are found. */
import type { Column, ColumnPair, Relation, Table } from '../model/model.ts';
import type { Routine } from '../model/routine.ts';
import type { RowPlan, RowValue } from '../plan/plan.ts';
import { columnsOfSearch } from '../plan/traits/order-traits.ts';
import { as, list, named, subselect } from '../sql/clauses.ts';
import { concatenate, type JsonText } from '../sql/json-text.ts';
import { identifier, integer, type Sql, sql, trusted } from '../sql/sql.ts';
import { type RelatedValue, type Shard, shardAlong, valuesWithRows } from './shards.ts';
import { collated, comparable } from './values/comparison.ts';
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
  /** The shard that the row is on, if the statement has it as a value. */
  readonly shard?: Shard | undefined;
  /** The JSON of a value that is computed with the rows. */
  withRows?(value: RowValue): Sql | undefined;
  /** The JSON that a relation had when the rows were written. Only of rows that are read as they were written. */
  asWritten?(value: ToOneValue): Sql | undefined;
}

export type ToOneValue = Extract<RowValue, { kind: 'to-one' }>;

export function isNeverNull({ notNull }: Column, { keepsNotNull }: Scope): boolean {
  return notNull && keepsNotNull;
}

/**
 * A table or function directly in FROM. The row is `alias.*` unless it is given; the star is needed because the alias alone may be the name
 * of a column.
 */
export function directScope(
  alias: string,
  { keepsNotNull, row, shard }: Pick<Scope, 'keepsNotNull' | 'shard'> & { readonly row?: Sql | undefined },
): Scope {
  const scope: Scope = {
    alias,
    keepsNotNull,
    shard,
    row: row ?? sql`${trusted(alias)}.*`,
    column: (name) => sql`${trusted(alias)}.${identifier(name)}`,
    columnJson: (column) => columnJson(column, scope),
  };
  return scope;
}

/** A table in FROM. On a shard, its rows are of another type, which has the same text. */
export function tableScope(alias: string, table: Table, keepsNotNull: boolean, shard?: Shard): Scope {
  const row = table.placement === null ? undefined : sql`(${trusted(alias)}.*)::text::${tableName(table)}`;
  return directScope(alias, { keepsNotNull, row, shard });
}

function columnJson(column: Column, scope: Scope): JsonText {
  return valueJson(scope.column(column.name), column.type, isNeverNull(column, scope));
}

/** What SQL uses of the rows of a subselect. Found from the plan, before any SQL is written. */
export interface RowNeeds {
  /** The names of columns, in order of use. */
  readonly columns: readonly string[];
  /** Whether a function takes the whole row. */
  readonly row: boolean;
  /** Columns whose JSON is computed with the rows, once each. */
  readonly json: readonly Column[];
  /** Relations whose JSON is kept as it is when the rows are written. */
  readonly kept: readonly ToOneValue[];
  /** Values whose JSON is computed with the rows, because of their shards. */
  readonly related: readonly RelatedValue[];
}

export const noNeeds: RowNeeds = { columns: [], row: false, json: [], kept: [], related: [] };
export const wholeRow: RowNeeds = { ...noNeeds, row: true };

export function needsOfColumns(names: readonly string[]): RowNeeds {
  return { ...noNeeds, columns: [...new Set(names)] };
}

export function allNeeds(needs: readonly RowNeeds[]): RowNeeds {
  return {
    columns: [...new Set(needs.flatMap(({ columns }) => columns))],
    row: needs.some(({ row }) => row),
    json: [...new Set(needs.flatMap(({ json }) => json))],
    kept: needs.flatMap(({ kept }) => kept),
    related: [...new Set(needs.flatMap(({ related }) => related))],
  };
}

/** What the JSON of a row needs. A column that is selected several times is written as JSON once. */
export function rowNeeds({ table, members }: RowPlan): RowNeeds {
  const columns = members.flatMap(({ value }) => (value.kind === 'column' ? [value.column] : []));
  const repeated = columns.filter((column, index) => columns.indexOf(column) < index);
  const values = members.map(({ value }) => value);
  const related = valuesWithRows(table, values);
  const others = values.filter((value) => !related.some((each) => each === value));
  return allNeeds([...others.map((value) => needsOfValue(value, table)), { ...noNeeds, json: repeated, related }]);
}

export function needsOfValue(value: RowValue, table: Table): RowNeeds {
  switch (value.kind) {
    case 'type name':
      return noNeeds;
    case 'column':
    case 'json part':
    case 'bounds':
    case 'row column':
      return needsOfColumns([value.column.name]);
    case 'node id':
      return needsOfColumns(table.primaryKey.map(({ name }) => name));
    case 'search rank':
      return value.search === null ? noNeeds : needsOfColumns(columnsOfSearch(value.search));
    case 'search snippet':
      return needsOfColumns([value.column.name]);
    case 'lineage':
      return needsOfColumns(value.lineage.parent.columns.flatMap(({ near, target }) => [near, target]));
    case 'to-one':
    case 'to-many':
      return needsOfColumns(value.relation.columns.map(({ near }) => near));
    case 'computed':
      return wholeRow;
  }
}

/** Writes the JSON of a value of a row. */
export type ValueWriter = (value: RelatedValue, table: Table, row: Scope) => JsonText;

/** A subselect that returns what is needed of its rows. */
export class DerivedScope implements Scope {
  readonly alias: string;
  readonly keepsNotNull: boolean;
  readonly row: Sql;
  readonly needs: RowNeeds;
  readonly shard: Shard | undefined;
  readonly #table: Table;

  constructor(alias: string, table: Table, needs: RowNeeds, keepsNotNull: boolean, shard?: Shard) {
    this.alias = alias;
    this.needs = needs;
    this.shard = shard;
    this.keepsNotNull = keepsNotNull;
    this.#table = table;
    this.row = this.output(this.rowName());
  }

  column(name: string): Sql {
    return this.output(name);
  }

  columnJson(column: Column): JsonText {
    const index = this.needs.json.indexOf(column);
    return index >= 0 ? [this.output(this.jsonName(index))] : columnJson(column, this);
  }

  asWritten(value: ToOneValue): Sql | undefined {
    const index = this.needs.kept.indexOf(value);
    return index < 0 ? undefined : this.output(this.jsonName(this.needs.json.length + index));
  }

  withRows(value: RowValue): Sql | undefined {
    const related: readonly RowValue[] = this.needs.related;
    const index = related.indexOf(value);
    return index < 0 ? undefined : this.output(this.#relatedName(index));
  }

  output(name: string): Sql {
    return sql`${trusted(this.alias)}.${identifier(name)}`;
  }

  /**
   * The select list: the columns of `inner`, `others` as well, its whole row if a function needs it, and the JSON of what is related, for
   * which `write` is asked.
   */
  outputs(inner: Scope, write: ValueWriter, others: readonly string[] = []): Sql[] {
    const columns = [...new Set([...this.needs.columns, ...others])].map((name) => inner.column(name));
    const { row, related } = this.needs;
    // Without the cast, the star in a select list would expand to all columns.
    if (row) columns.push(named(sql`${inner.row}::${tableName(this.#table)}`, this.rowName()));
    for (const [index, value] of related.entries())
      columns.push(named(concatenate(write(value, this.#table, inner)), this.#relatedName(index)));
    return columns;
  }

  /**
   * Adds the JSON that is used several times to the rows. It is computed once per row, after sorting and limiting; `offset 0` keeps
   * PostgreSQL from inlining it.
   */
  withJson(rows: Sql): Sql {
    if (this.needs.json.length === 0) return rows;
    const json = this.needs.json.map((column, index) => named(concatenate(columnJson(column, this)), this.jsonName(index)));
    return subselect({ columns: [sql`${trusted(this.alias)}.*`, ...json], from: as(rows, this.alias), offset: integer(0) });
  }

  /** The name of the output with the JSON of a column, or, behind those, of a kept relation. */
  jsonName(index: number): string {
    return this.freeName(`(json ${index + 1})`);
  }

  #relatedName(index: number): string {
    return this.freeName(`(related ${index + 1})`);
  }

  /** A name for an output of the subselect that differs from all columns that may be used. */
  freeName(wish: string): string {
    return nameBesideColumns(this.#table, wish);
  }

  /** The name of the output with the whole row. */
  rowName(): string {
    return this.freeName('(row)');
  }
}

/** A name for an output that differs from all columns of the table that statements may use. */
export function nameBesideColumns({ columns, primaryKey, relations }: Table, wish: string): string {
  const isColumn = (name: string) =>
    [...columns, ...primaryKey].some((column) => column.name === name) ||
    relations.some((relation) => relation.columns.some(({ near }) => near === name));
  let name = wish;
  while (isColumn(name)) name += '_';
  return name;
}

/** The name of the output with the score of a row. */
export function scoreName(table: Table): string {
  return nameBesideColumns(table, '(score)');
}

export function tableName(table: Table): Sql {
  return identifier(table.schema, table.name);
}

/** The call of a computed field on a row, with further arguments in named notation. */
export function callOnRow({ schema, name }: Routine, scope: Scope, inputs: readonly Sql[] = []): Sql {
  return sql`${identifier(schema, name)}(${list([scope.row, ...inputs])})`;
}

/** The columns that the role may select, which include all that keys and relations read. Selecting others would be an error. */
export function readableColumns({ columns, relations }: Table): string[] {
  const names = [
    ...columns.filter(({ selectable }) => selectable).map(({ name }) => name),
    ...relations.flatMap(({ columns: pairs }) => pairs.map(({ near }) => near)),
  ];
  return [...new Set(names)];
}

/** The rows of the target of a relation in FROM, on the shard of the row that leads to them. */
export function targetScope(relation: Relation, near: Scope, alias: string, keepsNotNull = relation.target.keepsNotNull): Scope {
  return tableScope(alias, relation.target, keepsNotNull, shardAlong(relation, near.shard));
}

/** The conditions that relate a row of the target to one of the near table. */
export function joinConditions({ columns }: Relation, near: Scope, target: Scope): Sql[] {
  const { shard } = target;
  const equal = columns.map((pair) => areEqual(pair, near.column(pair.near), target.column(pair.target)));
  return shard && near.shard ? [...equal, sql`${target.column(shard.column)} = ${shard.value}`] : equal;
}

/** Compares the values of a pair of columns as a foreign key does: by the collation of the referenced column. */
export function areEqual({ nearType, targetType, collation }: ColumnPair, near: Sql, target: Sql): Sql {
  const value = comparable(near, nearType);
  return sql`${comparable(target, targetType)} = ${collation?.implied === false ? collated(value, collation) : value}`;
}
