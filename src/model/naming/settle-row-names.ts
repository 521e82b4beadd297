/**
 * Makes the field names of a row unique. In case of a clash the first in this order keeps the name, as in pg_graphql: the global identifier
 * (`nodeId` or as configured), computed fields, relations, columns. The others are renamed: a column to `<name>Column`, a function to
 * `<name>Function`, a relation to `<name>By<Columns>`, followed by a number if that is taken too. Computed fields and relations that
 * pg_graphql does not have, because their names are adapted or they are inferred, come last, and then lineages.
 */

import type { CatalogFunction } from '../../catalog/catalog.ts';
import type { BuildContext, Mutable, Notes } from '../build-context.ts';
import type { Column } from '../model.ts';
import type { NamedLineage } from '../relations/build-lineages.ts';
import type { NamedRelation } from '../relations/build-relations.ts';
import type { Renaming } from '../report.ts';
import type { Routine } from '../routine.ts';
import type { LazyTable } from '../tables/lazy-table.ts';
import { functionName, inClaimOrder, lowerFirst, numbered, qualifiedName, routineNameOf, whyAdapted } from './names.ts';

interface RowFields {
  readonly columns: readonly Mutable<Column>[];
  readonly relations: readonly NamedRelation[];
  readonly lineages: readonly NamedLineage[];
  readonly computed: readonly Mutable<Routine>[];
}

export function settleRowNames(context: BuildContext, table: LazyTable, fields: RowFields, { renamings }: Notes): void {
  const { nodeIdField } = context.settings;
  const { key } = table.traits;
  // Client caches identify rows by `id`, so no column may have that name, even in rows without a key.
  const claimed = new Set<string>(key === null && nodeIdField === 'nodeId' ? [] : [nodeIdField]);
  const isFree = (name: string) => !claimed.has(name);
  const take = (name: string) => isFree(name) && claimed.add(name);
  const functions = new Map(context.links.of(table.id).functions.map((catalogFunction) => [catalogFunction.id, catalogFunction]));
  const { own, adapted } = byOrigin(context, fields.computed, functions);
  const computed = own.filter(({ fieldName }) => !take(fieldName));
  const constrained = fields.relations.filter(({ yields }) => !yields);
  const last = new Map(constrained.map(({ relation }) => [relation.fieldName, relation]));
  const relations = constrained.filter(({ relation }) => last.get(relation.fieldName) !== relation || !take(relation.fieldName));
  const columns = fields.columns.filter(({ selectable, fieldName }) => selectable && !take(fieldName));
  const lastComputed = adapted.filter(({ fieldName }) => !take(fieldName));
  const rename = (object: Renaming['object'], name: string, fieldName: string, wanted: string): string => {
    const other = numbered(wanted, isFree);
    claimed.add(other);
    renamings.push({ object, id: table.id, name, reason: reasonOf(fieldName, other, qualifiedName(table.schema, table.name)) });
    return other;
  };
  const tableName = qualifiedName(table.schema, table.name);
  const fullName = ({ id }: Routine) => functionName(context.catalog, functions.get(id)!);
  for (const routine of [...computed, ...lastComputed]) {
    routine.fieldName = rename('function', fullName(routine), routine.fieldName, `${routine.fieldName}Function`);
  }
  for (const routine of adapted) {
    const reason = whyAdapted(routine.name, routine.fieldName, 'choose another name with a comment directive');
    renamings.push({ object: 'function', id: table.id, name: fullName(routine), reason });
  }
  for (const { relation, key, qualified } of relations) {
    relation.fieldName = rename('relation', key.name, relation.fieldName, qualified);
  }
  for (const column of columns) {
    column.rowFieldName = rename('column', qualifiedName(tableName, column.name), column.fieldName, `${column.fieldName}Column`);
    if (key !== null && column.fieldName === nodeIdField) column.filterName = column.rowFieldName;
  }
  for (const { relation, qualified } of inOrderOfClaims(fields.relations.filter(({ yields }) => yields))) {
    // If a column leads to several views, only one of them can be named after it.
    const ofTarget = relation.kind === 'to-one' ? lowerFirst(relation.target.stem) : relation.fieldName;
    const free = [relation.fieldName, ofTarget, qualified].find(isFree) ?? numbered(qualified, isFree);
    claimed.add(free);
    relation.fieldName = free;
  }
  for (const { lineage, name, qualified } of fields.lineages.filter(({ lineage: { fieldName } }) => !take(fieldName))) {
    lineage.fieldName = rename('relation', name, lineage.fieldName, qualified);
  }
}

/**
 * Of several keys between the same two tables, the later one keeps the name here, too. For partitions, it is the one by which the field
 * that is named after the whole table leads to it.
 */
function inOrderOfClaims(relations: readonly NamedRelation[]): NamedRelation[] {
  const byTarget = Map.groupBy(relations, ({ relation: { holdsKey, target } }) => `${holdsKey} ${target.id}`);
  return [...byTarget.values()].flatMap((each) => each.toReversed().toSorted((one, other) => Number(one.apart) - Number(other.apart)));
}

function reasonOf(name: string, newName: string, table: string): string {
  return `the name "${name}" is already taken in the rows of ${table}, so it is called "${newName}" there; choose another name with a comment directive`;
}

/** The computed fields in the order in which they claim names, those with adapted names apart. */
function byOrigin(
  context: BuildContext,
  computed: readonly Mutable<Routine>[],
  functions: ReadonlyMap<number, CatalogFunction>,
): Record<'own' | 'adapted', Mutable<Routine>[]> {
  const originOf = ({ id }: Routine) => routineNameOf(context, functions.get(id)!).origin;
  const inOrder = inClaimOrder(computed, context.schemas, (routine) => {
    return { schemaId: functions.get(routine.id)!.schemaId, catalogName: routine.name, origin: originOf(routine) };
  });
  const isAdapted = (routine: Routine) => originOf(routine) === 'adapted';
  return { own: inOrder.filter((routine) => !isAdapted(routine)), adapted: inOrder.filter(isAdapted) };
}
