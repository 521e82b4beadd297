/**
 * Computed fields: functions whose one argument is a row of a visible table. They need the whole row, and so the right to select the
 * whole table. `settle-row-names.ts` gives them names of their own.
 */
import type { CatalogFunction } from '../catalog/catalog.ts';
import { rowTableOf, whyForbidden } from './computed-functions.ts';
import { readDescription, readDirective, readName } from './directives.ts';
import type { Draft, TableDraft } from './draft.ts';
import { LeftOut } from './left-out.ts';
import type { Routine } from './model.ts';
import { isFreeName, routineFieldName } from './names.ts';
import { functionName } from './object-names.ts';
import { resultTypeOf } from './routine-types.ts';

/** Fills the computed fields of the tables of the draft. They may come from schemas that are not exposed, if the role may use those. */
export function* addComputed(draft: Draft): Generator<void, void> {
  for (const source of draft.catalog.functions) {
    const table = rowTableOf(draft, source);
    if (!table) continue;
    const owner = draft.tables.get(table.id);
    const field = owner ? buildComputed(draft, owner, source) : ownerLeftOut;
    if (field instanceof LeftOut)
      draft.omissions.push({ object: 'function', id: source.id, name: functionName(draft.catalog, source), ...field });
    else if (owner) owner.table.computed = [...owner.table.computed, field];
    yield;
  }
}

const ownerLeftOut = new LeftOut('owner-left-out', 'the table whose row it takes is not in the API: see there');

function buildComputed(draft: Draft, { source: table, schema }: TableDraft, source: CatalogFunction): Routine | LeftOut {
  if (source.kind !== 'f') return new LeftOut('not-callable', 'it is not an ordinary function: call it from one');
  const result = resultTypeOf(draft, source, { withoutKey: true });
  if (result instanceof LeftOut) return result;
  const forbidden = whyForbidden(draft, table, source);
  if (forbidden) return forbidden;
  const directive = readDirective(source.comment);
  const inflection = draft.schemas.get(source.schemaId)?.inflection ?? false;
  const fieldName = readName(directive, 'name') ?? routineFieldName(source.name, inflection);
  if (!isFreeName(fieldName)) {
    const reason = `"${fieldName}" is not a GraphQL name: name it with the comment directive {"name": "..."}`;
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
