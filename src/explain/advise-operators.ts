/** Advises the GiST and GIN indexes that filters of ranges, networks, paths of ltree, places, arrays and JSON lack. */
import { isServedBy } from '../doctor/search-index.ts';
import type { Column } from '../model/model.ts';
import { operandScalar, traitsOf } from '../model/types/named-types.ts';
import type { JsonOperator, Operator } from '../model/types/operators.ts';
import { typeFilters } from '../model/types/type-filters.ts';
import type { Filter } from '../plan/conditions.ts';
import type { Plan } from '../plan/plan.ts';
import { walkPlan } from '../plan/walk.ts';
import type { FindTable, TableName } from './advised-table.ts';
import type { Advice } from './explanation.ts';

/** Fewer rows are read so fast that an index would not help. */
const minRows = 1000;

/** An index that serves a filter. */
interface ServingIndex {
  readonly column: string;
  readonly method: 'gist' | 'gin';
  /** The operator class that the index has to name; null for the default of the type. */
  readonly operatorClass: string | null;
  /** The type that filters cast the column to. */
  readonly castTo: string | null;
}

type FoundTest = ServingIndex & TableName;

/** What GIN serves (manual: GIN Indexes, Built-in Operator Classes). */
const ofArrays: readonly Operator[] = ['contains', 'containedBy', 'overlaps'];
const ofJson: readonly JsonOperator[] = ['contains', 'hasAllKeys', 'hasAnyKey', 'hasKey', 'matches'];

/** The columns that an operation filters by operators which GiST or GIN serves. */
export function findOperatorTests(plan: Plan): FoundTest[] {
  const found: FoundTest[] = [];
  walkPlan(plan, null, (node) => {
    const index = node.kind === 'filter' ? servingIndex(node.value) : null;
    if (node.kind === 'filter' && index !== null) found.push({ schema: node.table.schema, name: node.table.name, ...index });
    return null;
  });
  return found;
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

export function adviseForOperators(tests: readonly FoundTest[], findTable: FindTable): Advice[] {
  return tests.flatMap(({ schema, name, column, method, operatorClass, castTo }): Advice[] => {
    const table = findTable({ schema, name });
    const sql = table?.columns.find((each) => each.name === column)?.sql;
    if (!table || sql === undefined || table.rows < minRows) return [];
    if (isServedBy({ sql, words: column }, table.searchKeys)) return [];
    const key = castTo === null ? sql : `(${sql}::${castTo})`;
    const rows = Math.round(table.rows).toLocaleString('en-US');
    const message = `about ${rows} rows are read to find some by ${column}; an index would find them directly`;
    const keys = operatorClass === null ? key : `${key} ${operatorClass}`;
    const create = `create index ${table.isPartitioned ? '' : 'concurrently '}on ${table.sql} using ${method} (${keys});`;
    return [{ code: 'missing-index', table: table.name, message, sql: create }];
  });
}
