/** The key of a table: of a constraint, of a directive, or inferred from the definition of a view. */
import type { CatalogColumn, CatalogTable, CatalogView } from '../../catalog/catalog.ts';
import type { Additions } from '../additions.ts';
import { type BuildContext, Excluded, notGranted, privilegesOn } from '../build-context.ts';
import { type Directive, readKeyColumns } from '../directives.ts';
import { isComparable } from './type-access.ts';

/** The key: the primary key in table column order, or the columns of a directive in its order, or an inferred key; or why there is none. */
export function keyOf(
  context: BuildContext,
  catalogTable: CatalogTable,
  directive: Directive,
  additions: Additions,
): readonly CatalogColumn[] | Excluded {
  const primary = catalogTable.indexes.find((index) => index.primary);
  if (primary) return catalogTable.columns.filter(({ number }) => primary.columns.includes(number));
  const names = readKeyColumns(directive);
  if (!names) {
    const unique = uniqueColumns(catalogTable)?.map(({ name }) => JSON.stringify(name)) ?? ['"..."'];
    const remedy = `declare its key columns with the comment directive {"primary_key_columns": [${unique.join(', ')}]}`;
    const view = additions.has('inferredKeys') ? context.catalog.views.get(catalogTable.id) : undefined;
    if (view !== undefined) return inferredKey(context, catalogTable, view, remedy);
    const mayHaveOne = catalogTable.kind === 'r' || catalogTable.kind === 'p';
    return new Excluded('no-key', mayHaveOne ? `it has no primary key; add one, or ${remedy}` : `it has no key; ${remedy}`);
  }
  const key = names.map((name) => catalogTable.columns.find((column) => column.name === name));
  const missing = names.find((_name, position) => !key[position]);
  if (missing !== undefined) {
    const reason = `its comment directive names "${missing}" in primary_key_columns, which is not one of its columns; correct the directive`;
    return new Excluded('unusable-directive', reason);
  }
  return key.filter((column) => column !== undefined);
}

/** Whether the columns of a key without a constraint include some that are unique and never null. */
export function isProven({ catalog }: BuildContext, catalogTable: CatalogTable, key: readonly CatalogColumn[] | Excluded): boolean {
  if (key instanceof Excluded) return false;
  const columns = key.map(({ number }) => number);
  const unique = catalogTable.hasChildren ? null : uniqueColumns(catalogTable)?.map(({ number }) => number);
  const view = catalog.views.get(catalogTable.id);
  return [view?.keyMayBeNull ? null : view?.key, unique].some((proven) => proven?.every((number) => columns.includes(number)));
}

function inferredKey(
  context: BuildContext,
  catalogTable: CatalogTable,
  view: CatalogView,
  remedy: string,
): readonly CatalogColumn[] | Excluded {
  const { key, problem } = view;
  const implied = key === null && view.isSummary ? firstOrdered(context, catalogTable) : undefined;
  if (implied) return [implied];
  if (key === null) return new Excluded('no-key', `it has no key, and none can be inferred, because ${problem}; ${remedy}`);
  const columns = catalogTable.columns.filter(({ number }) => key.includes(number));
  const hidden = columns.find((column) => !privilegesOn(context, catalogTable, column).select);
  if (hidden === undefined) return columns;
  const reason = `the role ${context.privileges.role} cannot select ${hidden.name}, a column of the key that is inferred; grant select on it to the role, or ${remedy}`;
  return notGranted(reason, 'select', catalogTable.id, hidden.name);
}

/** Of the only row of a view, any column will do for an identifier: the first that the role can read and rows can be ordered by. */
function firstOrdered(context: BuildContext, catalogTable: CatalogTable): CatalogColumn | undefined {
  return catalogTable.columns.find((column) => {
    const type = context.catalog.types.get(column.typeId);
    const isPlain = type !== undefined && type.category !== 'A' && ['b', 'd', 'e'].includes(type.kind);
    return isPlain && !type.unordered && isComparable(context, type) && privilegesOn(context, catalogTable, column).select;
  });
}

/** Whether rows may have nulls in the key, which is then one that is inferred: of groups, in which nulls are equal, or of a single row. */
export function takesNulls({ catalog }: BuildContext, { id, indexes }: CatalogTable, directive: Directive, additions: Additions): boolean {
  if (!additions.has('inferredKeys') || readKeyColumns(directive) || indexes.some(({ primary }) => primary)) return false;
  const view = catalog.views.get(id);
  return view !== undefined && (view.keyMayBeNull || view.key === null);
}

/** The columns of a unique index that are never null, in its order; null if there is none. */
export function uniqueColumns({ kind, indexes, columns }: CatalogTable): readonly CatalogColumn[] | null {
  if (kind !== 'r' && kind !== 'p') return null;
  for (const index of indexes.filter(({ unique, immediate }) => unique && immediate)) {
    const keys = index.columns.flatMap((number) => columns.find((column) => column.number === number && column.notNull) ?? []);
    if (keys.length > 0 && keys.length === index.columns.length) return keys;
  }
  return null;
}
