/** The rows of a page, in paging order: from the start, or after a cursor, as ranges that an index can serve. */
import type { ConnectionPlan, Count, OrderKey, Parameter } from '../../plan/plan.ts';
import { bind, identifier, integer, join, newLine, type Sql, sql, trusted } from '../../sql/sql.ts';
import { compileFilter, narrowsByIndex } from '../compile-filter.ts';
import { type Aliases, DerivedScope, directScope, type RowOrigin, type Scope } from '../scope.ts';
import type { StatementContext } from '../statement.ts';
import { JoinedValues } from './joined-values.ts';
import { identityOf, leadsIndex, type OrderValues } from './order-values.ts';
import { PageValues } from './page-values.ts';
import {
  asOneRange,
  conditionAfter,
  conditionsNotAfter,
  orderBy,
  type PagingKey,
  pageRanges,
  pagingKeys,
  type SeekRange,
  wholeRanges,
} from './seek.ts';

/** The most joins that the ranges after a cursor may have in total. */
const maxJoinsOfRanges = 20;

/** The source of a collection's rows. */
export interface Source {
  /** A table, a function call or a common table expression. */
  readonly from: Sql;
  /** Whether the rows come from a table, without duplicates. A function may return a row several times. */
  readonly isTable: boolean;
  /** Conditions that relate the rows to the enclosing row. */
  readonly conditions: (inner: Scope) => readonly Sql[];
  /** The row as a value of its row type, if that is not `alias.*`. */
  readonly row?: (alias: string) => Sql;
}

function originOf({ table }: ConnectionPlan, source: Source, alias: string): RowOrigin {
  return { keepsNotNull: source.isTable && table.keepsNotNull, row: source.row?.(alias) };
}

/** FROM and WHERE for all rows that match the filter, under a separate alias. */
export function sourceRows(
  connection: ConnectionPlan,
  source: Source,
  aliases: Aliases,
  alias = aliases.next(),
): { scope: Scope; from: Sql; conditions: readonly Sql[] } {
  const { filter } = connection;
  const scope = directScope(alias, originOf(connection, source, alias));
  const conditions = [...source.conditions(scope), ...(filter ? [compileFilter(filter, scope, aliases)] : [])];
  return { scope, from: sql`${source.from} as ${trusted(alias)}`, conditions };
}

/** `where a and b`, or nothing. */
export function where(conditions: readonly Sql[]): Sql {
  return conditions.length > 0 ? sql`${newLine}where ${join(conditions, ' and ')}` : sql``;
}

export class PageQuery {
  readonly scope: DerivedScope;
  /** The order values, as columns of the subselect. */
  readonly values: PageValues;
  readonly #connection: ConnectionPlan;
  readonly #source: Source;
  readonly #context: StatementContext;
  readonly #keys: readonly OrderKey[];
  readonly #cursor: readonly (Parameter | null)[] | null;
  #oneMore = false;
  #numbered = false;

