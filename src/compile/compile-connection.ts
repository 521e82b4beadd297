/**
 * A connection as JSON text: one subselect reads the page and its columns, the select around it aggregates the edges.
 * For `{ edges { node { id } } pageInfo { hasNextPage } }` of the first 20:
 *
 *     (select concat('{"edges":[', coalesce(string_agg(concat('{"node":{"id":', t1."id", '}}'), ',') filter (where t1."(number)" <= 20), ''),
 *        '],"pageInfo":{"hasNextPage":', (count(*) > 20)::text, '}}')
 *      from (select t1."id", row_number() over (order by t1."id") as "(number)" from "public"."account" as t1
 *        order by t1."id" limit 21) as t1)
 */

import { type Guard, selectList, unguarded } from '../freshness/schema-guard.ts';
import type { ConnectionPlan, ConnectionValue, EdgeValue, Member, PageInfoValue, RowPlan } from '../plan/plan.ts';
import { concatenate, type JsonText, jsonObject } from '../sql/json-text.ts';
import { builtIn, join, literal, newLine, type Sql, sql, trusted } from '../sql/sql.ts';
import { aggregateMembers, isAggregate } from './compile-aggregate.ts';
import { pinsColumns } from './compile-filter.ts';
import { type StatementContext, typeNameJson } from './context.ts';
import { PageQuery, type Source, sourceRows, where } from './page-query.ts';
import type { Scope } from './scope.ts';
import { keyJson, opaqueId, opaqueIdJson, quotedOrNull } from './value-json.ts';

/** What makes the JSON text of a node: rows hold connections and connections hold rows, so one is given to the other. */
export type RowCompiler = (row: RowPlan, scope: Scope, context: StatementContext) => JsonText;

/** The connection as an expression of type text. */
export function compileConnection(connection: ConnectionPlan, source: Source, context: StatementContext, compileRow: RowCompiler): Sql {
  return sql`(${selectConnection(connection, source, context, compileRow)})`;
}

/** The connection as a statement that yields one text. */
export function selectConnection(
  connection: ConnectionPlan,
  source: Source,
  context: StatementContext,
  compileRow: RowCompiler,
  guard: Guard = unguarded,
): Sql {
  const usesPage = connection.members.some(({ value }) => value.kind === 'edges' || value.kind === 'page info');
  if (!usesPage) return aggregateMembers(connection, connection.members, source, context, { whole: true, guard });
  return new ConnectionCompiler(connection, source, context, compileRow).compile(guard);
}

class ConnectionCompiler {
  readonly #connection: ConnectionPlan;
  readonly #source: Source;
  readonly #context: StatementContext;
  readonly #compileRow: RowCompiler;
  readonly #page: PageQuery;
  /** Whether something aggregates the rows of the page. Where nothing does, the select would yield each of them. */
  #readsPage = false;

  constructor(connection: ConnectionPlan, source: Source, context: StatementContext, compileRow: RowCompiler) {
    this.#connection = connection;
    this.#source = source;
    this.#context = context;
    this.#compileRow = compileRow;
    this.#page = new PageQuery(connection, source, context);
  }

