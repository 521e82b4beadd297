/**
 * The names of the fields of rows, each of which one thing has: `nodeId` (or what the settings call it) the global identifier, then computed fields, relations and columns, in
 * this order, as in pg_graphql. What comes too late gets another name: a column `<name>Column`, a function `<name>Function`, a
 * relation `<name>By<Columns>`, and a number behind where that is taken too. Relations that are inferred come last, as pg_graphql has none.
 */

import type { BuildContext, Mutable, Notes } from './build-context.ts';
import type { NamedRelation } from './build-relations.ts';
import { inClaimOrder } from './claim-order.ts';
import { readDirective, readName } from './directives.ts';
import type { LazyTable } from './lazy-table.ts';
import type { Column, Renaming, Routine } from './model.ts';
import { lowerFirst, numbered } from './names.ts';
import { functionName, qualifiedName } from './object-names.ts';

/** The fields of rows, with the names that they would like to have. */
export interface RowFields {
  readonly columns: readonly Mutable<Column>[];
  readonly relations: readonly NamedRelation[];
  readonly computed: readonly Mutable<Routine>[];
}

/** Settles the names in the rows of a table. */
export function settleRowNames(context: BuildContext, table: LazyTable, fields: RowFields, { renamings }: Notes): void {
  const { nodeIdField } = context.settings;
  const { key } = table.facts;
  // Caches that tell rows apart by `id` must not take a column for it, of rows without a key either.
  const taken = new Set<string>(key === null && nodeIdField === 'nodeId' ? [] : [nodeIdField]);
  const isFree = (name: string) => !taken.has(name);
  const take = (name: string) => isFree(name) && taken.add(name);
  const computed = inOrder(context, fields.computed).filter(({ fieldName }) => !take(fieldName));
  const constrained = fields.relations.filter(({ inferred }) => !inferred);
  const last = new Map(constrained.map(({ relation }) => [relation.fieldName, relation]));
  const relations = constrained.filter(({ relation }) => last.get(relation.fieldName) !== relation || !take(relation.fieldName));
  const columns = fields.columns.filter(({ selectable, fieldName }) => selectable && !take(fieldName));
  const rename = (object: Renaming['object'], name: string, fieldName: string, wanted: string): string => {
    const other = numbered(wanted, isFree);
    taken.add(other);
    renamings.push({ object, id: table.id, name, reason: reasonOf(fieldName, other, qualifiedName(table.schema, table.name)) });
    return other;
  };
  const tableName = qualifiedName(table.schema, table.name);
  for (const routine of computed) {
    const source = context.catalog.functions.find(({ id }) => id === routine.id)!;
    routine.fieldName = rename('function', functionName(context.catalog, source), routine.fieldName, `${routine.fieldName}Function`);
  }
  for (const { relation, name, qualified } of relations) {
    relation.fieldName = rename('relation', name, relation.fieldName, qualified);
  }
  for (const column of columns) {
    column.rowFieldName = rename('column', qualifiedName(tableName, column.name), column.fieldName, `${column.fieldName}Column`);
    if (key !== null && column.fieldName === nodeIdField) column.filterName = column.rowFieldName;
  }
  for (const { relation, qualified } of fields.relations.filter(({ inferred }) => inferred)) {
    // A column that leads to several views is the name of one of them alone.
    const ofTarget = relation.kind === 'to-one' ? lowerFirst(relation.target.stem) : relation.fieldName;
    const free = [relation.fieldName, ofTarget, qualified].find(isFree) ?? numbered(qualified, isFree);
    taken.add(free);
    relation.fieldName = free;
  }
}

function reasonOf(taken: string, given: string, table: string): string {
  return `the name "${taken}" is already taken in the rows of ${table}, so it is called "${given}" there; choose another name with a comment directive`;
}

function inOrder({ catalog, schemas }: BuildContext, computed: readonly Mutable<Routine>[]): Mutable<Routine>[] {
  if (computed.length < 2) return [...computed];
  const sources = new Map(catalog.functions.map((source) => [source.id, source]));
  return inClaimOrder(computed, schemas, ({ id, name }) => {
    const source = sources.get(id)!;
    return { schemaId: source.schemaId, source: name, explicit: readName(readDirective(source.comment), 'name') !== null };
  });
}