  constructor(connection: ConnectionPlan, source: Source, context: StatementContext) {
    this.#connection = connection;
    this.#source = source;
    this.#context = context;
    const alias = context.aliases.next();
    this.scope = new DerivedScope(alias, connection.table, originOf(connection, source, alias));
    this.values = new PageValues(this.scope);
    const { keys, cursor, direction } = connection.page;
    // A repeated order value has no effect, but the cursor contains it twice.
    const identities = keys.map(({ value }) => identityOf(value));
    const isFirst = identities.map((identity, index) => identities.indexOf(identity) === index);
    this.#keys = pagingKeys(
      keys.filter((_, index) => isFirst[index]),
      direction,
    );
    this.#cursor = cursor?.filter((_, index) => isFirst[index]) ?? null;
  }

  /** Makes the query read one row beyond the page, to find out whether there is one. */
  readOneMore(): void {
    this.#oneMore = true;
    this.#numbered = true;
  }

  readsOneMore(): boolean {
    return this.#oneMore;
  }

  usesNumber(): boolean {
    return this.#numbered;
  }

  /** The position of a row in paging order. */
  number(): Sql {
    this.#numbered = true;
    return sql`${trusted(this.scope.alias)}.${this.#numberName()}`;
  }

  limit(): Sql {
    return countSql(this.#connection.page.limit);
  }

  /** The position of the last row of the page, counting the rows skipped by an offset. */
  lastNumber(): Sql {
    const { limit, offset } = this.#connection.page;
    if (offset === null) return countSql(limit);
    return typeof limit === 'number' && typeof offset === 'number'
      ? integer(limit + offset)
      : sql`${countSql(limit)} + ${countSql(offset)}`;
  }

  /** Conditions under which rows precede the page in the direction of paging, if it has any rows. */
  precedingConditions(): Sql[] {
    const { offset } = this.#connection.page;
    const conditions: Sql[] = [];
    if (offset !== null && offset !== 0) conditions.push(sql`${countSql(offset)} > 0`);
    if (this.#cursor) conditions.push(this.#hasRowNotAfter(this.#cursor));
    return conditions;
  }

  /** Whether some row is not after the cursor. */
  #hasRowNotAfter(cursor: readonly (Parameter | null)[]): Sql {
    const { scope, from, conditions } = sourceRows(this.#connection, this.#source, this.#context.aliases);
    const values = this.#joinedValues(scope);
    if (this.#ordersByOthers()) {
      const notAfter = conditionsNotAfter(this.#keys, cursor, values);
      const parts = this.#isIndexed(scope) ? notAfter : [sql`(${join(notAfter, ' or ')})`];
      const rows = sql`${newLine}from ${from}${values.joins()}`;
      return join(
        parts.map((part) => sql`exists (select 1${rows}${where([...conditions, part])})`),
        ' or ',
      );
    }
    const after = conditionAfter(this.#keys, cursor, values);
    // The first row of the order decides, which an index may find.
    const first = sql`select coalesce(${after}, false)${newLine}from ${from}${where(conditions)}${newLine}order by ${orderBy(this.#keys, values)} limit 1`;
    return sql`not coalesce((${first}), true)`;
  }

  #joinedValues(scope: Scope): JoinedValues {
    const { keepsNotNull } = originOf(this.#connection, this.#source, scope.alias);
    const ofAllRows = this.#readsAllRows(scope) ? (this.#keys[0]?.value ?? null) : null;
    return new JoinedValues(scope, { keepsNotNull, ofAllRows }, this.#context.aliases);
  }

  /** Compiles the subselect. Must be called last, because everything around it determines what it returns. */
  compile(): Sql {
    const inner = directScope(this.scope.alias, originOf(this.#connection, this.#source, this.scope.alias));
    const values = this.#joinedValues(inner);
    const ranges = this.#cursor ? this.#rangesAfter(this.#cursor, values, inner) : this.#allRanges(values, inner);
    if (ranges.length > 1) return this.#union(ranges, values);
    const [only] = ranges;
    if (this.#cursor && !only) return this.#single({ condition: sql`false`, order: this.#keys, isBeyond: true }, null, values);
    return this.#single(only, this.#connection.page.offset, values);
  }

  /**
   * The ranges after the cursor; a single one if other values than columns order the rows and no index serves them, because each range
   * would read all rows again. Also if there would be many joins, because PostgreSQL plans those of every range.
   */
  #rangesAfter(cursor: readonly (Parameter | null)[], values: JoinedValues, inner: Scope): SeekRange[] {
    const ranges = pageRanges(this.#keys, cursor, values);
    const joins = ranges.length * this.#keys.filter(({ value }) => value.kind !== 'column').length;
    return joins > maxJoinsOfRanges || (joins > 0 && !this.#isIndexed(inner)) ? asOneRange(ranges, this.#keys) : ranges;
  }

  #allRanges(values: JoinedValues, inner: Scope): SeekRange[] {
    if (this.#keys[0]?.value.kind === 'related' && !this.#isIndexed(inner)) return [];
    return wholeRanges(this.#keys, values, this.#connection.table);
  }

  /**
   * Whether indexes find the rows in order. Rows that belong to another row, or that an index finds for the filter, are assumed to be few,
   * so they are sorted.
   */
  #isIndexed(inner: Scope): boolean {
    const [first] = this.#keys;
    const { table, filter } = this.#connection;
    return first !== undefined && this.#isWholeTable(inner) && leadsIndex(first.value, table) && !narrowsByIndex(filter);
  }

  #isWholeTable(inner: Scope): boolean {
    return this.#source.isTable && this.#source.conditions(inner).length === 0;
  }

  /** Whether finding the page needs the order values of every row of the table: no filter or policy reduces the rows. */
  #readsAllRows(inner: Scope): boolean {
    const { filter, table } = this.#connection;
    return filter === null && !table.rowSecurity && this.#isWholeTable(inner);
  }

  /** Whether values other than the rows' own columns order them. */
  #ordersByOthers(): boolean {
    return this.#keys.some(({ value }) => value.kind !== 'column');
  }

  #single(range: SeekRange | undefined, offset: Count | null, values: JoinedValues): Sql {
    const keys = range?.order ?? this.#keys;
    const number = this.#numbered ? [this.#rowNumber(keys, values)] : [];
    const order = keys.length > 0 ? sql`${newLine}order by ${orderBy(keys, values)}` : sql``;
    const { outputs, rows } = this.#rows(range, values);
    return sql`select ${join([...outputs, ...number], ', ')}${rows}${order}${this.#cut(offset)}`;
  }

  /**
   * Reads each range separately, limited to the size of the page, and combines them: one after the other until the page is full, or, if
   * their order is not guaranteed, by sorting these few rows.
   */
  #union(ranges: readonly SeekRange[], values: JoinedValues): Sql {
    const { offset } = this.#connection.page;
    const isInOrder = this.#readsInOrder() && ranges.every(({ isBeyond }) => isBeyond);
    const keys = isInOrder ? [] : this.#keys;
    const number = this.#numbered ? sql`, ${this.#rowNumber(keys, this.values)}` : sql``;
    const order = isInOrder ? sql`` : sql`${newLine}order by ${orderBy(keys, this.values)}`;
    const branches = ranges.map((range) => {
      const order = range.order.length > 0 ? sql`${newLine}order by ${orderBy(range.order, values)}` : sql``;
      const size = offset === null ? this.#size() : sql`${this.#size()} + ${countSql(offset)}`;
      const { outputs, rows } = this.#rows(range, values);
      return sql`(select ${outputs.length > 0 ? join(outputs, ', ') : sql`1`}${rows}${order} limit ${size})`;
    });
    const alias = trusted(this.scope.alias);
    return sql`select ${alias}.*${number} from (${newLine}${join(branches, sql`${newLine}union all${newLine}`)}) as ${alias}${order}${this.#cut(offset)}`;
  }

  /**
   * Whether PostgreSQL returns the rows of `union all` in the order of its branches, which it does if it reads them one after the other.
   * Branches with a limit never run in parallel; only foreign scans of whole branches may run concurrently.
   */
  #readsInOrder(): boolean {
    const { kind } = this.#connection.table;
    return this.#source.isTable && (kind === 'table' || kind === 'partitioned table' || kind === 'materialized view');
  }

  /** The select list, FROM and WHERE. Must be called after everything else that uses the values is written. */
  #rows(range: SeekRange | undefined, values: JoinedValues): { outputs: Sql[]; rows: Sql } {
    const { scope: inner, from, conditions } = sourceRows(this.#connection, this.#source, this.#context.aliases, this.scope.alias);
    const outputs = [...this.scope.outputs(inner), ...this.values.outputs(values)];
    return { outputs, rows: sql`${newLine}from ${from}${values.joins()}${where(range ? [...conditions, range.condition] : conditions)}` };
  }

  #rowNumber(keys: readonly PagingKey[], values: OrderValues): Sql {
    const order = keys.length > 0 ? sql`order by ${orderBy(keys, values)}` : sql``;
    return sql`pg_catalog.row_number() over (${order}) as ${this.#numberName()}`;
  }

  #numberName(): Sql {
    return identifier(this.scope.freeName('(number)'));
  }

  #size(): Sql {
    const { limit } = this.#connection.page;
    if (!this.#oneMore) return countSql(limit);
    return typeof limit === 'number' ? integer(limit + 1) : sql`${countSql(limit)} + 1`;
  }

  #cut(offset: Count | null): Sql {
    const skip = offset === null ? sql`` : sql` offset ${countSql(offset)}`;
    return sql` limit ${this.#size()}${skip}`;
  }
}

/** A number of rows as SQL. */
export function countSql(value: Count): Sql {
  return typeof value === 'number' ? integer(value) : bind(value, 'int8');
}