  compile(guard: Guard): Sql {
    // The text comes first: it tells the page which columns and whether one more row are needed.
    const json = concatenate(this.#object());
    if (!this.#readsPage) return sql`select ${selectList(guard, [json])}`;
    return sql`select ${selectList(guard, [json])}${newLine}from ${this.#page.scope.withRepeated(sql`(${this.#page.compile()})`)} as ${trusted(this.#page.scope.alias)}`;
  }

  #object(): JsonText {
    const { members } = this.#connection;
    return jsonObject(members.map((member) => ({ key: this.#context.key(member), value: this.#value(member) })));
  }

  #value(member: Member<ConnectionValue>): JsonText {
    const { value } = member;
    if (value.kind === 'type name') return typeNameJson(value.name);
    if (value.kind === 'edges') return ['[', this.#edges(value.members), ']'];
    if (isAggregate(value))
      return [sql`(${aggregateMembers(this.#connection, [member], this.#source, this.#context, { whole: false, guard: unguarded })})`];
    return jsonObject(value.members.map((each) => ({ key: this.#context.key(each), value: this.#pageInfo(each.value) })));
  }

  #edges(members: readonly Member<EdgeValue>[]): Sql {
    if (this.#hasOneRow()) return this.#onlyEdge(members);
    this.#readsPage = true;
    const edge = this.#edge(members, this.#page.scope);
    const order = this.#connection.page.direction === 'backward' ? sql` order by ${this.#page.number()} desc` : sql``;
    const filters = () => [
      ...(this.#page.usesNumber() && this.#page.readsOneMore() ? [sql`${this.#page.number()} <= ${this.#page.lastNumber()}`] : []),
      ...this.#hasKey(),
    ];
    return sql`coalesce(string_agg(${edge}, ','${order})${this.#later(filters)}, '')`;
  }

  #edge(members: readonly Member<EdgeValue>[], scope: Scope): Sql {
    return concatenate(
      jsonObject(members.map((member) => ({ key: this.#context.key(member), value: this.#edgeValue(member.value, scope) }))),
    );
  }

  /** Whether the filter names a key, so that there is nothing to order, to cut or to aggregate. */
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

  /** In a subselect, where a second row is an error: after a change of the schema the key may be none any more. */
  #onlyEdge(members: readonly Member<EdgeValue>[]): Sql {
    const { scope, from, conditions } = sourceRows(this.#connection, this.#source, this.#page.scope.alias);
    return sql`coalesce((select ${this.#edge(members, scope)}${newLine}from ${from}${where(conditions)}), '')`;
  }

  /** Rows without a value in the first key column are no edges, as in pg_graphql: views have such, and what functions yield. */
  #hasKey(): Sql[] {
    const [first] = this.#connection.table.primaryKey;
    return first && !this.#page.scope.isNeverNull(first) ? [sql`${this.#page.scope.column(first.name)} is not null`] : [];
  }

  #later(filters: () => Sql[]): Sql {
    if (this.#asksForMore()) this.#page.readOneMore();
    const present = filters();
    return present.length > 0 ? sql` filter (where ${join(present, ' and ')})` : sql``;
  }

  /** Whether somebody asks if rows follow the page in walking direction. */
  #asksForMore(): boolean {
    const wanted = this.#connection.page.direction === 'forward' ? 'has next page' : 'has previous page';
    return this.#connection.members.some(
      ({ value }) => value.kind === 'page info' && value.members.some((each) => each.value.kind === wanted),
    );
  }

  #edgeValue(value: EdgeValue, scope: Scope): JsonText {
    switch (value.kind) {
      case 'type name':
        return typeNameJson(value.name);
      case 'cursor':
        return opaqueIdJson(this.#cursorText(scope));
      case 'node':
        return this.#compileRow(value.row, scope, this.#context);
    }
  }

  #cursorText(scope: Scope): Sql {
    const { keys } = this.#connection.page;
    const elements: JsonText = keys.flatMap(({ column }, index) => [
      ...(index > 0 ? [', '] : []),
      ...keyJson(scope.column(column.name), column.type, scope.isNeverNull(column)),
    ]);
    return concatenate(['[', ...elements, ']']);
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
        return [forward ? this.#hasMore() : this.#hasOther()];
      case 'has previous page':
        return [forward ? this.#hasOther() : this.#hasMore()];
    }
  }

  /** The cursor of the first or last row in walking order. */
  #cursorAt(first: boolean): Sql {
    this.#readsPage = true;
    const last = this.#asksForMore() ? sql`least(count(*), ${this.#page.limit()})` : sql`count(*)`;
    const isCut = this.#asksForMore() && first;
    const position = first ? sql`1` : last;
    // PostgreSQL sorts the rows once for all aggregates, and so in the order of the edges, if nothing is said here.
    const order = this.#connection.page.direction === 'backward' ? sql` order by ${this.#page.number()}` : sql``;
    const id = quotedOrNull(opaqueId(sql`(${builtIn('array_agg', sql`${this.#cursorText(this.#page.scope)}${order}`)})[${position}]`));
    return isCut ? sql`case when ${this.#page.limit()} > 0 then ${id} else 'null' end` : id;
  }

  #hasMore(): Sql {
    this.#readsPage = true;
    this.#page.readOneMore();
    return sql`(count(*) > ${this.#page.limit()})::text`;
  }

  /** Whether rows precede the page in walking direction. An empty page says no, as pg_graphql does. */
  #hasOther(): Sql {
    const reasons = this.#page.reasonsForOther();
    if (reasons.length === 0) return literal('false');
    this.#readsPage = true;
    return sql`(count(*) > 0 and ${this.#page.limit()} > 0 and (${join(reasons, ' or ')}))::text`;
  }
}
