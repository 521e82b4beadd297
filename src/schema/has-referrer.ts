/** Some types of a table exist only if other tables refer to it. */

import type { Relation, Table } from '../model/model.ts';
import { relationsTo } from '../model/relations-to.ts';
import type { AdditionName } from '../settings/additions.ts';
import type { TypeRegistry } from './type-registry.ts';

/** Whether a table with this addition has a relation or computed field that leads to one row of `table` (or to many). */
export function hasReferrer(table: Table, registry: TypeRegistry, addition: AdditionName, kind: Relation['kind']): boolean {
  const result = kind === 'to-one' ? 'row' : 'rows';
  return table.referrers.some(
    (referrer) =>
      referrer.additions.has(addition) &&
      registry.hasOf(referrer, 'Filter') &&
      (relationsTo(referrer, table).some((relation) => relation.kind === kind && !relation.onlyInRows) ||
        referrer.computed.some((routine) => routine.result.kind === result && routine.result.table === table)),
  );
}
