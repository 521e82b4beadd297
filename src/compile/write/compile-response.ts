/** The response of a mutation as JSON text. */
import type { Member, ResponseValue, RowPlan } from '../../plan/plan.ts';
import { concatenate, type JsonText, jsonObject } from '../../sql/json-text.ts';
import { identifier, type Sql, sql, trusted } from '../../sql/sql.ts';
import { compileQueryField } from '../compile-query.ts';
import { compileRow } from '../compile-row.ts';
import { edgeJson } from '../page/compile-edge.ts';
import { RowValues } from '../page/order-values.ts';
import { orderBy } from '../page/seek.ts';
import type { DerivedScope, Scope } from '../scope.ts';
import { type StatementContext, typeNameJson } from '../statement.ts';

/** The parts of a response as JSON text. `records` and `edges` return the elements of a list. */
interface ResponseParts {
  readonly count: JsonText;
  readonly records: (row: RowPlan) => JsonText;
  readonly edges: (edges: Extract<ResponseValue, { kind: 'edges' }>) => JsonText;
}

/** The response as JSON text. */
function responseJson(members: readonly Member<ResponseValue>[], context: StatementContext, parts: ResponseParts): JsonText {
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

/** The response of the rows of a FROM item. `order` is the ORDER BY clause of lists without their own order, if they need one. */
export function responseOfRows(
  members: readonly Member<ResponseValue>[],
  rows: Scope,
  { count, order }: { readonly count: Sql; readonly order: Sql },
  context: StatementContext,
): JsonText {
  return responseJson(members, context, {
    count: [count],
    records: (row) => [sql`coalesce(pg_catalog.string_agg(${concatenate(compileRow(row, rows, context))}, ','${order}), '')`],
    edges: ({ members, keys }) => {
      const values = new RowValues(rows, context.aliases);
      const edge = edgeJson(members, keys, rows, values, context, compileRow);
      return [sql`coalesce(pg_catalog.string_agg(${edge}, ','${keys.length > 0 ? sql` order by ${orderBy(keys, values)}` : order}), '')`];
    },
  });
}

/** The order in which rows were written. */
export interface WrittenOrder {
  /** The output with the position of a row that the rows must have; null if they come in this order by themselves. */
  readonly number: Sql | null;
  /** The ORDER BY clause. */
  readonly order: Sql;
}

/** The order of lists without their own order. */
export function writtenOrder(members: readonly Member<ResponseValue>[], rows: DerivedScope): WrittenOrder {
  if (!sortsSome(members)) return { number: null, order: sql`` };
  const number = identifier(rows.freeName('(number)'));
  return { number, order: sql` order by ${trusted(rows.alias)}.${number}` };
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
