/** The response of a mutation as JSON text. */

import type { OrderKey } from '../../plan/conditions.ts';
import type { Member, MutationPlan, ResponseValue, RowPlan } from '../../plan/plan.ts';
import { concatenate, type JsonText, jsonRows } from '../../sql/json-text.ts';
import type { Sql } from '../../sql/sql.ts';
import { compileQueryField } from '../compile-row.ts';
import { edgeJson } from '../page/compile-connection.ts';
import { keysOfRow, needsOfOrder } from '../page/order-keys.ts';
import { orderBy } from '../page/seek.ts';
import { allNeeds, type DerivedScope, type RowNeeds, rowNeeds, type Scope } from '../scope.ts';
import type { StatementContext } from '../statement.ts';

type Members = readonly Member<ResponseValue>[];
type EdgesValue = Extract<ResponseValue, { kind: 'edges' }>;

/** The parts of a response as JSON text. `records` and `edges` return the elements of a list. */
interface ResponseParts {
  readonly count: JsonText;
  readonly records: (row: RowPlan) => JsonText;
  readonly edges: (edges: EdgesValue) => JsonText;
}

function responseJson(members: Members, context: StatementContext, parts: ResponseParts): JsonText {
  return context.object(members, (value) => {
    switch (value.kind) {
      case 'affected count':
        return parts.count;
      case 'records':
        return ['[', ...parts.records(value.row), ']'];
      case 'edges':
        return ['[', ...parts.edges(value), ']'];
      case 'query':
        return context.object(value.members, (field) => [compileQueryField(field, context)]);
    }
  });
}

/** The response of a single row. */
export function responseOfOne(members: Members, target: Scope, context: StatementContext): JsonText {
  return responseJson(members, context, {
    count: ['1'],
    records: (row) => context.rowJson(row, target),
    edges: ({ members, keys }) => [edgeJson(members, keysOfRow(keys, target, context.aliases), target, context)],
  });
}

/** The response without rows, but with this count. */
export function responseOfNone(members: Members, context: StatementContext, count: '0' | '1'): Sql {
  return concatenate(responseJson(members, context, { count: [count], records: () => [], edges: () => [] }));
}

/** The response of the rows of a FROM item. `order` is the order of lists without their own, if they need one. */
export function responseOfRows(
  members: Members,
  rows: Scope,
  { count, order }: { readonly count: Sql; readonly order: readonly Sql[] },
  context: StatementContext,
): JsonText {
  return responseJson(members, context, {
    count: [count],
    records: (row) => [jsonRows(concatenate(context.rowJson(row, rows)), order)],
    edges: ({ members, keys }) => {
      const written = keysOfRow(keys, rows, context.aliases);
      return [jsonRows(edgeJson(members, written, rows, context), keys.length > 0 ? orderBy(written) : order)];
    },
  });
}

/** What a response needs of the rows. */
export function responseNeeds(members: Members): RowNeeds {
  return allNeeds([...shownRows(members).map(rowNeeds), ...sortKeys(members).map(({ value }) => needsOfOrder(value))]);
}

/** The plans by which the rows are shown. */
export function shownRows(members: Members): RowPlan[] {
  return members.flatMap(({ value }) => {
    if (value.kind === 'records') return [value.row];
    return value.kind === 'edges' ? value.members.flatMap((edge) => (edge.value.kind === 'node' ? [edge.value.row] : [])) : [];
  });
}

/** The keys that order the lists of the response. */
export function sortKeys(members: Members): OrderKey[] {
  return members.flatMap(({ value }) => (value.kind === 'edges' ? value.keys : []));
}

/** Whether the response has rows. */
export function hasRows(members: Members): boolean {
  return members.some(({ value }) => value.kind === 'records' || value.kind === 'edges');
}

/**
 * Whether the select around a write reads the rows that it returns. It need not if it aggregates nothing: it would return a row for each of
 * them, and the write runs even if nothing reads it.
 */
export function readsWritten({ kind, members }: MutationPlan): boolean {
  return kind !== 'insert' || members.some(({ value }) => value.kind !== 'type name');
}

/** The order of lists that have none of their own. */
interface ListOrder {
  /** The name of the output that rows need for it, with their position; null if they come in this order by themselves. */
  readonly position: string | null;
  readonly order: readonly Sql[];
}

/** Since version 16, PostgreSQL sorts the rows before all aggregates, so beside a sorted list, others would take its order. */
export function listOrder(rows: DerivedScope, members: Members): ListOrder {
  const lists = members.flatMap(({ value }) => (value.kind === 'records' ? [[]] : value.kind === 'edges' ? [value.keys] : []));
  const sorted = lists.filter((keys) => keys.length > 0).length;
  if (sorted === 0 || sorted === lists.length) return { position: null, order: [] };
  const position = rows.freeName('(number)');
  return { position, order: [rows.output(position)] };
}
