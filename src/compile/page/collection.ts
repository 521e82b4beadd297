/**
 * A connection: the rows that match its filter, which its page, its aggregates and its groups read, and what its members need of the page.
 */
import type { Column, Lineage, Relation } from '../../model/model.ts';
import type { ConnectionPlan, DistinctPlan, EdgeValue } from '../../plan/plan.ts';
import { pinsColumns } from '../../plan/walk.ts';
import { and, as, named, subselect } from '../../sql/clauses.ts';
import { identifier, type Sql, sql, trusted } from '../../sql/sql.ts';
import { compileFilter, needsOfFilter } from '../compile-filter.ts';
import { lineageName, lineageScope } from '../related-rows.ts';
import {
  allNeeds,
  DerivedScope,
  directScope,
  joinConditions,
  needsOfColumns,
  needsOfValue,
  noNeeds,
  type RowNeeds,
  readableColumns,
  rowNeeds,
  type Scope,
  scoreName,
  tableName,
  tableScope,
} from '../scope.ts';
import { type Shard, shardAlong, shardOfFilter } from '../shards.ts';
import type { StatementContext } from '../statement.ts';
import { comparable } from '../values/comparison.ts';
import { joinKeys, needsOfOrder } from './order-keys.ts';
import { orderBy } from './seek.ts';

export interface Collection {
  readonly plan: ConnectionPlan;
  readonly rows: CollectionRows;
  readonly context: StatementContext;
}

type CollectionRows = FoundRows | FusedRows;
export type FoundRows =
  /** Those of the table, or those of them that are related to a row. */
  | { readonly kind: 'table'; readonly relatedTo: { readonly relation: Relation; readonly near: Scope } | null }
  /** Those of a lineage, which the common table expressions of `lineageQueries` have found. */
  | { readonly kind: 'lineage'; readonly lineage: Lineage; readonly shard: Shard | undefined }
  /** Those that a function returns. It may return a row several times. */
  | { readonly kind: 'call'; readonly call: Sql }
  /** Those that a function has returned, in the common table expression `called`. */
  | { readonly kind: 'called' };
/** Those of them that have a score, in a subselect of their primary keys, which are called as `fusedKey` says, with the `score`. */
interface FusedRows {
  readonly kind: 'fused';
  readonly found: FoundRows;
  readonly scored: Sql;
}

export function fusedKey(index: number): string {
  return `key ${index + 1}`;
}

export interface MatchingRows {
  readonly scope: Scope;
  readonly from: Sql;
  readonly where: readonly Sql[];
}

/** Whether the rows are those of the table that match the filter, whatever the enclosing row. */
export function isWholeTable({ rows }: Collection): boolean {
  return rows.kind === 'table' && rows.relatedTo === null;
}

export function keepsNotNull({ plan, rows }: Collection): boolean {
  const found = rows.kind === 'fused' ? rows.found : rows;
  return (found.kind === 'table' || found.kind === 'lineage') && plan.table.keepsNotNull;
}

export function matchingRows(collection: Collection, alias = collection.context.aliases.next()): MatchingRows {
  const { distinct } = collection.plan;
  return distinct ? distinctRows(collection, distinct, alias) : allMatchingRows(collection, alias);
}

/**
 * One row for each combination of values, from a subselect:
 *
 *     (select distinct on (t2."kind") t2."id", … from "public"."post" as t2 where … order by t2."kind", t2."views" desc, t2."id") as t1
 *
 * PostgreSQL moves conditions on these columns into it, such as those of a cursor, and leaves out what nothing reads.
 */
function distinctRows(collection: Collection, { keys, order }: DistinctPlan, alias: string): MatchingRows {
  const { context } = collection;
  const { scope: inner, from, where } = allMatchingRows(collection, context.aliases.next());
  const written = joinKeys(order, inner, false, context.aliases);
  const scope = derivedScope(collection, alias);
  const rows = subselect({
    distinctOn: written.keys.slice(0, keys.length).map((key) => key.sql),
    columns: scope.outputs(inner, context.valueJson),
    from,
    joins: written.joins,
    where,
    orderBy: orderBy(written.keys),
  });
  return { scope, from: as(rows, alias), where: [] };
}

/** The scope of a subselect that returns all that is read of the rows, and that orders them. PostgreSQL leaves out what is not. */
function derivedScope(collection: Collection, alias: string): DerivedScope {
  const { table, page } = collection.plan;
  const names = [...readableColumns(table), ...table.primaryKey.map(({ name }) => name)];
  const { columns, row } = allNeeds([pageNeeds(collection).rows, ...page.keys.map(({ value }) => needsOfOrder(value))]);
  return new DerivedScope(alias, table, { ...needsOfColumns([...names, ...columns]), row }, keepsNotNull(collection));
}

function allMatchingRows(collection: Collection, alias: string): MatchingRows {
  const { plan, rows, context } = collection;
  if (rows.kind === 'fused') return fusedRows(collection, rows, alias);
  const { filter } = plan;
  const scope = scopeOf(collection, rows, alias);
  const filtered = filter ? [compileFilter(filter, scope, context.aliases)] : [];
  const related = rows.kind === 'table' && rows.relatedTo ? joinConditions(rows.relatedTo.relation, rows.relatedTo.near, scope) : [];
  return { scope, from: as(fromOf(rows, plan), alias), where: [...related, ...filtered] };
}

