/** Advises HNSW indexes of pgvector, where the distances of all rows are computed. */

import { metrics } from '../model/types/vector-metrics.ts';
import type { Distance, Plan } from '../plan/plan.ts';
import { readsPage, walkPlan } from '../plan/walk.ts';
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
  walkPlan(plan, null, ({ kind, value }) => {
    if (kind !== 'connection' || !readsPage(value)) return null;
    const { table, page } = value;
    const first = page.keys[0]?.value;
    if (first?.kind === 'distance') found.push({ schema: table.schema, name: table.name, distance: first.distance });
    return null;
  });
  return found;
}

export function adviseForDistances(measured: readonly Measured[], findTable: FindTable): Advice[] {
  return measured.flatMap(({ schema, name, distance: { column, vector, metric } }): Advice[] => {
    const table = findTable({ schema, name });
    const sql = table?.columns.find((each) => each.name === column.name)?.sql;
    if (!table || sql === undefined || table.rows < minRows || !vector.isIndexable || vector.indexed.has(metric)) return [];
    const rows = Math.round(table.rows).toLocaleString('en-US');
    const message = `the distances of about ${rows} rows by ${metric} are computed to find the nearest; an index would find almost all of these directly`;
    const keys = `${sql} ${vector.operatorClass}_${metrics[metric].operatorClass}_ops`;
    const create = `create index ${table.isPartitioned ? '' : 'concurrently '}on ${table.sql} using hnsw (${keys});`;
    return [{ code: 'missing-index', table: table.name, message, sql: create }];
  });
}
