/**
 * Advises the indexes other than B-trees that an operation lacks: GIN for words and trigrams of texts, arrays and JSON, GiST for ranges,
 * networks, paths of ltree and places, those of pgvector for distances.
 */
import { distanceIndex, isServedBy, type SearchKey, searchKey } from '../doctor/search-index.ts';
import type { Column, Table } from '../model/model.ts';
import { forms } from '../model/types/metrics.ts';
import { operandScalar, operandType, traitsOf } from '../model/types/named-types.ts';
import type { JsonOperator, Operator } from '../model/types/operators.ts';
import { typeFilters } from '../model/types/type-filters.ts';
import type { Distance, Filter } from '../plan/conditions.ts';
import type { Plan } from '../plan/plan.ts';
import { walkPlan } from '../plan/walk.ts';
import { type AdvisedTable, createIndex, type FindTable, written } from './advised-table.ts';
import type { Advice } from './explanation.ts';
import { readPatterns } from './read-condition.ts';

/** Fewer distances are computed so fast that an index, which misses some rows, would not help. */
const minDistances = 10_000;
/** Fewer rows are read so fast that an index would not help. */
const minRows = 1000;
/** The operators that an index of trigrams serves, with the rows of a table that is worth one. */
const servedByTrigrams: Partial<Record<Operator, number>> = { similarTo: 0, containsText: 1000 };
/** Those that it serves if the pattern has a word of three characters, and that are found in the plan. */
const ofPatterns: readonly Operator[] = ['like', 'ilike', 'endsWith'];
/** What GIN serves (manual: GIN Indexes, Built-in Operator Classes). */
const ofArrays: readonly Operator[] = ['contains', 'containedBy', 'overlaps'];
const ofJson: readonly JsonOperator[] = ['contains', 'hasAllKeys', 'hasAnyKey', 'hasKey', 'matches'];

/** A search, or a comparison that trigrams serve. */
type Search = Extract<Filter, { kind: 'search' | 'comparison' }>;

/** An index that serves a filter. */
interface ServingIndex {
  readonly column: string;
  readonly method: 'gist' | 'gin';
  /** The operator class that the index has to name; null for the default of the type. */
  readonly operatorClass: string | null;
  /** The type that filters cast the column to. */
  readonly castTo: string | null;
}

/** What one of these indexes would serve. */
export type Served = { readonly table: Table } & (
  | { readonly kind: 'distance'; readonly distance: Distance }
  | { readonly kind: 'search'; readonly by: Search }
  | { readonly kind: 'test'; readonly by: ServingIndex }
  | { readonly kind: 'pattern'; readonly column: string }
);

/** The distances by which an operation orders the rows of tables, and the filters that such indexes serve. */
export function findServed(plan: Plan): Served[] {
  const found: Served[] = [];
  walkPlan(plan, null, (node) => {
    if (node.kind === 'order value' && node.value.kind === 'distance')
      found.push({ kind: 'distance', table: node.table, distance: node.value.distance });
    if (node.kind !== 'filter') return null;
    const { table, value } = node;
    const index = servingIndex(value);
    if (value.kind === 'search' || (value.kind === 'comparison' && comparesByTrigrams(value)))
      found.push({ kind: 'search', table, by: value });
    if (index !== null) found.push({ kind: 'test', table, by: index });
    if (value.kind === 'comparison' && ofPatterns.includes(value.operator) && hasTrigrams(value.column))
      found.push({ kind: 'pattern', table, column: value.column.name });
    return null;
  });
  return found;
}

function comparesByTrigrams({ operator, column }: Extract<Filter, { kind: 'comparison' }>): boolean {
  return servedByTrigrams[operator] !== undefined && hasTrigrams(column);
}

function hasTrigrams(column: Column): boolean {
  const type = operandType(column.type);
  return type.kind === 'scalar' && type.trigrams !== undefined;
}

function servingIndex(filter: Filter): ServingIndex | null {
  switch (filter.kind) {
    case 'range test':
    case 'near':
      return indexOn(filter.column, 'gist');
    case 'json test': {
      const { type } = filter.column;
      const castTo = type.kind === 'scalar' && operandScalar(type).typeName === 'json' ? 'jsonb' : null;
      return filter.vars === null && ofJson.includes(filter.operator) ? { ...indexOn(filter.column, 'gin'), castTo } : null;
    }
    case 'comparison': {
      const { column, operator } = filter;
      if (column.type.kind === 'list') return ofArrays.includes(operator) ? indexOn(column, 'gin') : null;
      const { filter: name } = traitsOf(column.type);
      const gist = name === null ? null : typeFilters[name].gist;
      return gist?.operators.includes(operator) ? { ...indexOn(column, 'gist'), operatorClass: gist.operatorClass } : null;
    }
    default:
      return null;
  }
}

