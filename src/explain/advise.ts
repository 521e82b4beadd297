/**
 * Advises indexes that would save PostgreSQL a full scan or a sort, from the scans in the statements' plans and the relations that the
 * operation follows, and better policies. Never advises an index that already exists, whether PostgreSQL uses it or not.
 */
import type { Database } from '../database/database.ts';
import { wrapCalls } from '../doctor/policy-calls.ts';
import type { Lineage, Relation, Table } from '../model/model.ts';
import type { RelatedRows } from '../model/relations/related-rows.ts';
import type { Plan } from '../plan/plan.ts';
import { traitsOfFilter } from '../plan/traits/filter-traits.ts';
import { traitsOfOrder } from '../plan/traits/order-traits.ts';
import { walkPlan } from '../plan/walk.ts';
import { adviseForPattern, adviseForServed, findServed, type Served } from './advise-other-indexes.ts';
import {
  type AdvisedIndex,
  type AdvisedPolicy,
  type AdvisedTable,
  createIndex,
  type FindTable,
  loadAdvisedTables,
  type TableName,
  written,
} from './advised-table.ts';
import { findScans, type Scan } from './database-plan.ts';
import type { Advice, DatabasePlan, DatabasePlanNode } from './explanation.ts';
import { type Comparison, plainExpression, readComparisons, readSortKey, type SortKey } from './read-condition.ts';

/** Fewer rows, over all loops, are read and sorted so fast that an index would not help. */
const minRows = 1000;
/** A filter that a larger share of rows passes is not worth an index. */
const selectiveShare = 0.2;
/** An index of trigrams finds rows in no order, and each is read from another page and checked: so many are read meanwhile without it. */
const readsOfTrigrams = 20;
/** An index on more columns would serve few other operations. */
const maxEqualities = 3;
/** Longer expressions would hide what a message says; the SQL has them. */
const maxNameLength = 60;

/** The columns by which a relation finds rows of a table. */
interface FollowedRelation extends TableName {
  readonly columns: readonly string[];
  readonly field: string;
}

/** Advice for an operation, from the plans of its statements and its own. */
export async function advise(
  database: Database,
  plans: readonly DatabasePlan[],
  plan: Plan | null,
  kind: Plan['kind'],
  role: string,
): Promise<Advice[]> {
  const relations = plan === null ? [] : findRelations(plan);
  const served = plan === null ? [] : findServed(plan);
  const names = plans.flatMap(({ root }) => tablesOf(root));
  const findTable = await loadAdvisedTables(database, [...names, ...relations, ...served.map(({ table }) => table)], role);
  const tables = names.flatMap((name) => findTable(name) ?? []);
  const advice = [
    ...adviseForScans(plans.flatMap(findScans), relations, served, findTable),
    ...adviseForRelations(relations, findTable),
    ...served.flatMap((each) => adviseForServed(each, findTable)),
    ...tables.flatMap((table) => adviseForPolicies(table, kind)),
  ];
  // Partitions, and relations that are followed twice, would repeat the same SQL. Keeps the first.
  return [...new Map(advice.toReversed().map((each) => [each.sql, each])).values()].toReversed();
}

function tablesOf({ table, children }: DatabasePlanNode): TableName[] {
  return [...(table === null ? [] : [table]), ...children.flatMap(tablesOf)];
}

