/** Advises the GiST indexes that filters of ranges, networks, paths of ltree and places lack. */
import type { Column } from '../model/model.ts';
import { traitsOf } from '../model/types/named-types.ts';
import { typeFilters } from '../model/types/type-filters.ts';
import type { Filter } from '../plan/conditions.ts';
import type { Plan } from '../plan/plan.ts';
import { walkPlan } from '../plan/walk.ts';
import type { FindTable, TableName } from './advised-table.ts';
import type { Advice } from './explanation.ts';

/** Fewer rows are read so fast that an index would not help. */
const minRows = 1000;

interface FoundTest extends TableName {
  readonly column: string;
  /** The operator class that the index has to name; null for the default of the type. */
  readonly operatorClass: string | null;
}

/** The columns that an operation filters by operators which GiST serves. */
export function findGistTests(plan: Plan): FoundTest[] {
  const found: FoundTest[] = [];
  walkPlan(plan, null, (node) => {
    const served = node.kind === 'filter' ? servedColumn(node.value) : undefined;
    if (node.kind === 'filter' && served)
      found.push({ schema: node.table.schema, name: node.table.name, column: served.column.name, operatorClass: served.operatorClass });
    return null;
  });
  return found;
}

function servedColumn(filter: Filter): { readonly column: Column; readonly operatorClass: string | null } | undefined {
  if (filter.kind === 'range test' || filter.kind === 'near') return { column: filter.column, operatorClass: null };
  if (filter.kind !== 'comparison') return undefined;
  const { filter: name } = traitsOf(filter.column.type);
  const gist = name === null ? null : typeFilters[name].gist;
  return gist?.operators.includes(filter.operator) ? { column: filter.column, operatorClass: gist.operatorClass } : undefined;
}

export function adviseForGist(tests: readonly FoundTest[], findTable: FindTable): Advice[] {
  return tests.flatMap(({ schema, name, column, operatorClass }): Advice[] => {
    const table = findTable({ schema, name });
    const sql = table?.columns.find((each) => each.name === column)?.sql;
    if (!table || sql === undefined || table.rows < minRows) return [];
    if (table.searchKeys.includes(sql)) return [];
    const key = operatorClass === null ? sql : `${sql} ${operatorClass}`;
    const rows = Math.round(table.rows).toLocaleString('en-US');
    const message = `about ${rows} rows are read to find some by ${column}; an index would find them directly`;
    const create = `create index ${table.isPartitioned ? '' : 'concurrently '}on ${table.sql} using gist (${key});`;
    return [{ code: 'missing-index', table: table.name, message, sql: create }];
  });
}
