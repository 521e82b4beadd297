/** Tables that others inherit from: queries on them return the rows of the children too, which their primary keys do not cover. */
import { qualifiedName } from '../model/object-names.ts';
import type { Examination } from './examination.ts';
import { type Finding, finding } from './report.ts';

/** One finding for each exposed table with a key and children. The partitions of a table are not children: its key covers them. */
export function findInheritedKeys(examination: Examination): Finding[] {
  const { catalog, model } = examination;
  return catalog.tables.flatMap((source) => {
    const table = source.hasChildren && model.tables.find(({ id }) => id === source.id);
    if (!table || table.primaryKey.length === 0) return [];
    const message =
      'its key does not hold for the tables that inherit from it, so several of its rows may have one nodeId: pages by cursor lose rows, and ' +
      'writes by key change all of them; give the children keys from its sequence and never reuse one, or expose a view of its own rows ' +
      `(select ... from only ${examination.tableSql(source)}) instead`;
    return [finding('key-not-inherited', table.kind, qualifiedName(table.schema, table.name), message)];
  });
}
