/** Decides which functions are computed fields: those whose only argument is a row of a visible table and that the role may call. */
import type { CatalogFunction, CatalogTable } from '../catalog/catalog.ts';
import { type BuildContext, sourceOf } from './build-context.ts';
import { Excluded, notGranted } from './excluded.ts';
import type { LazyTable } from './lazy-table.ts';

/** The table, visible or not, whose row is the function's only argument; otherwise undefined. */
export function rowTableOf(context: BuildContext, { arguments: [row, ...others] }: CatalogFunction): CatalogTable | undefined {
  const type = row && others.length === 0 ? context.catalog.types.get(row.typeId) : undefined;
  return type && sourceOf(context, type.relationId);
}

/** The visible table whose row is the function's only argument. */
export function computedOwner(context: BuildContext, source: CatalogFunction): LazyTable | undefined {
  const table = source.kind === 'f' ? rowTableOf(context, source) : undefined;
  return table && context.tables.get(table.id);
}

/** Whether the function returns a collection. A set declared `rows 1` counts as a single row. */
export function isSetOfRows({ returnsSet, rows }: CatalogFunction): boolean {
  return returnsSet && rows !== 1;
}

/** Why a function over a table's rows is no computed field for the role; undefined if it is one. */
export function whyForbidden(
  { privileges }: BuildContext,
  table: CatalogTable,
  { id, schemaId, schema, ambiguous }: CatalogFunction,
): Excluded | undefined {
  if (ambiguous) {
    const reason =
      'PostgreSQL cannot tell its calls from those of a function with the same name and row, whose other arguments have defaults';
    return new Excluded('not-callable', `${reason}; rename one of them`);
  }
  const { role, functions, schemas, tables } = privileges;
  if (!schemas.has(schemaId)) {
    return notGranted(`the role ${role} cannot use its schema; grant usage on schema ${schema} to the role`, 'usage', schemaId);
  }
  if (!functions.has(id)) return notGranted(`the role ${role} cannot execute it; grant execute on it to the role`, 'execute', id);
  if (tables.get(table.id)?.select) return undefined;
  return notGranted(
    `it reads whole rows, which the role ${role} cannot select; grant select on the whole table to the role`,
    'select',
    table.id,
  );
}
