/** What the members of a connection ask of its page. Found from the plan, before any SQL is written. */
import type { Column } from '../../model/model.ts';
import type { ConnectionPlan } from '../../plan/plan.ts';
import { pinsColumns } from '../../plan/walk.ts';
import { allNeeds, needsOfColumns, type RowNeeds, rowNeeds } from '../row-needs.ts';
import { type Collection, keepsNotNull } from './matching-rows.ts';

export interface PageNeeds {
  /** Whether anything aggregates the rows of the page. Otherwise the select must not read them: it would return one row for each. */
  readonly isRead: boolean;
  /** Whether the page has at most one row, the edge of which is read by itself. */
  readonly isOneRow: boolean;
  /** What the JSON needs of the rows, except for cursors. */
  readonly rows: RowNeeds;
  /** Whether cursors are shown, which have the values of all order keys. */
  readonly cursors: boolean;
  /** Whether one row beyond the page is read, to find out whether there is one. */
  readonly oneMore: boolean;
  /** Whether the rows have their position in paging order. */
  readonly numbers: boolean;
}

export function pageNeeds(collection: Collection): PageNeeds {
  const { members, page } = collection.plan;
  const isForward = page.direction === 'forward';
  const edges = members.flatMap(({ value }) => (value.kind === 'edges' ? [value.members.map((edge) => edge.value)] : []));
  const nodes = edges.flat().flatMap((value) => (value.kind === 'node' ? [rowNeeds(value.row)] : []));
  const info = new Set(members.flatMap(({ value }) => (value.kind === 'page info' ? value.members.map((each) => each.value.kind) : [])));
  const ends = info.has('start cursor') || info.has('end cursor');
  const oneMore = info.has(isForward ? 'has next page' : 'has previous page');
  const preceding = info.has(isForward ? 'has previous page' : 'has next page') && mayHavePreceding(collection.plan);
  const isOneRow = hasOneRow(collection);
  const present = nullableKey(collection);
  return {
    isRead: (edges.length > 0 && !isOneRow) || ends || oneMore || preceding,
    isOneRow,
    rows: allNeeds([...nodes, needsOfColumns(present && edges.length > 0 ? [present.name] : [])]),
    cursors: ends || edges.flat().some(({ kind }) => kind === 'cursor'),
    oneMore,
    numbers: oneMore || (!isForward && (edges.length > 0 || ends)),
  };
}

/** Whether rows may precede the page in the direction of paging. */
export function mayHavePreceding({ page: { offset, cursor } }: ConnectionPlan): boolean {
  return (offset !== null && offset !== 0) || cursor !== null;
}

/** Whether the filter pins the whole key, in which case there is nothing to order, limit or aggregate. */
function hasOneRow({ plan: { table, page, filter, members }, rows }: Collection): boolean {
  return (
    rows.kind === 'table' &&
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

/** The first key column, if it may be null. Rows where it is are not edges, as in pg_graphql: views and functions may return some. */
export function nullableKey(collection: Collection): Column | null {
  const [first] = collection.plan.table.primaryKey;
  return first && !(first.notNull && keepsNotNull(collection)) ? first : null;
}
