/** Loads what is inferred about the exposed views: runs `viewQuery`, where there are views, and reads their definitions. */
import type { RequestDatabase } from '../../database/database.ts';
import type { CatalogForeignKey, CatalogTable, CatalogView, CatalogViewForeignKey } from '../catalog.ts';
import type { CatalogComments } from '../catalog-comments.ts';
import { inferForeignKeys } from './infer-foreign-keys.ts';
import { inferViews } from './infer-views.ts';
import type { RawViews } from './raw-views.ts';
import { viewQuery } from './view-query.ts';

/** What is inferred about views, for the catalog. */
export interface InferredViews {
  readonly views: ReadonlyMap<number, CatalogView>;
  readonly viewForeignKeys: readonly CatalogViewForeignKey[];
}

/** The rows from which `assembleViews` infers; null where none of the tables is a view. */
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

/** Infers keys and foreign keys, pausing after each view and key. */
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
  // A foreign key to a partitioned table has a copy for each partition, which adds nothing.
  const more = (raw.foreignKeys ?? []).filter(([id, , tableId, , , , , parentId]) => !known.has(id) && ownerOf.get(parentId) !== tableId);
  const keys = more.map(([id, name, tableId, columns, targetId, targetColumns]) => {
    return { id, name, tableId, columns, targetId, targetColumns, comment: comments.on('constraint', id) };
  });
  const all = [...foreignKeys, ...keys].sort((one, other) => one.id - other.id);
  const viewForeignKeys = yield* inferForeignKeys(all, views, new Set(tables.map(({ id }) => id)));
  return { views, viewForeignKeys };
}

function isView({ kind }: Pick<CatalogTable, 'kind'>): boolean {
  return kind === 'v' || kind === 'm';
}