/** The relations that an operation follows, each time it does. */
function findRelations(plan: Plan): FollowedRelation[] {
  const found: FollowedRelation[] = [];
  const follow = ({ typeName }: Table, { target, columns, fieldName }: Relation): void => {
    const { schema, name } = target;
    found.push({ schema, name, columns: columns.map((pair) => pair.target), field: `${typeName}.${fieldName}` });
  };
  const followLineage = ({ direction, parent, fieldName }: Lineage): void => {
    const { schema, name, typeName } = parent.target;
    const columns = parent.columns.map(({ near, target }) => (direction === 'ancestors' ? target : near));
    found.push({ schema, name, columns, field: `${typeName}.${fieldName}` });
  };
  const followTo = (near: Table, rows: RelatedRows | undefined): void => {
    if (rows?.by.kind === 'relation') follow(near, rows.by.relation);
    else if (rows?.by.kind === 'lineage') followLineage(rows.by.lineage);
  };
  walkPlan(plan, null, (node) => {
    const { kind, value } = node;
    if (kind === 'row value' && (value.kind === 'to-one' || value.kind === 'to-many')) follow(node.table, value.relation);
    else if (kind === 'row value' && value.kind === 'lineage') followLineage(value.lineage);
    else if (kind === 'filter') followTo(node.table, traitsOfFilter(value).rows);
    else if (kind === 'order value') followTo(node.table, traitsOfOrder(value).rows);
    else if (kind === 'connection value' && value.kind === 'groups') {
      for (const { path } of value.groups.by)
        for (const [index, relation] of path.entries()) follow(path[index - 1]?.target ?? node.table, relation);
    }
    return null;
  });
  return found;
}

function adviseForScans(
  scans: readonly Scan[],
  relations: readonly FollowedRelation[],
  served: readonly Served[],
  findTable: FindTable,
): Advice[] {
  return scans.flatMap((scan) => {
    const table = findTable(scan.table);
    const followed = relations.filter((relation) => findTable(relation) === table);
    const ofTable = served.filter((each) => findTable(each.table) === table);
    return table === undefined ? [] : (adviseForScan(scan, table, followed, ofTable) ?? []);
  });
}

function adviseForScan(scan: Scan, table: AdvisedTable, followed: readonly FollowedRelation[], served: readonly Served[]): Advice | null {
  const comparisons = usableComparisons(scan, table);
  const equalities = comparisons.filter(({ kind }) => kind === 'equality');
  const sort = isSortSlow(scan) ? usableSort(scan, table, equalities) : [];
  if (sort.length > 0 && comparisons.every(({ kind }) => kind !== 'membership')) {
    if (table.indexes.some((index) => serves(index, equalities, sort))) return null;
    const columns = sort.map(keySql).join(', ');
    const message = `about ${written(scan.rows * scan.loops)} rows are sorted by ${columns} to return ${written(scan.kept * scan.loops)}; an index would return them in this order`;
    return {
      code: 'sort-without-index',
      table: table.name,
      message,
      sql: createIndex(table, `(${[...equalities.map(columnOf), ...sort.map(keySql)].join(', ')})`),
    };
  }
  return scan.isBlind ? adviseForFilter(scan, table, comparisons, followed, served) : null;
}

function adviseForFilter(
  scan: Scan,
  table: AdvisedTable,
  comparisons: readonly Comparison[],
  followed: readonly FollowedRelation[],
  served: readonly Served[],
): Advice | null {
  const total = scan.removed === null ? Math.max(table.rows, scan.rows) : scan.rows + scan.removed;
  const visited = total * scan.share;
  if (visited * scan.loops < minRows || scan.rows > total * selectiveShare) return null;
  const repeated = scan.loops > 1 ? `, ${written(scan.loops)} times` : '';
  const found = `about ${written(visited)} rows are read${repeated} to find ${written(Math.min(scan.rows, scan.kept))}`;
  if (comparisons.length > 0) return adviseForColumns(scan, table, comparisons, followed, found);
  return scan.rows * readsOfTrigrams <= visited ? adviseForPattern(scan.filters, scan.table.alias, found, served, table) : null;
}

function adviseForColumns(
  scan: Scan,
  table: AdvisedTable,
  comparisons: readonly Comparison[],
  followed: readonly FollowedRelation[],
  found: string,
): Advice | null {
  const equal = comparisons.filter((comparison) => !isRange(comparison)).slice(0, maxEqualities);
  const range = comparisons.find((comparison) => isRange(comparison) && !equal.some(({ column }) => column === comparison.column));
  const columns = [...equal, ...(range === undefined ? [] : [range])];
  // An index on some of these columns exists, and PostgreSQL would use it if it were selective enough.
  if (table.indexes.some((index) => serves(index, equal, []) && equal.length > 0)) return null;
  if (table.indexes.some((index) => serves(index, equal, range === undefined ? [] : [range]))) return null;
  const names = columns.map(({ column }) => (column.length > maxNameLength ? 'an expression' : column)).join(', ');
  const message = `${found} by ${names}; an index would find them directly`;
  return {
    code: 'missing-index',
    table: table.name,
    message,
    sql: createIndex(table, `(${[...columns.map(comparedSql), ...orderAfter(scan, table, columns, followed)].join(', ')})`),
  };
}

