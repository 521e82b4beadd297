/**
 * Computed fields: functions whose only argument is a row of a visible table. They read the whole row, so the role needs SELECT on the
 * whole table. `settle-row-names.ts` makes their names unique.
 */
import type { CatalogFunction } from '../catalog/catalog.ts';
import type { BuildContext, Mutable, Notes } from './build-context.ts';
import { rowTableOf, whyForbidden } from './computed-functions.ts';
import { readDescription, readDirective } from './directives.ts';
import { Excluded } from './excluded.ts';
import type { LazyTable } from './lazy-table.ts';
import type { Routine } from './model.ts';
import { isFreeName } from './names.ts';
import { functionName } from './object-names.ts';
import { routineNameOf } from './preferred-name.ts';
import { resultTypeOf } from './routine-types.ts';

/** Builds the computed fields of a table. Their functions may be in schemas that are not exposed, if the role may use those. */
export function buildComputedFields(context: BuildContext, table: LazyTable): Mutable<Routine>[] {
  const { functions } = context.links.of(table.id);
  return functions.flatMap((source) => {
    const field = buildComputed(context, table, source);
    return field instanceof Excluded ? [] : field;
  });
}

/** Reports functions over rows that cannot be computed fields, and why. */
export function* noteComputed(context: BuildContext, { exclusions }: Notes): Generator<void, void> {
  for (const source of context.catalog.functions) {
    const table = rowTableOf(context, source);
    if (!table) continue;
    const owner = context.tables.get(table.id);
    const field = owner ? buildComputed(context, owner, source) : ownerExcluded;
    if (field instanceof Excluded)
      exclusions.push({ object: 'function', id: source.id, name: functionName(context.catalog, source), ...field });
    yield;
  }
}

const ownerExcluded = new Excluded('owner-left-out', 'the table of its argument is not in the API; see the finding for that table');

function buildComputed(
  context: BuildContext,
  { facts: { source: table, schema } }: LazyTable,
  source: CatalogFunction,
): Mutable<Routine> | Excluded {
  if (source.kind !== 'f') return new Excluded('not-callable', 'it is not an ordinary function; call it from one');
  const result = resultTypeOf(context, source, { isComputed: true });
  if (result instanceof Excluded) return result;
  const forbidden = whyForbidden(context, table, source);
  if (forbidden) return forbidden;
  const directive = readDirective(source.comment);
  const fieldName = routineNameOf(context, source).name;
  if (!isFreeName(fieldName)) {
    const reason = `"${fieldName}" is not a valid GraphQL name; choose another with the comment directive {"name": "..."}`;
    return new Excluded('illegal-name', reason);
  }
  return {
    id: source.id,
    schema: source.schema,
    name: source.name,
    fieldName,
    description: readDescription(directive),
    volatile: source.volatile,
    plpgsql: source.plpgsql,
    effects: source.effects,
    unreachableArgument: null,
    arguments: [],
    result,
    introspection: schema.introspection,
  };
}
