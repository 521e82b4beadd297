/**
 * A connection as JSON text: a subselect reads the page, and the select around it aggregates the edges. For
 * `{ edges { node { id } } pageInfo { hasNextPage } }` of the first 20:
 *
 *     (select concat('{"edges":[', coalesce(string_agg(concat('{"node":{"id":', t1."id", '}}'), ',') filter (where t1."(number)" <= 20), ''),
 *        '],"pageInfo":{"hasNextPage":', (pg_catalog.count(*) > 20)::text, '}}')
 *      from (select t1."id", pg_catalog.row_number() over (order by t1."id") as "(number)" from "public"."account" as t1
 *        order by t1."id" limit 21) as t1)
 */

import type { ConnectionPlan, ConnectionValue, EdgeValue, Member, PageInfoValue } from '../../plan/plan.ts';
import { pinsColumns } from '../../plan/required-comparisons.ts';
import { concatenate, type JsonText, jsonObject } from '../../sql/json-text.ts';
import { builtIn, join, literal, newLine, type Sql, sql, trusted } from '../../sql/sql.ts';
import { aggregateMembers, isAggregate } from '../groups/compile-aggregate.ts';
import { selectGroups } from '../groups/compile-groups.ts';
import type { Scope } from '../scope.ts';
import { type Frame, noFrame, type StatementContext, selectList, typeNameJson } from '../statement.ts';
import { isNotNull } from '../values/comparison.ts';
import { opaqueId, quotedOrNull } from '../values/value-json.ts';
import { cursorText, edgeJson, type RowCompiler } from './compile-edge.ts';
import { type OrderValues, RowValues } from './order-values.ts';
import { PageQuery, type Source, sourceRows, where } from './page-query.ts';

/**
 * The connection as a member of a row. If it has only one computed value, such as the edges, only that value becomes a subselect, and the
 * JSON around it becomes part of the row's JSON, which saves a call.
 */
export function connectionJson(connection: ConnectionPlan, source: Source, context: StatementContext, compileRow: RowCompiler): JsonText {
  if (!hasPage(connection)) return [compileConnection(connection, source, context, compileRow)];
  return new ConnectionCompiler(connection, source, context, compileRow).compilePieces();
}

/** The connection as an expression of type text. */
export function compileConnection(connection: ConnectionPlan, source: Source, context: StatementContext, compileRow: RowCompiler): Sql {
  return sql`(${selectConnection(connection, source, context, compileRow)})`;
}

/** The connection as a select that returns one text. */
export function selectConnection(
  connection: ConnectionPlan,
  source: Source,
  context: StatementContext,
  compileRow: RowCompiler,
  frame: Frame = noFrame,
): Sql {
  if (!hasPage(connection)) return aggregateMembers(connection, connection.members, source, context, { whole: true, frame });
  return new ConnectionCompiler(connection, source, context, compileRow).compile(frame);
}

/** Whether anything besides aggregates is selected. */
function hasPage({ members }: ConnectionPlan): boolean {
  return members.some(({ value }) => value.kind === 'edges' || value.kind === 'page info' || value.kind === 'groups');
}

class ConnectionCompiler {
  readonly #connection: ConnectionPlan;
  readonly #source: Source;
  readonly #context: StatementContext;
  readonly #compileRow: RowCompiler;
  readonly #page: PageQuery;
  /**
   * Whether anything aggregates the rows of the page. Otherwise the select must not read them, because it would return one row for each.
   */
  #readsPage = false;

  constructor(connection: ConnectionPlan, source: Source, context: StatementContext, compileRow: RowCompiler) {
    this.#connection = connection;
    this.#source = source;
    this.#context = context;
    this.#compileRow = compileRow;
    this.#page = new PageQuery(connection, source, context);
  }

  compile(frame: Frame): Sql {
    // The JSON comes first, because compiling it determines the columns that the page needs, and whether it needs one more row.
    return this.#select(concatenate(this.#object()), frame);
  }

