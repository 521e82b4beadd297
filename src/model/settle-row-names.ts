/**
 * The names of the fields of rows, each of which one thing has: `nodeId` (or what the settings call it) the global identifier, then computed fields, relations and columns, in
 * this order, as in pg_graphql. What comes too late gets another name: a column `<name>Column`, a function `<name>Function`, a
 * relation `<name>By<Columns>`, and a number behind where that is taken too. Relations that are inferred come last, as pg_graphql has none.
 */

import type { BuildContext, Mutable, TableContext } from './build-context.ts';
import { inClaimOrder } from './claim-order.ts';
import { readDirective, readName } from './directives.ts';
import type { Column, Relation, Renaming, Routine } from './model.ts';
import { lowerFirst, numbered } from './names.ts';
import { functionName, qualifiedName } from './object-names.ts';

/** Settles the names in the context's tables. Columns, relations and computed fields must already be there. */
export function* settleRowNames(context: BuildContext): Generator<void, void> {
  for (const owner of context.tables.values()) {
    settle(context, owner);
    yield;
  }
}

function settle(context: BuildContext, { table, key }: TableContext): void {
  const { nodeIdField } = context.settings;
  // Caches that tell rows apart by `id` must not take a column for it, of rows without a key either.
  const taken = new Set<string>(key === null && nodeIdField === 'nodeId' ? [] : [nodeIdField]);
  const isFree = (name: string) => !taken.has(name);
  const take = (name: string) => isFree(name) && taken.add(name);
  const computed = inOrder(context, table.computed).filter(({ fieldName }) => !take(fieldName));
  const isInferred = (relation: Relation) => context.relationNames.get(relation)!.inferred;
  const constrained = table.relations.filter((relation) => !isInferred(relation));
  const last = new Map(constrained.map((relation) => [relation.fieldName, relation]));
  const relations = constrained.filter((relation) => last.get(relation.fieldName) !== relation || !take(relation.fieldName));
  const columns = table.columns.filter(({ selectable, fieldName }) => selectable && !take(fieldName));
  const rename = (object: Renaming['object'], name: string, fieldName: string, wanted: string): string => {
    const other = numbered(wanted, isFree);
    taken.add(other);
    context.renamings.push({ object, id: table.id, name, reason: reasonOf(fieldName, other, qualifiedName(table.schema, table.name)) });
    return other;
  };
  const tableName = qualifiedName(table.schema, table.name);
  for (const routine of computed as Mutable<Routine>[]) {
    const source = context.catalog.functions.find(({ id }) => id === routine.id)!;
    routine.fieldName = rename('function', functionName(context.catalog, source), routine.fieldName, `${routine.fieldName}Function`);
  }
  for (const relation of relations as Mutable<Relation>[]) {
    const { name, qualified } = context.relationNames.get(relation)!;
    relation.fieldName = rename('relation', name, relation.fieldName, qualified);
  }
  for (const column of columns as Mutable<Column>[]) {
    column.rowFieldName = rename('column', qualifiedName(tableName, column.name), column.fieldName, `${column.fieldName}Column`);
    if (key !== null && column.fieldName === nodeIdField) column.filterName = column.rowFieldName;
  }
  for (const relation of table.relations.filter(isInferred) as Mutable<Relation>[]) {
    // A column that leads to several views is the name of one of them alone.
    const ofTarget = relation.kind === 'to-one' ? lowerFirst(relation.target.stem) : relation.fieldName;
    const { qualified } = context.relationNames.get(relation)!;
    const free = [relation.fieldName, ofTarget, qualified].find(isFree) ?? numbered(qualified, isFree);
    taken.add(free);
    relation.fieldName = free;
  }
}

function reasonOf(taken: string, given: string, table: string): string {
  return `the name "${taken}" is already taken in the rows of ${table}, so it is called "${given}" there; choose another name with a comment directive`;
}

function inOrder({ catalog, schemas }: BuildContext, computed: readonly Routine[]): Routine[] {
  if (computed.length < 2) return [...computed];
  const sources = new Map(catalog.functions.map((source) => [source.id, source]));
  return inClaimOrder(computed, schemas, ({ id, name }) => {
    const source = sources.get(id)!;
    return { schemaId: source.schemaId, source: name, explicit: readName(readDirective(source.comment), 'name') !== null };
  });
}
