/** The response of a mutation as JSON text. */
import type { Member, ResponseValue, RowPlan } from '../plan/plan.ts';
import { concatenate, type JsonText, jsonObject } from '../sql/json-text.ts';
import { identifier, type Sql, sql, trusted } from '../sql/sql.ts';
import { edgeJson } from './compile-edge.ts';
import { compileQueryField } from './compile-query.ts';
import { compileRow } from './compile-row.ts';
import { type StatementContext, typeNameJson } from './context.ts';
import { RowValues } from './order-values.ts';
import type { DerivedScope, Scope } from './scope.ts';
import { orderBy } from './seek.ts';

/** The parts of a response as JSON text. `records` and `edges` return the elements of a list. */
export interface ResponseParts {
  readonly count: JsonText;
  readonly records: (row: RowPlan) => JsonText;
  readonly edges: (edges: Extract<ResponseValue, { kind: 'edges' }>) => JsonText;
}

/** The response as JSON text. */
export function responseJson(members: readonly Member<ResponseValue>[], context: StatementContext, parts: ResponseParts): JsonText {
  const json = (value: ResponseValue): JsonText => {
    switch (value.kind) {
      case 'type name':
        return typeNameJson(value.name);
      case 'affected count':
        return parts.count;
      case 'records':
        return ['[', ...parts.records(value.row), ']'];
      case 'edges':
        return ['[', ...parts.edges(value), ']'];
      case 'query':
        return jsonObject(
          value.members.map((member) => ({
            key: context.key(member),
            value: member.value.kind === 'type name' ? typeNameJson(member.value.name) : [compileQueryField(member.value, context)],
          })),
        );
    }
  };
  return jsonObject(members.map((member) => ({ key: context.key(member), value: json(member.value) })));
}

/** The response of a single row. */
export function responseOfOne(members: readonly Member<ResponseValue>[], target: Scope, context: StatementContext): JsonText {
  return responseJson(members, context, {
    count: ['1'],
    records: (row) => compileRow(row, target, context),
    edges: ({ members, keys }) => [edgeJson(members, keys, target, new RowValues(target, context.aliases), context, compileRow)],
  });
}

/** The response without rows, but with this count. */
export function responseOfNone(members: readonly Member<ResponseValue>[], context: StatementContext, count: '0' | '1'): Sql {
  return concatenate(responseJson(members, context, { count: [count], records: () => [], edges: () => [] }));
}

/** The response of several rows, for a select that aggregates them. */
export interface ResponseOfRows {
  readonly json: JsonText;
  /** The output that the rows must have: their position. Null if nothing needs it. */
  readonly number: Sql | null;
}

/** The response of the rows of a FROM item. `count` is their number. */
export function responseOfRows(
  members: readonly Member<ResponseValue>[],
  rows: DerivedScope,
  count: Sql,
  context: StatementContext,
): ResponseOfRows {
  const number = sortsSome(members) ? identifier(rows.freeName('(number)')) : null;
  const asWritten = number ? sql` order by ${trusted(rows.alias)}.${number}` : sql``;
  const json = responseJson(members, context, {
    count: [count],
    records: (row) => [sql`coalesce(pg_catalog.string_agg(${concatenate(compileRow(row, rows, context))}, ','${asWritten}), '')`],
    edges: ({ members, keys }) => {
      const values = new RowValues(rows, context.aliases);
      const edge = edgeJson(members, keys, rows, values, context, compileRow);
      const order = keys.length > 0 ? sql` order by ${orderBy(keys, values)}` : asWritten;
      return [sql`coalesce(pg_catalog.string_agg(${edge}, ','${order}), '')`];
    },
  });
  return { json, number };
}

/** Whether the response has rows. */
export function hasRows(members: readonly Member<ResponseValue>[]): boolean {
  return members.some(({ value }) => value.kind === 'records' || value.kind === 'edges');
}

/**
 * Whether some lists of the response are sorted, but not all. Since version 16, PostgreSQL sorts the rows before all aggregates, so lists
 * without their own order would take another's.
 */
function sortsSome(members: readonly Member<ResponseValue>[]): boolean {
  const isSorted = (value: ResponseValue): boolean => value.kind === 'edges' && value.keys.length > 0;
  const lists = members.map(({ value }) => value).filter(({ kind }) => kind === 'records' || kind === 'edges');
  return lists.some(isSorted) && !lists.every(isSorted);
}
