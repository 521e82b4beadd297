/** Statements from their clauses, each on a line of its own. Absent and empty clauses are left out. */
import { identifier, integer, join, newLine, type Sql, sql, trusted } from './sql.ts';

export interface SelectClauses {
  /** Only the first row of those with equal values of these expressions, with which `orderBy` begins. */
  readonly distinctOn?: readonly Sql[];
  readonly columns: readonly Sql[];
  readonly from?: Sql | null | undefined;
  /** `join …` or `left join …`, in order. */
  readonly joins?: readonly Sql[];
  readonly where?: readonly Sql[];
  readonly groupBy?: readonly Sql[];
  readonly having?: Sql | null;
  readonly orderBy?: readonly Sql[];
  readonly limit?: Sql | null;
  /** Whether rows that are equal in the order to the last one follow it. */
  readonly withTies?: boolean;
  readonly offset?: Sql | null;
}

export function select(clauses: SelectClauses): Sql {
  const { distinctOn = [], columns, from, joins = [], where = [], groupBy = [], having, orderBy = [], limit, withTies, offset } = clauses;
  const distinct = distinctOn.length > 0 ? sql`distinct on (${list(distinctOn)}) ` : sql``;
  return lines(
    sql`select ${distinct}${list(columns)}`,
    from && sql`from ${from}`,
    ...joins,
    whereAll(where),
    groupBy.length > 0 && sql`group by ${list(groupBy)}`,
    having && sql`having ${having}`,
    orderBy.length > 0 && sql`order by ${list(orderBy)}`,
    limit && (withTies ? sql`fetch first (${limit}) rows with ties` : sql`limit ${limit}`),
    offset && sql`offset ${offset}`,
  );
}

interface InsertClauses {
  /** The table, with an alias if the other clauses have one. */
  readonly into: Sql;
  /** Without columns, all take their defaults. */
  readonly columns: readonly Sql[];
  /** VALUES or a select. */
  readonly rows: Sql;
  readonly onConflict?: Sql | null;
  readonly returning?: readonly Sql[];
}

export function insert({ into, columns, rows, onConflict, returning = [] }: InsertClauses): Sql {
  const names = columns.length > 0 ? sql` (${list(columns)})` : sql``;
  return lines(sql`insert into ${into}${names}`, rows, onConflict, returningAll(returning));
}

export function values(rows: readonly (readonly Sql[])[]): Sql {
  return sql`values ${list(rows.map((cells) => sql`(${list(cells)})`))}`;
}

interface UpdateClauses {
  readonly table: Sql;
  readonly set: readonly Sql[];
  readonly from?: Sql;
  readonly where?: readonly Sql[];
  readonly returning?: readonly Sql[];
}

export function update({ table, set, from, where = [], returning = [] }: UpdateClauses): Sql {
  return lines(sql`update ${table}`, sql`set ${list(set)}`, from && sql`from ${from}`, whereAll(where), returningAll(returning));
}

export function deleteFrom(table: Sql, where: readonly Sql[], returning: readonly Sql[] = []): Sql {
  return lines(sql`delete from ${table}`, whereAll(where), returningAll(returning));
}

export function cte(name: string, query: Sql, { materialized = false } = {}): Sql {
  return sql`${trusted(name)} as ${trusted(materialized ? 'materialized ' : '')}(${query})`;
}

export function withQueries(queries: readonly Sql[], statement: Sql, { recursive = false } = {}): Sql {
  return lines(sql`with ${trusted(recursive ? 'recursive ' : '')}${join(queries, sql`,${newLine}`)}`, statement);
}

/** A FROM item with an alias, and names of its columns unless they have some already. */
export function as(item: Sql, alias: string, columns: readonly string[] = []): Sql {
  const names = columns.length > 0 ? sql`(${list(columns.map((name) => identifier(name)))})` : sql``;
  return sql`${item} as ${trusted(alias)}${names}`;
}

export function subselect(clauses: SelectClauses): Sql {
  return sql`(${select(clauses)})`;
}

/** Whether there are rows. */
export function exists(rows: Omit<SelectClauses, 'columns'>): Sql {
  return sql`exists ${subselect({ columns: [integer(1)], ...rows })}`;
}

/** An output with a name. */
export function named(value: Sql, name: string): Sql {
  return sql`${value} as ${identifier(name)}`;
}

/** The position of each row, from 1 on. */
export function rowNumber(orderBy: readonly Sql[] = []): Sql {
  const order = orderBy.length > 0 ? sql`order by ${list(orderBy)}` : sql``;
  return sql`pg_catalog.row_number() over (${order})`;
}

export function coalesce(value: Sql, otherwise: Sql): Sql {
  return sql`coalesce(${value}, ${otherwise})`;
}

export function list(fragments: readonly Sql[]): Sql {
  return join(fragments, ', ');
}

export function and(conditions: readonly Sql[]): Sql {
  return join(conditions, ' and ');
}

export const countRows: Sql = trusted('pg_catalog.count(*)');

export function whereAll(conditions: readonly Sql[]): Sql | null {
  return conditions.length > 0 ? sql`where ${and(conditions)}` : null;
}

function returningAll(outputs: readonly Sql[]): Sql | null {
  return outputs.length > 0 ? sql`returning ${list(outputs)}` : null;
}

export function lines(...fragments: readonly (Sql | null | undefined | false)[]): Sql {
  return join(
    fragments.filter((fragment) => !!fragment),
    newLine,
  );
}
