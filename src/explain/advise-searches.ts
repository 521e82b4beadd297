/** Advises the GIN indexes of words or trigrams that the searches and comparisons of texts of an operation lack. */
import { isServedBy, type SearchKey, searchKey } from '../doctor/search-index.ts';
import type { Table } from '../model/model.ts';
import { operandType } from '../model/types/named-types.ts';
import type { Operator } from '../model/types/operators.ts';
import type { Filter } from '../plan/conditions.ts';
import type { Plan } from '../plan/plan.ts';
import { walkPlan } from '../plan/walk.ts';
import type { AdvisedTable, FindTable } from './advised-table.ts';
import type { Advice } from './explanation.ts';

/** A search, or a comparison that trigrams serve. */
interface FoundSearch {
  readonly table: Table;
  readonly by: Extract<Filter, { kind: 'search' | 'comparison' }>;
}

/** The operators that an index of trigrams serves, with the rows of a table that is worth one. */
const servedByTrigrams: Partial<Record<Operator, number>> = { similarTo: 0, containsText: 1000 };

export function findSearches(plan: Plan): FoundSearch[] {
  const found: FoundSearch[] = [];
  walkPlan(plan, null, (node) => {
    if (node.kind !== 'filter') return null;
    const { table, value } = node;
    if (value.kind === 'search' || (value.kind === 'comparison' && comparesByTrigrams(value))) found.push({ table, by: value });
    return null;
  });
  return found;
}

function comparesByTrigrams({ operator, column }: Extract<Filter, { kind: 'comparison' }>): boolean {
  const type = operandType(column.type);
  return servedByTrigrams[operator] !== undefined && type.kind === 'scalar' && type.trigrams !== undefined;
}

/** Advice for searches without an index. A configuration of the user's own is not named in a plan, so it has no advice. */
export function adviseForSearches(searches: readonly FoundSearch[], findTable: FindTable): Advice[] {
  return searches.flatMap(({ table, by }) => {
    const advised = findTable(table);
    if (advised === undefined) return [];
    const isOfTrigrams = by.kind === 'comparison' || by.search.mode === 'similar';
    return keysOf(by, advised).flatMap((key): Advice[] => {
      if (isServedBy(key, advised.searchKeys)) return [];
      const message = `no index finds ${key.words}, so each search reads the whole table`;
      const concurrently = advised.isPartitioned ? '' : 'concurrently ';
      const sql = `create index ${concurrently}on ${advised.sql} using gin (${key.sql}${isOfTrigrams ? ' gin_trgm_ops' : ''});`;
      return [{ code: 'unindexed-search', table: advised.name, message, sql }];
    });
  });
}

function keysOf(by: FoundSearch['by'], { columns, rows }: AdvisedTable): readonly SearchKey[] {
  const quote = (name: string): string => columns.find((column) => column.name === name)?.sql ?? name;
  const text = ({ name }: { readonly name: string }): SearchKey => ({ sql: quote(name), words: name });
  if (by.kind === 'comparison') return rows >= (servedByTrigrams[by.operator] ?? Infinity) ? [text(by.column)] : [];
  const { by: searched, mode } = by.search;
  if (searched.vector === null && /^\d+$/.test(searched.config ?? '')) return [];
  return mode === 'similar' ? searched.shown.map(text) : [searchKey(searched, { quote, config: () => undefined })];
}