function indexOn({ name }: Column, method: ServingIndex['method']): ServingIndex {
  return { column: name, method, operatorClass: null, castTo: null };
}

export function adviseForServed(served: Served, findTable: FindTable): Advice[] {
  const table = findTable(served.table);
  if (table === undefined) return [];
  if (served.kind === 'pattern') return [];
  if (served.kind === 'search') return adviseForSearch(served.by, table);
  return served.kind === 'distance' ? adviseForDistance(served.distance, table) : adviseForTest(served.by, table);
}

function adviseForDistance({ column, measured: of, metric }: Distance, table: AdvisedTable): Advice[] {
  const sql = sqlOf(column.name, table);
  if (sql === undefined || table.rows < minDistances || !of.isIndexable || of.indexed.has(metric)) return [];
  const directly = forms[of.form].isApproximate ? 'almost all of these directly' : 'these directly';
  const message = `the distances of about ${written(table.rows)} rows by ${metric} are computed to find the nearest; an index would find ${directly}`;
  return [{ code: 'missing-index', table: table.name, message, sql: createIndex(table, `using ${distanceIndex(sql, of, metric)}`) }];
}

function adviseForTest({ column, method, operatorClass, castTo }: ServingIndex, table: AdvisedTable): Advice[] {
  const sql = sqlOf(column, table);
  if (sql === undefined || table.rows < minRows || isServedBy({ sql, words: column }, table.searchKeys)) return [];
  const key = castTo === null ? sql : `(${sql}::${castTo})`;
  const message = `about ${written(table.rows)} rows are read to find some by ${column}; an index would find them directly`;
  const create = createIndex(table, `using ${method} (${operatorClass === null ? key : `${key} ${operatorClass}`})`);
  return [{ code: 'missing-index', table: table.name, message, sql: create }];
}

/** `found`: how the message counts the rows. */
export function adviseForPattern(
  filters: readonly string[],
  alias: string,
  found: string,
  served: readonly Served[],
  table: AdvisedTable,
): Advice | null {
  const names = new Set(served.flatMap((each) => (each.kind === 'pattern' ? [each.column] : [])));
  const [column] = filters
    .flatMap((filter) => readPatterns(filter, alias))
    .flatMap(
      (pattern) =>
        table.columns.find(({ name, sql, isVarchar }) => sql === pattern.column && names.has(name) && (!pattern.asText || isVarchar)) ?? [],
    );
  if (column === undefined || isServedBy({ sql: column.sql, words: column.name }, table.searchKeys)) return null;
  const message = `${found} by a pattern of ${column.name}; an index of trigrams would find them directly`;
  return { code: 'missing-index', table: table.name, message, sql: createIndex(table, `using gin (${column.sql} gin_trgm_ops)`) };
}

function adviseForSearch(by: Search, table: AdvisedTable): Advice[] {
  const operatorClass = by.kind === 'comparison' || by.search.mode === 'similar' ? ' gin_trgm_ops' : '';
  return keysOf(by, table).flatMap((key): Advice[] => {
    if (isServedBy(key, table.searchKeys)) return [];
    const message = `no index finds ${key.words}, so each search reads the whole table`;
    return [{ code: 'unindexed-search', table: table.name, message, sql: createIndex(table, `using gin (${key.sql}${operatorClass})`) }];
  });
}

/** A configuration of the user's own is not named in a plan, so a search by it has no advice. */
function keysOf(by: Search, table: AdvisedTable): readonly SearchKey[] {
  const quote = (name: string): string => sqlOf(name, table) ?? name;
  const text = ({ name }: { readonly name: string }): SearchKey => ({ sql: quote(name), words: name });
  if (by.kind === 'comparison') return table.rows >= (servedByTrigrams[by.operator] ?? Infinity) ? [text(by.column)] : [];
  const { by: searched, mode } = by.search;
  if (searched.vector === null && /^\d+$/.test(searched.config ?? '')) return [];
  return mode === 'similar' ? searched.shown.map(text) : [searchKey(searched, { quote, config: () => undefined })];
}

function sqlOf(column: string, { columns }: AdvisedTable): string | undefined {
  return columns.find(({ name }) => name === column)?.sql;
}
