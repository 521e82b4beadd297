/** Loads the exposed views' definitions with `viewQuery`, if there are any views, and infers their keys and foreign keys. */
import type { RequestDatabase } from '../../database/database.ts';
import type { CatalogForeignKey, CatalogTable, CatalogView, CatalogViewForeignKey } from '../catalog.ts';
import type { CatalogComments } from '../catalog-comments.ts';
import { inferForeignKeys, inferSameRows } from './infer-foreign-keys.ts';
import { inferViews } from './infer-views.ts';
import type { RawViews } from './raw-views.ts';
import { viewQuery } from './view-query.ts';

export interface InferredViews {
  readonly views: ReadonlyMap<number, CatalogView>;
  readonly viewForeignKeys: readonly CatalogViewForeignKey[];
}

/** Loads the rows for `assembleViews`; null if none of the tables is a view. */
export async function loadRawViews(
  database: RequestDatabase,
  tables: readonly Pick<CatalogTable, 'id' | 'kind'>[],
): Promise<RawViews | null> {
  const ids = tables.filter(isView).map(({ id }) => id);
  if (ids.length === 0) return null;
  const [row] = await database.query(viewQuery, [JSON.stringify(ids)]);
  if (!row?.[0]) throw new Error('The query for views returned no row.');
  return JSON.parse(row[0]) as RawViews;
}

/** Infers keys and foreign keys, yielding after each view and key. */
export function* assembleViews(
  raw: RawViews | null,
  tables: readonly CatalogTable[],
  foreignKeys: readonly CatalogForeignKey[],
  comments: CatalogComments,
): Generator<void, InferredViews> {
  if (raw === null) return { views: new Map(), viewForeignKeys: [] };
  const views = yield* inferViews(raw, new Map(tables.filter(isView).map(({ id, columns }) => [id, columns.length])));
  const known = new Set(foreignKeys.map(({ id }) => id));
  const ownerOf = new Map((raw.foreignKeys ?? []).map(([id, , tableId]) => [id, tableId]));
  // PostgreSQL copies a foreign key that refers to a partitioned table for each of its partitions. The copies add nothing.
  const more = (raw.foreignKeys ?? []).filter(([id, , tableId, , , , , parentId]) => !known.has(id) && ownerOf.get(parentId) !== tableId);
  const keys = more.map(([id, name, tableId, columns, targetId, targetColumns]) => {
    return { id, name, tableId, columns, targetId, targetColumns, comment: comments.on('constraint', id) };
  });
  const all = [...foreignKeys, ...keys].sort((one, other) => one.id - other.id);
  const ofConstraints = yield* inferForeignKeys(all, views, new Set(tables.map(({ id }) => id)));
  return { views, viewForeignKeys: [...ofConstraints, ...(yield* inferSameRows(tables, views))] };
}

function isView({ kind }: Pick<CatalogTable, 'kind'>): boolean {
  return kind === 'v' || kind === 'm';
}
