/** Foreign keys without an index. */
import type { Examination } from './examination.ts';
import { type Finding, finding } from './report.ts';

/** One finding each, independent of the role. */
export function findSlowKeys(examination: Examination): Finding[] {
  const { catalog, facts } = examination;
  return catalog.foreignKeys.flatMap((key) => {
    const table = facts.unindexedKeys.has(key.id) && catalog.tables.find(({ id }) => id === key.tableId);
    if (!table) return [];
    const columns = key.columns.map((number) => table.columns.find((column) => column.number === number)?.name ?? '');
    const message = `no index begins with ${columns.join(', ')}, so following it from ${key.targetName} reads the whole table; create one`;
    const remedy = `create index on ${examination.tableSql(table)} (${columns.map((column) => examination.quote(column)).join(', ')});`;
    return finding('unindexed-foreign-key', 'relation', `${examination.name(table)}.${key.name}`, message, { remedy });
  });
}
