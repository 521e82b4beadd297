/**
 * Computed fields: functions whose one argument is a row of a visible table. They need the whole row, and so the right to select the
 * whole table. As in the reference such a field takes its name from a column or relation that has it.
 */
import type { CatalogFunction, CatalogTable } from '../catalog/catalog.ts';
import { readDescription, readDirective, readName } from './directives.ts';
import { type Draft, qualifiedName, type TableDraft } from './draft.ts';
import type { Omission, Routine } from './model.ts';
import { isFreeName, routineFieldName } from './names.ts';
import { resultTypeOf } from './routine-types.ts';

/** Fills the computed fields of the tables of the draft. They may come from schemas that are not exposed, if the role may use those. */
export function addComputed(draft: Draft): void {
  for (const source of draft.catalog.functions) {
    const table = rowTableOf(draft, source);
    if (!table) continue;
    const owner = draft.tables.get(table.id);
    const field = owner ? buildComputed(draft, owner, source) : 'the table whose row it takes is not in the API: see there';
    if (typeof field === 'string') omit(draft, source, field);
    else if (owner) owner.table.computed = [...owner.table.computed, field];
  }
  for (const owner of draft.tables.values()) settleNames(draft, owner);
}

/** The table, visible or not, whose row is the one argument of the function; undefined for all other functions. */
export function rowTableOf({ catalog, sources }: Draft, { arguments: [row, ...others] }: CatalogFunction): CatalogTable | undefined {
  const type = row && others.length === 0 ? catalog.types.get(row.typeId) : undefined;
  return type && sources.get(type.relationId);
}

function buildComputed(draft: Draft, { source: table, schema }: TableDraft, source: CatalogFunction): Routine | string {
  const { role, functions, schemas, tables } = draft.privileges;
  if (source.kind !== 'f') return 'it is no ordinary function: call it from one';
  if (!schemas.has(source.schemaId)) return `the role ${role} may not use its schema: grant usage on schema ${source.schema} to the role`;
  if (!functions.has(source.id)) return `the role ${role} may not execute it: grant execute on it to the role`;
  if (!tables.get(table.id)?.select)
    return `it reads whole rows: grant select on the table ${schema.name}.${table.name} to the role ${role}`;
  const result = resultTypeOf(draft, source);
  if (typeof result === 'string') return result;
  const directive = readDirective(source.comment);
  const inflection = draft.schemas.get(source.schemaId)?.inflection ?? false;
  const fieldName = readName(directive, 'name') ?? routineFieldName(source.name, inflection);
  if (!isFreeName(fieldName) || fieldName === 'nodeId') {
    return `"${fieldName}" cannot be the name of a field: name it with the comment directive {"name": "..."}`;
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

/** Of computed fields, relations and columns that claim one name the last keeps it, in this order from the back. */
function settleNames(draft: Draft, { table }: TableDraft): void {
  const rename = 'give one of them another name with a comment directive';
  const tableName = qualifiedName(table.schema, table.name);
  const byField = new Map(table.computed.map((field) => [field.fieldName, field]));
  for (const field of table.computed) {
    if (byField.get(field.fieldName) !== field) omit(draft, field, `another computed field has the name "${field.fieldName}": ${rename}`);
  }
  table.computed = [...byField.values()];
  const relations = new Set(table.relations.map(({ fieldName }) => fieldName));
  const report = (object: Omission['object'], fieldName: string, by: string) =>
    draft.omissions.push({ object, name: `${tableName}.${fieldName}`, reason: `${by} has its name in the rows of the table: ${rename}` });
  for (const { fieldName } of table.relations) if (byField.has(fieldName)) report('relation', fieldName, 'a computed field');
  for (const { fieldName, selectable } of table.columns) {
    if (selectable && byField.has(fieldName)) report('column', fieldName, 'a computed field');
    else if (selectable && relations.has(fieldName)) report('column', fieldName, 'a relation');
  }
  table.relations = table.relations.filter(({ fieldName }) => !byField.has(fieldName));
}

function omit(draft: Draft, { schema, name }: { readonly schema: string; readonly name: string }, reason: string): void {
  draft.omissions.push({ object: 'function', name: qualifiedName(schema, name), reason });
}
