/**
 * The rows of one page, in walking order: from the beginning, or behind a cursor by ranges that an index can serve.
 */
import type { ConnectionPlan, Count, OrderKey, Parameter } from '../plan/plan.ts';
import { bind, identifier, integer, join, newLine, type Sql, sql, trusted } from '../sql/sql.ts';
import { compileFilter } from './compile-filter.ts';
import type { StatementContext } from './context.ts';
import { DerivedScope, directScope, type RowOrigin, type Scope } from './scope.ts';
import { orderBy, type SeekRange, seekRanges, type WalkKey, walkingKeys, wholeRanges } from './seek.ts';

/** Where the rows of a collection come from. */
export interface Source {
  /** A table, a function call or a common table expression. */
  readonly from: Sql;
  /** Whether they are the rows of a table, each once; those of a function may come again. */
  readonly isTable: boolean;
  /** What ties the rows to the row around them. */
  readonly conditions: (inner: Scope) => readonly Sql[];
  /** The row as a value of its row type, where the alias is no such value. */
  readonly row?: (alias: string) => Sql;
}

function originOf({ table }: ConnectionPlan, source: Source, alias: string): RowOrigin {
  return { keepsNotNull: source.isTable && table.keepsNotNull, row: source.row?.(alias) };
}

/** FROM and WHERE of all rows that the filter lets through, under an alias of their own. */
export function sourceRows(
  connection: ConnectionPlan,
  source: Source,
  alias: string,
): { scope: Scope; from: Sql; conditions: readonly Sql[] } {
  const { filter } = connection;
  const scope = directScope(alias, originOf(connection, source, alias));
  const conditions = [...source.conditions(scope), ...(filter ? [compileFilter(filter, scope)] : [])];
  return { scope, from: sql`${source.from} as ${trusted(alias)}`, conditions };
}

/** ` where a and b`, or nothing. */
export function where(conditions: readonly Sql[]): Sql {
  return conditions.length > 0 ? sql`${newLine}where ${join(conditions, ' and ')}` : sql``;
}