  compilePieces(): JsonText {
    const pieces = this.#object();
    if (!this.#readsPage) return pieces;
    const isOnly = pieces.filter((piece) => typeof piece !== 'string').length === 1;
    if (!isOnly) return [sql`(${this.#select(concatenate(pieces), noFrame)})`];
    return pieces.map((piece) => (typeof piece === 'string' ? piece : sql`(${this.#select(piece, noFrame)})`));
  }

  #select(json: Sql, frame: Frame): Sql {
    if (!this.#readsPage) return sql`select ${selectList(frame, [json])}`;
    return sql`select ${selectList(frame, [json])}${newLine}from ${this.#page.scope.withRepeated(sql`(${this.#page.compile()})`)} as ${trusted(this.#page.scope.alias)}`;
  }

  #object(): JsonText {
    const { members } = this.#connection;
    return jsonObject(members.map((member) => ({ key: this.#context.key(member), value: this.#value(member) })));
  }

  #value(member: Member<ConnectionValue>): JsonText {
    const { value } = member;
    if (value.kind === 'type name') return typeNameJson(value.name);
    if (value.kind === 'edges') return ['[', this.#edges(value.members), ']'];
    if (value.kind === 'groups') return [sql`(${selectGroups(this.#connection, value.groups, this.#source, this.#context)})`];
    if (isAggregate(value))
      return [sql`(${aggregateMembers(this.#connection, [member], this.#source, this.#context, { whole: false, frame: noFrame })})`];
    return jsonObject(value.members.map((each) => ({ key: this.#context.key(each), value: this.#pageInfo(each.value) })));
  }

  #edges(members: readonly Member<EdgeValue>[]): Sql {
    if (this.#hasOneRow()) return this.#onlyEdge(members);
    this.#readsPage = true;
    const edge = this.#edge(members, this.#page.scope, this.#page.values);
    const order = this.#connection.page.direction === 'backward' ? sql` order by ${this.#page.number()} desc` : sql``;
    const filters = () => [
      ...(this.#page.usesNumber() && this.#page.readsOneMore() ? [sql`${this.#page.number()} <= ${this.#page.lastNumber()}`] : []),
      ...this.#hasKey(),
    ];
    return sql`coalesce(pg_catalog.string_agg(${edge}, ','${order})${this.#filterClause(filters)}, '')`;
  }

  #edge(members: readonly Member<EdgeValue>[], scope: Scope, values: OrderValues): Sql {
    return edgeJson(members, this.#connection.page.keys, scope, values, this.#context, this.#compileRow);
  }

  /** Whether the filter pins the whole key, in which case there is nothing to order, limit or aggregate. */
  #hasOneRow(): boolean {
    const { table, page, filter, members } = this.#connection;
    return (
      this.#source.isTable &&
      table.keyIsUnique &&
      pinsColumns(filter, table.primaryKey) &&
      page.direction === 'forward' &&
      page.cursor === null &&
      page.offset === null &&
      typeof page.limit === 'number' &&
      page.limit > 0 &&
      !members.some(({ value }) => value.kind === 'page info')
    );
  }

  /** The only edge, in a subselect that fails if there is a second row: after a schema change, the key may no longer be unique. */
  #onlyEdge(members: readonly Member<EdgeValue>[]): Sql {
    const { scope, from, conditions } = sourceRows(this.#connection, this.#source, this.#context.aliases, this.#page.scope.alias);
    const edge = this.#edge(members, scope, new RowValues(scope, this.#context.aliases));
    return sql`coalesce((select ${edge}${newLine}from ${from}${where(conditions)}), '')`;
  }

  /** Rows whose first key column is null are not edges, as in pg_graphql. Views and functions may return such rows. */
  #hasKey(): Sql[] {
    const [first] = this.#connection.table.primaryKey;
    return first && !this.#page.scope.isNeverNull(first) ? [isNotNull(this.#page.scope.column(first.name), first.type)] : [];
  }

  #filterClause(filters: () => Sql[]): Sql {
    if (this.#asksForMore()) this.#page.readOneMore();
    const present = filters();
    return present.length > 0 ? sql` filter (where ${join(present, ' and ')})` : sql``;
  }

  /** Whether the query asks if more rows follow in the direction of paging. */
  #asksForMore(): boolean {
    const wanted = this.#connection.page.direction === 'forward' ? 'has next page' : 'has previous page';
    return this.#connection.members.some(
      ({ value }) => value.kind === 'page info' && value.members.some((each) => each.value.kind === wanted),
    );
  }

  #pageInfo(value: PageInfoValue): JsonText {
    const forward = this.#connection.page.direction === 'forward';
    switch (value.kind) {
      case 'type name':
        return typeNameJson(value.name);
      case 'start cursor':
        return [this.#cursorAt(forward)];
      case 'end cursor':
        return [this.#cursorAt(!forward)];
      case 'has next page':
        return [forward ? this.#hasMore() : this.#hasPreceding()];
      case 'has previous page':
        return [forward ? this.#hasPreceding() : this.#hasMore()];
    }
  }

  /** The cursor of the first or last row in paging order. */
  #cursorAt(first: boolean): Sql {
    this.#readsPage = true;
    const last = this.#asksForMore() ? sql`least(pg_catalog.count(*), ${this.#page.limit()})` : sql`pg_catalog.count(*)`;
    const isCut = this.#asksForMore() && first;
    const position = first ? sql`1` : last;
    // Without its own ORDER BY, the aggregate takes the rows in the order of the subselect.
    const order = this.#connection.page.direction === 'backward' ? sql` order by ${this.#page.number()}` : sql``;
    const id = quotedOrNull(
      opaqueId(sql`(${builtIn('array_agg', sql`${cursorText(this.#connection.page.keys, this.#page.values)}${order}`)})[${position}]`),
    );
    return isCut ? sql`case when ${this.#page.limit()} > 0 then ${id} else 'null' end` : id;
  }

  #hasMore(): Sql {
    this.#readsPage = true;
    this.#page.readOneMore();
    return sql`(pg_catalog.count(*) > ${this.#page.limit()})::text`;
  }

  /** Whether rows precede the page in the direction of paging. False for an empty page, as in pg_graphql. */
  #hasPreceding(): Sql {
    const conditions = this.#page.precedingConditions();
    if (conditions.length === 0) return literal('false');
    this.#readsPage = true;
    return sql`(pg_catalog.count(*) > 0 and ${this.#page.limit()} > 0 and (${join(conditions, ' or ')}))::text`;
  }
}
