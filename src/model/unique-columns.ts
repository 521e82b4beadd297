/** A key that a table has without declaring it. */
import type { CatalogColumn, CatalogTable } from '../catalog/catalog.ts';

/** The columns of a unique index that are never null, in its order; null if there is none. */
export function uniqueColumns({ kind, indexes, columns }: CatalogTable): readonly CatalogColumn[] | null {
  if (kind !== 'r' && kind !== 'p') return null;
  for (const index of indexes.filter(({ unique, immediate }) => unique && immediate)) {
    const keys = index.columns.map((number) => columns.find((column) => column.number === number));
    if (keys.length > 0 && keys.every((column) => column?.notNull)) return keys as CatalogColumn[];
  }
  return null;
}
