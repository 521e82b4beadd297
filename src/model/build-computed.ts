/**
 * Computed fields: functions whose one argument is a row of a visible table. They need the whole row, and so the right to select the
 * whole table. As in the reference such a field takes its name from a column or relation that has it.
 */
import type { CatalogFunction, CatalogTable } from '../catalog/catalog.ts';
import { readDescription, readDirective, readName } from './directives.ts';
import type { Draft, TableDraft } from './draft.ts';
import { LeftOut, notGranted } from './left-out.ts';
import type { Omission, Routine } from './model.ts';
import { isFreeName, routineFieldName } from './names.ts';
import { functionName, qualifiedName } from './object-names.ts';
import { resultTypeOf } from './routine-types.ts';

/** Fills the computed fields of the tables of the draft. They may come from schemas that are not exposed, if the role may use those. */
export function* addComputed(draft: Draft): Generator<void, void> {
  for (const source of draft.catalog.functions) {
    const table = rowTableOf(draft, source);
    if (!table) continue;
    const owner = draft.tables.get(table.id);
    const field = owner ? buildComputed(draft, owner, source) : ownerLeftOut;
    if (field instanceof LeftOut) omit(draft, source, field);
    else if (owner) owner.table.computed = [...owner.table.computed, field];
    yield;
  }
  for (const owner of draft.tables.values()) {
    settleNames(draft, owner);
    yield;
  }
}

const ownerLeftOut = new LeftOut('owner-left-out', 'the table whose row it takes is not in the API: see there');

/** The table, visible or not, whose row is the one argument of the function; undefined for all other functions. */
export function rowTableOf({ catalog, sources }: Draft, { arguments: [row, ...others] }: CatalogFunction): CatalogTable | undefined {
  const type = row && others.length === 0 ? catalog.types.get(row.typeId) : undefined;
  return type && sources.get(type.relationId);
}

function buildComputed(draft: Draft, { source: table, schema }: TableDraft, source: CatalogFunction): Routine | LeftOut {
  if (source.kind !== 'f') return new LeftOut('not-callable', 'it is not an ordinary function: call it from one');
  const result = resultTypeOf(draft, source);
  if (result instanceof LeftOut) return result;
  const forbidden = whyForbidden(draft, table, source);
  if (forbidden) return forbidden;
  const directive = readDirective(source.comment);
  const inflection = draft.schemas.get(source.schemaId)?.inflection ?? false;
  const fieldName = readName(directive, 'name') ?? routineFieldName(source.name, inflection);
  if (!isFreeName(fieldName) || fieldName === 'nodeId') {
    const reason = `"${fieldName}" cannot be the name of a field: name it with the comment directive {"name": "..."}`;
    return new LeftOut('illegal-name', reason);
  }
  return {
    id: source.id,
    schema: source.schema,
    name: source.name,
    fieldName,
    description: readDescription(directive),
    volatile: source.volatile,
    arguments: [],
    result,
    introspection: schema.introspection,
  };
}

function whyForbidden({ privileges }: Draft, table: CatalogTable, { id, schemaId, schema }: CatalogFunction): LeftOut | undefined {
  const { role, functions, schemas, tables } = privileges;
  if (!schemas.has(schemaId)) {
    return notGranted(`the role ${role} may not use its schema: grant usage on schema ${schema} to the role`, 'usage', schemaId);
  }
  if (!functions.has(id)) return notGranted(`the role ${role} may not execute it: grant execute on it to the role`, 'execute', id);
  if (tables.get(table.id)?.select) return undefined;
  return notGranted(`it reads whole rows, and the role ${role} may not: grant select on the whole table to the role`, 'select', table.id);
}

/** Of computed fields, relations and columns that claim one name the last keeps it, in this order from the back. */
function settleNames(draft: Draft, { table }: TableDraft): void {
  const rename = 'give one of them another name with a comment directive';
  const tableName = qualifiedName(table.schema, table.name);
  const byField = new Map(table.computed.map((field) => [field.fieldName, field]));
  for (const field of table.computed) {
    const why = new LeftOut('name-taken', `another computed field has the name "${field.fieldName}": ${rename}`);
    if (byField.get(field.fieldName) !== field) omit(draft, field, why);
  }
  table.computed = [...byField.values()];
  const relations = new Set(table.relations.map(({ fieldName }) => fieldName));
  const report = (object: Omission['object'], name: string, fieldName: string, by: string) => {
    const why = new LeftOut('name-taken', `${by} has its name "${fieldName}" in the rows of the table: ${rename}`);
    draft.omissions.push({ object, id: table.id, name: `${tableName}.${name}`, ...why });
  };
  for (const { fieldName } of table.relations) if (byField.has(fieldName)) report('relation', fieldName, fieldName, 'a computed field');
  for (const { name, fieldName, selectable } of table.columns) {
    if (selectable && byField.has(fieldName)) report('column', name, fieldName, 'a computed field');
    else if (selectable && relations.has(fieldName)) report('column', name, fieldName, 'a relation');
  }
  table.relations = table.relations.filter(({ fieldName }) => !byField.has(fieldName));
}

function omit(draft: Draft, { id }: { readonly id: number }, why: LeftOut): void {
  const source = draft.catalog.functions.find((candidate) => candidate.id === id)!;
  draft.omissions.push({ object: 'function', id, name: functionName(draft.catalog, source), ...why });
}
