/** Advises the GIN indexes of words or trigrams that the full-text searches of an operation lack. */
import { isServedBy, searchKey } from '../doctor/search-index.ts';
import type { Table } from '../model/model.ts';
import type { Plan, Search } from '../plan/plan.ts';
import { walkPlan } from '../plan/walk.ts';
import type { FindTable } from './advised-table.ts';
import type { Advice } from './explanation.ts';

export interface FoundSearch {
  readonly table: Table;
  readonly search: Search;
}

export function findSearches(plan: Plan): FoundSearch[] {
  const found: FoundSearch[] = [];
  walkPlan(plan, null, (node) => {
    if (node.kind === 'filter' && node.value.kind === 'search') found.push({ table: node.table, search: node.value.search });
    return null;
  });
  return found;
}

/** Advice for searches without an index. A configuration of the user's own is not named in a plan, so it has no advice. */
export function adviseForSearches(searches: readonly FoundSearch[], findTable: FindTable): Advice[] {
  return searches.flatMap(({ table, search: { by, mode } }) => {
    const advised = findTable(table);
    if (advised === undefined || (by.vector === null && /^\d+$/.test(by.config ?? ''))) return [];
    const quote = (name: string): string => advised.columns.find((column) => column.name === name)?.sql ?? name;
    const texts = by.shown.map(({ name }) => ({ sql: quote(name), words: name }));
    const keys = mode === 'similar' ? texts : [searchKey(by, { quote, config: () => undefined })];
    return keys.flatMap((key): Advice[] => {
      if (isServedBy(key, advised.searchKeys)) return [];
      const message = `no index finds ${key.words}, so each search reads the whole table`;
      const concurrently = advised.isPartitioned ? '' : 'concurrently ';
      const sql = `create index ${concurrently}on ${advised.sql} using gin (${key.sql}${mode === 'similar' ? ' gin_trgm_ops' : ''});`;
      return [{ code: 'unindexed-search', table: advised.name, message, sql }];
    });
  });
}