/**
 * The keys of the index in whose order the rows are read now. After columns that equal a single value, they save a sort that might cost
 * more than the new index gains. The columns of a relation need no further keys, because few rows are related.
 */
function orderAfter(
  { orderedBy }: Scan,
  table: AdvisedTable,
  columns: readonly Comparison[],
  followed: readonly FollowedRelation[],
): string[] {
  const keys = table.indexes.find(({ name }) => name === orderedBy)?.keys ?? [];
  const has = (sql: string | null): boolean => columns.some(({ column }) => column === sql);
  const names = new Set(table.columns.filter(({ sql }) => has(sql)).map(({ name }) => name));
  const isRelation = followed.some((relation) => relation.columns.every((name) => names.has(name)));
  if (isRelation || columns.some(({ kind }) => kind !== 'equality') || keys.some(({ column }) => column === null)) return [];
  return keys.flatMap(({ column, ...key }) => (column === null || has(column) ? [] : [keySql({ column, ...key })]));
}

/** Advice for relations without an index: however small the table is now, following the relation reads all of it. */
function adviseForRelations(relations: readonly FollowedRelation[], findTable: FindTable): Advice[] {
  return relations.flatMap((relation) => {
    const table = findTable(relation);
    const columns = relation.columns.flatMap((name) => table?.columns.find((column) => column.name === name) ?? []);
    if (table === undefined || columns.length < relation.columns.length) return [];
    const keys = columns.map(({ sql }): Comparison => ({ column: sql, kind: 'equality', asText: false }));
    if (table.indexes.some((index) => serves(index, keys, []))) return [];
    const names = columns.map(({ name }) => name).join(', ');
    const message = `no index begins with ${names}, so following ${relation.field} reads the whole table for each row`;
    return { code: 'unindexed-relation', table: table.name, message, sql: createIndex(table, `(${keys.map(columnOf).join(', ')})`) };
  });
}

function usableComparisons({ filters, table }: Scan, { columns }: AdvisedTable): Comparison[] {
  const found = filters.flatMap((filter) => readComparisons(filter, table.alias));
  const usable = found.filter(({ column, asText, isExpression }) => {
    if (isExpression) return true;
    const match = columns.find(({ sql }) => sql === column);
    return match !== undefined && (!asText || match.isVarchar);
  });
  return usable.filter(({ column }, index) => usable.findIndex((other) => other.column === column) === index);
}

function isSortSlow({ sortKeys, rows, loops, kept }: Scan): boolean {
  return sortKeys.length > 0 && rows * loops >= minRows && kept * 2 <= rows;
}

/** The sort keys, if all are columns of the table, otherwise none. Leaves out columns that equal a single value. */
function usableSort({ sortKeys, table }: Scan, { columns }: AdvisedTable, equalities: readonly Comparison[]): SortKey[] {
  const keys = sortKeys.flatMap((text) => readSortKey(text, table.alias) ?? []);
  if (keys.length < sortKeys.length || keys.some((key) => !key.isExpression && !columns.some(({ sql }) => sql === key.column))) return [];
  return keys.filter(({ column }) => !equalities.some((equality) => equality.column === column));
}

/** Whether an index starts with the columns, in any order, followed by the sort keys (forward or backward) or the column of a range. */
function serves({ keys }: AdvisedIndex, equal: readonly Comparison[], order: readonly (SortKey | Comparison)[]): boolean {
  const leading = keys.slice(0, equal.length);
  if (!equal.every((compared) => leading.some((key) => isOn(key, compared) && (compared.kind !== 'null' || key.findsNulls)))) return false;
  const rest = keys.slice(equal.length, equal.length + order.length);
  if (rest.length < order.length) return false;
  const matches = (reversed: boolean): boolean =>
    order.every((key, index) => {
      const { descending, nullsFirst, isOrdered, findsPrefixes } = rest[index]!;
      if (!isOn(rest[index]!, key)) return false;
      if ('kind' in key) return key.kind === 'prefix' ? findsPrefixes : isOrdered;
      return isOrdered && (descending !== reversed) === key.descending && (nullsFirst !== reversed) === key.nullsFirst;
    });
  return matches(false) || matches(true);
}

