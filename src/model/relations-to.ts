/** The relations from one table to another, without looking through all relations of a table that thousands of others refer to. */
import type { Relation, Table } from './model.ts';

const known = new WeakMap<Table, ReadonlyMap<Table, readonly Relation[]>>();

/** The relations of a table whose rows are those of `target`. */
export function relationsTo(table: Table, target: Table): readonly Relation[] {
  let byTarget = known.get(table);
  if (!byTarget) {
    byTarget = Map.groupBy(table.relations, (relation) => relation.target);
    known.set(table, byTarget);
  }
  return byTarget.get(target) ?? [];
}