export class PageQuery {
  readonly scope: DerivedScope;
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
    const { keys, cursor, direction } = connection.page;
    // A column that stands in the order twice decides nothing the second time; its cursor holds it twice all the same.
    const isFirst = keys.map(({ column }, index) => keys.findIndex((each) => each.column === column) === index);
    this.#keys = walkingKeys(
      keys.filter((_, index) => isFirst[index]),
      direction,
    );
    this.#cursor = cursor?.filter((_, index) => isFirst[index]) ?? null;
  }

  /** Reads one row more than the page holds, to know whether there is one. */
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

  /** The position of a row in walking order. */
  number(): Sql {
    this.#numbered = true;
    return sql`${trusted(this.scope.alias)}.${this.#numberName()}`;
  }

  limit(): Sql {
    return count(this.#connection.page.limit);
  }

  /** The position of the last row that the page holds: those that were skipped are counted too. */
  lastNumber(): Sql {
    const { limit, offset } = this.#connection.page;
    if (offset === null) return count(limit);
    return typeof limit === 'number' && typeof offset === 'number' ? integer(limit + offset) : sql`${count(limit)} + ${count(offset)}`;
  }

  /** Conditions under which rows precede the page in walking direction, if it has any rows. */
  reasonsForOther(): Sql[] {
    const { offset } = this.#connection.page;
    const reasons: Sql[] = [];
    if (offset !== null && offset !== 0) reasons.push(sql`${count(offset)} > 0`);
    if (this.#cursor) {
      // The very first row tells: if it does not lie behind the cursor, the page has rows before it.
      const { scope, from, conditions } = sourceRows(this.#connection, this.#source, this.#context.aliases.next());
      const ranges = seekRanges(this.#keys, this.#cursor, scope);
      const behind =
        ranges.length > 0
          ? join(
              ranges.map(({ condition }) => sql`(${condition})`),
              ' or ',
            )
          : sql`false`;
      const first = sql`select coalesce(${behind}, false)${newLine}from ${from}${where(conditions)}${newLine}order by ${orderBy(this.#keys, scope)} limit 1`;
      reasons.push(sql`not coalesce((${first}), true)`);
    }
    return reasons;
  }

  /** The subselect, once everything around it is known. */
  compile(): Sql {
    const inner = directScope(this.scope.alias, originOf(this.#connection, this.#source, this.scope.alias));
    const ranges = this.#cursor ? seekRanges(this.#keys, this.#cursor, inner) : wholeRanges(this.#keys, inner);
    if (ranges.length > 1) return this.#union(ranges);
    const [only] = ranges;
    if (this.#cursor && !only) return this.#single({ condition: sql`false`, order: this.#keys, isBeyond: true }, null);
    return this.#single(only, this.#connection.page.offset);
  }

  #single(range: SeekRange | undefined, offset: Count | null): Sql {
    const { inner, rows } = this.#rows(range);
    const outputs = this.scope.outputs(inner);
    const keys = range?.order ?? this.#keys;
    if (this.#numbered) outputs.push(this.#rowNumber(keys, inner));
    const order = keys.length > 0 ? sql`${newLine}order by ${orderBy(keys, inner)}` : sql``;
    return sql`select ${join(outputs, ', ')}${rows}${order}${this.#cut(offset)}`;
  }

  /**
   * Each range read by itself and cut to the page, then put together: one after the other, as far as the page is not full, or where that cannot
   * be relied on, in the order that a sort of a few pages' rows makes.
   */
  #union(ranges: readonly SeekRange[]): Sql {
    const { offset } = this.#connection.page;
    const outer = directScope(this.scope.alias, originOf(this.#connection, this.#source, this.scope.alias));
    const isInOrder = this.#readsInOrder() && ranges.every(({ isBeyond }) => isBeyond);
    if (!isInOrder) for (const { column } of this.#keys) this.scope.column(column.name);
    const branches = ranges.map((range) => {
      const { inner, rows } = this.#rows(range);
      const order = range.order.length > 0 ? sql`${newLine}order by ${orderBy(range.order, inner)}` : sql``;
      const size = offset === null ? this.#size() : sql`${this.#size()} + ${count(offset)}`;
      const outputs = this.scope.outputs(inner);
      return sql`(select ${outputs.length > 0 ? join(outputs, ', ') : sql`1`}${rows}${order} limit ${size})`;
    });
    const keys = isInOrder ? [] : this.#keys;
    const number = this.#numbered ? sql`, ${this.#rowNumber(keys, outer)}` : sql``;
    const order = isInOrder ? sql`` : sql`${newLine}order by ${orderBy(keys, outer)}`;
    const alias = trusted(this.scope.alias);
    return sql`select ${alias}.*${number} from (${newLine}${join(branches, sql`${newLine}union all${newLine}`)}) as ${alias}${order}${this.#cut(offset)}`;
  }

  /**
   * Whether PostgreSQL yields the rows of `union all` in the order of its branches. It does where it reads one after the other: never in parallel, as
   * each has a limit, and at the same time only those that are a query of another server as a whole.
   */
  #readsInOrder(): boolean {
    const { kind } = this.#connection.table;
    return this.#source.isTable && (kind === 'table' || kind === 'partitioned table' || kind === 'materialized view');
  }

  #rows(range: SeekRange | undefined): { inner: Scope; rows: Sql } {
    const { scope: inner, from, conditions } = sourceRows(this.#connection, this.#source, this.scope.alias);
    return { inner, rows: sql`${newLine}from ${from}${where(range ? [...conditions, range.condition] : conditions)}` };
  }

  #rowNumber(keys: readonly WalkKey[], scope: Scope): Sql {
    const order = keys.length > 0 ? sql`order by ${orderBy(keys, scope)}` : sql``;
    return sql`row_number() over (${order}) as ${this.#numberName()}`;
  }

  #numberName(): Sql {
    return identifier(this.scope.freeName('(number)'));
  }

  #size(): Sql {
    const { limit } = this.#connection.page;
    if (!this.#oneMore) return count(limit);
    return typeof limit === 'number' ? integer(limit + 1) : sql`${count(limit)} + 1`;
  }

  #cut(offset: Count | null): Sql {
    const skip = offset === null ? sql`` : sql` offset ${count(offset)}`;
    return sql` limit ${this.#size()}${skip}`;
  }
}

function count(value: Count): Sql {
  return typeof value === 'number' ? integer(value) : bind(value, 'int8');
}