function isOn({ column, expression }: AdvisedIndex['keys'][number], compared: SortKey | Comparison): boolean {
  if (!compared.isExpression) return column === compared.column;
  return expression !== null && plainExpression(expression) === plainExpression(compared.column);
}

function isRange({ kind }: Comparison): boolean {
  return kind === 'range' || kind === 'prefix';
}

function columnOf({ column, isExpression }: Comparison | SortKey): string {
  return isExpression ? `(${column})` : column;
}

/** With most collations, only an index that compares by bytes can find texts by prefix. */
function comparedSql(comparison: Comparison): string {
  return comparison.kind === 'prefix' ? `${columnOf(comparison)} text_pattern_ops` : columnOf(comparison);
}

function keySql(key: SortKey): string {
  const { descending, nullsFirst } = key;
  const nulls = nullsFirst === descending ? '' : nullsFirst ? ' nulls first' : ' nulls last';
  return `${columnOf(key)}${descending ? ' desc' : ''}${nulls}`;
}

/**
 * Advice for policies that call a function for each row although the result is the same for all. PostgreSQL evaluates a subselect that does
 * not depend on the row once per statement.
 */
function adviseForPolicies(table: AdvisedTable, kind: 'query' | 'mutation'): Advice[] {
  const policies = table.policies.filter(({ command }) => kind === 'mutation' || command === 'r' || command === '*');
  return policies.flatMap((policy) => adviseForPolicy(table, policy) ?? []);
}

function adviseForPolicy(table: AdvisedTable, { name, sql, using, check, functions }: AdvisedPolicy): Advice | null {
  const names = functions.map((called) => called.name);
  const better = { using: wrapCalls(using, names), check: wrapCalls(check, names) };
  const clauses = [
    ...(better.using === using ? [] : [`using (${better.using})`]),
    ...(better.check === check ? [] : [`with check (${better.check})`]),
  ];
  if (clauses.length === 0) return null;
  const doubt = functions.some(({ isVolatile }) => isVolatile) ? ', if its volatile calls give the same result throughout a statement' : '';
  const message = `its policy ${name} calls a function for each row although the result is the same for all; a subselect is evaluated once${doubt}`;
  return { code: 'policy-calls-per-row', table: table.name, message, sql: `alter policy ${sql} on ${table.sql} ${clauses.join(' ')};` };
}

/** An operation from a log or a list of documents. */
export interface AdvisedOperation {
  readonly name: string;
  readonly count: number;
  /** Its total time in milliseconds; null if unknown. */
  readonly milliseconds: number | null;
}

export interface AdviceGroup {
  readonly advice: Advice;
  readonly operations: readonly AdvisedOperation[];
  readonly count: number;
  /** The total time of the operations in milliseconds; null if unknown. */
  readonly milliseconds: number | null;
}

/** Groups the advice for many operations by its SQL, the most helpful first. */
export function groupAdvice(
  advised: readonly { readonly operation: AdvisedOperation; readonly advice: readonly Advice[] }[],
): AdviceGroup[] {
  const pairs = advised.flatMap(({ operation, advice }) => advice.map((each) => ({ operation, advice: each })));
  const groups = [...Map.groupBy(pairs, ({ advice }) => advice.sql).values()].map((group): AdviceGroup => {
    const operations = group.map(({ operation }) => operation);
    const times = operations.flatMap(({ milliseconds }) => milliseconds ?? []);
    return {
      advice: group[0]!.advice,
      operations,
      count: operations.reduce((sum, { count }) => sum + count, 0),
      milliseconds: times.length === 0 ? null : times.reduce((sum, each) => sum + each, 0),
    };
  });
  return groups.sort((one, other) => (other.milliseconds ?? 0) - (one.milliseconds ?? 0) || other.count - one.count);
}