function scopeOf(collection: Collection, rows: FoundRows, alias: string): Scope {
  const { table, filter } = collection.plan;
  if (rows.kind === 'lineage') return lineageScope(rows.lineage, alias, rows.shard);
  if (rows.kind !== 'table') {
    // A common table expression has rows of no type.
    const row = rows.kind === 'called' ? sql`${trusted(alias)}.*::${identifier(table.schema, table.name)}` : undefined;
    return directScope(alias, { keepsNotNull: keepsNotNull(collection), row });
  }
  const { relatedTo } = rows;
  const shard = (relatedTo && shardAlong(relatedTo.relation, relatedTo.near.shard)) ?? shardOfFilter(table, filter);
  return tableScope(alias, table, keepsNotNull(collection), shard);
}

/**
 * The rows with a score, from a subselect:
 *
 *     (select t2."id", …, t3."score" as "(score)" from (…) as t3("key 1", "score") join "public"."post" as t2 on t2."id" = t3."key 1") as t1
 */
function fusedRows(collection: Collection, { found, scored }: FusedRows, alias: string): MatchingRows {
  const { plan, context } = collection;
  const { table } = plan;
  const inner = scopeOf(collection, found, context.aliases.next());
  const scores = directScope(context.aliases.next(), { keepsNotNull: false });
  const scope = derivedScope(collection, alias);
  const equalities = table.primaryKey.map(
    ({ name, type }, index) => sql`${comparable(inner.column(name), type)} = ${comparable(scores.column(fusedKey(index)), type)}`,
  );
  const rows = subselect({
    columns: [...scope.outputs(inner, context.valueJson), named(scores.column('score'), scoreName(table))],
    from: as(scored, scores.alias, [...table.primaryKey.map((_, index) => fusedKey(index)), 'score']),
    joins: [sql`join ${as(fromOf(found, plan), inner.alias)} on ${and(equalities)}`],
  });
  return { scope, from: as(rows, alias), where: [] };
}

function fromOf(rows: FoundRows, { table }: ConnectionPlan): Sql {
  switch (rows.kind) {
    case 'table':
      return tableName(table);
    case 'call':
      return rows.call;
    case 'called':
      return trusted('called');
    case 'lineage':
      return trusted(lineageName);
  }
}

/** What a connection needs of the rows of a lineage. Aggregates may need any column. */
export function needsOfLineage(collection: Collection): RowNeeds {
  const { table, filter, page, distinct, fusion, members } = collection.plan;
  const aggregates = members.some(({ value }) => value.kind === 'aggregate' || value.kind === 'groups');
  const ofPage = pageNeeds(collection).rows;
  return allNeeds([
    ofPage,
    ...ofPage.related.map((value) => needsOfValue(value, table)),
    filter ? needsOfFilter(filter) : noNeeds,
    ...(distinct?.order ?? page.keys).map(({ value }) => needsOfOrder(value)),
    needsOfColumns([...table.primaryKey.map(({ name }) => name), ...(aggregates || distinct || fusion ? readableColumns(table) : [])]),
  ]);
}

/** What the members of a connection ask of its page. Found from the plan, before any SQL is written. */
export interface PageNeeds {
  /** Whether anything aggregates the rows of the page. Otherwise the select must not read them: it would return one row for each. */
  readonly isRead: boolean;
  /** Whether the page has at most one row, the edge of which is read by itself. */
  readonly isOneRow: boolean;
  /** What the JSON needs of the rows, except for order keys. */
  readonly rows: RowNeeds;
  /** Whether the values of order keys are shown, in cursors, as distances or scores. */
  readonly keys: boolean;
  /** Whether one row beyond the page is read, to find out whether there is one. */
  readonly oneMore: boolean;
  readonly numbers: boolean;
}

export function pageNeeds(collection: Collection): PageNeeds {
  const { members, page, fusion } = collection.plan;
  const isForward = page.direction === 'forward';
  const edges = members.flatMap(({ value }) => (value.kind === 'edges' ? [value.members.map((edge) => edge.value)] : []));
  const nodes = edges.flat().flatMap(needsOfEdge);
  const distances = edges.flat().flatMap((value) => (value.kind === 'distance' && value.distance ? [value.distance.column.name] : []));
  const info = new Set(members.flatMap(({ value }) => (value.kind === 'page info' ? value.members.map((each) => each.value.kind) : [])));
  const ends = info.has('start cursor') || info.has('end cursor');
  const oneMore = info.has(isForward ? 'has next page' : 'has previous page');
  const preceding = info.has(isForward ? 'has previous page' : 'has next page') && mayHavePreceding(collection.plan);
  const isOneRow = hasOneRow(collection);
  const present = nullableKey(collection);
  return {
    isRead: (edges.length > 0 && !isOneRow) || ends || oneMore || preceding,
    isOneRow,
    rows: allNeeds([...nodes, needsOfColumns([...(present && edges.length > 0 ? [present.name] : []), ...(fusion ? distances : [])])]),
    keys: ends || edges.flat().some(({ kind }) => kind === 'cursor' || kind === 'distance' || kind === 'score'),
    oneMore,
    numbers: oneMore || (!isForward && (edges.length > 0 || ends)),
  };
}

function needsOfEdge(value: EdgeValue): RowNeeds[] {
  if (value.kind === 'depth') return value.lineage ? [needsOfColumns([value.lineage.depthName])] : [];
  return value.kind === 'node' ? [rowNeeds(value.row)] : [];
}

function mayHavePreceding({ page: { offset, cursor } }: ConnectionPlan): boolean {
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

/**
 * The first key column, if it may be null, although no row of the table has null in it. Rows where it is are not edges, as in pg_graphql:
 * views with a declared key, and functions, may return some.
 */
export function nullableKey(collection: Collection): Column | null {
  if (collection.plan.table.keyTakesNulls) return null;
  const [first] = collection.plan.table.primaryKey;
  return first && !(first.notNull && keepsNotNull(collection)) ? first : null;
}
