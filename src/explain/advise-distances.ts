/** Advises the HNSW indexes of pgvector, or GiST indexes, that an operation lacks, where the distances of all rows are computed. */

import { distanceIndex } from '../doctor/search-index.ts';
import { forms } from '../model/types/metrics.ts';
import type { Distance } from '../plan/conditions.ts';
import type { Plan } from '../plan/plan.ts';
import { walkPlan } from '../plan/walk.ts';
import type { FindTable, TableName } from './advised-table.ts';
import type { Advice } from './explanation.ts';

/** Fewer distances are computed so fast that an index, which misses some rows, would not help. */
const minRows = 10_000;

interface Measured extends TableName {
  readonly distance: Distance;
}

/** The distances by which an operation orders the rows of tables. */
export function findDistances(plan: Plan): Measured[] {
  const found: Measured[] = [];
  walkPlan(plan, null, (node) => {
    if (node.kind === 'order value' && node.value.kind === 'distance')
      found.push({ schema: node.table.schema, name: node.table.name, distance: node.value.distance });
    return null;
  });
  return found;
}

export function adviseForDistances(measured: readonly Measured[], findTable: FindTable): Advice[] {
  return measured.flatMap(({ schema, name, distance: { column, measured: of, metric } }): Advice[] => {
    const table = findTable({ schema, name });
    const sql = table?.columns.find((each) => each.name === column.name)?.sql;
    if (!table || sql === undefined || table.rows < minRows || !of.isIndexable || of.indexed.has(metric)) return [];
    const rows = Math.round(table.rows).toLocaleString('en-US');
    const { isApproximate } = forms[of.form];
    const directly = isApproximate ? 'almost all of these directly' : 'these directly';
    const message = `the distances of about ${rows} rows by ${metric} are computed to find the nearest; an index would find ${directly}`;
    const index = distanceIndex(sql, of, metric);
    const create = `create index ${table.isPartitioned ? '' : 'concurrently '}on ${table.sql} using ${index};`;
    return [{ code: 'missing-index', table: table.name, message, sql: create }];
  });
}
