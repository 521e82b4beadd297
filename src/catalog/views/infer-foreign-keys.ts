/**
 * Infers the foreign keys of views from those of tables: a view that shows the columns of a foreign key, or of its target, inherits it.
 * Returns a foreign key for each combination of a referencing and a referenced side, of which at least one is a view.
 */
import type { CatalogForeignKey, CatalogTable, CatalogViewForeignKey } from '../catalog.ts';
import type { ColumnOrigin } from './row-properties.ts';

/** Foreign keys that more sides than this share get none, because users with so many views will want to choose. */
const maxSides = 50;

export interface ViewColumns {
  readonly origins: readonly (ColumnOrigin | null)[];
  readonly unique: readonly (readonly number[])[];
}

type TableForeignKey = Pick<CatalogForeignKey, 'id' | 'name' | 'tableId' | 'columns' | 'targetId' | 'targetColumns' | 'comment'>;

interface Side {
  readonly id: number;
  readonly isView: boolean;
  readonly columns: readonly number[];
}

/** Returns the foreign keys in the order of those of tables, yielding after each. `exposed` has the ids of all exposed tables. */
export function* inferForeignKeys(
  keys: readonly TableForeignKey[],
  views: ReadonlyMap<number, ViewColumns>,
  exposed: ReadonlySet<number>,
): Generator<void, CatalogViewForeignKey[]> {
  const readers = readersOf(views);
  const found: CatalogViewForeignKey[] = [];
  for (const { name, tableId: ownerId, columns, targetId, targetColumns, comment } of keys) {
    yield;
    if (!readers.has(ownerId) && !readers.has(targetId)) continue;
    const locals = sidesOf(ownerId, columns, readers, exposed);
    // A relation leads to one row, so its target can only be a view that shows each row once.
    const targets = sidesOf(targetId, targetColumns, readers, exposed).filter((side) => !side.isView || showsOnce(side, views));
    if (locals.length > maxSides || targets.length > maxSides) continue;
    for (const local of locals) {
      for (const target of targets) {
        if (!local.isView && !target.isView) continue;
        found.push({
          name,
          tableId: local.id,
          columns: local.columns,
          targetId: target.id,
          targetColumns: target.columns,
          sameRow: false,
          comment,
        });
      }
    }
  }
  return found;
}

/**
 * Returns a reference from each view to each exposed table whose rows it shows once, with their primary key. Yields after each table.
 */
export function* inferSameRows(
  tables: readonly Pick<CatalogTable, 'id' | 'indexes' | 'hasChildren'>[],
  views: ReadonlyMap<number, ViewColumns>,
): Generator<void, CatalogViewForeignKey[]> {
  const readers = readersOf(views);
  const found: CatalogViewForeignKey[] = [];
  for (const { id, indexes, hasChildren } of tables) {
    yield;
    const key = indexes.find(({ primary, immediate }) => primary && immediate)?.columns;
    if (key === undefined || hasChildren || !readers.has(id)) continue;
    const sides = sidesOf(id, key, readers, new Set()).filter((side) => showsOnce(side, views));
    if (sides.length > maxSides) continue;
    for (const side of sides) {
      const target = { targetId: id, targetColumns: key };
      found.push({ name: 'primary key', tableId: side.id, columns: side.columns, ...target, sameRow: true, comment: null });
    }
  }
  return found;
}

function showsOnce({ id, columns }: Side, views: ReadonlyMap<number, ViewColumns>): boolean {
  return views.get(id)!.unique.some((unique) => unique.every((column) => columns.includes(column)));
}

/** One reading of a table by a view. `shown` maps columns of the table to columns of the view. */
interface Reading {
  readonly viewId: number;
  readonly shown: ReadonlyMap<number, number>;
}

/** The views that read each table. A view that reads a table twice has two readings. */
function readersOf(views: ReadonlyMap<number, ViewColumns>): ReadonlyMap<number, readonly Reading[]> {
  const readers = new Map<number, Reading[]>();
  for (const [viewId, { origins }] of views) {
    const readings = new Map<string, { tableId: number; shown: Map<number, number> }>();
    for (const [index, origin] of origins.entries()) {
      if (origin === null) continue;
      const reading = readings.get(origin.path) ?? { tableId: origin.tableId, shown: new Map<number, number>() };
      readings.set(origin.path, reading);
      if (!reading.shown.has(origin.column)) reading.shown.set(origin.column, index + 1);
    }
    for (const { tableId, shown } of readings.values()) {
      const others = readers.get(tableId);
      if (others) others.push({ viewId, shown });
      else readers.set(tableId, [{ viewId, shown }]);
    }
  }
  return readers;
}

/** The table, if it is exposed, and each reading by a view that shows all these columns. */
function sidesOf(
  tableId: number,
  columns: readonly number[],
  readers: ReadonlyMap<number, readonly Reading[]>,
  exposed: ReadonlySet<number>,
): readonly Side[] {
  const table: Side[] = exposed.has(tableId) ? [{ id: tableId, isView: false, columns }] : [];
  const views = (readers.get(tableId) ?? []).flatMap(({ viewId, shown }): Side[] => {
    const numbers = columns.flatMap((column) => shown.get(column) ?? []);
    return numbers.length === columns.length ? [{ id: viewId, isView: true, columns: numbers }] : [];
  });
  return [...table, ...views];
}
