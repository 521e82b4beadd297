/**
 * The foreign keys of views: those of the tables whose columns they show, and those that refer to such tables. In: the foreign keys of tables, and whose columns
 * the exposed views show; out: a foreign key for each two of them, of which at least one is a view.
 */
import type { CatalogForeignKey, CatalogViewForeignKey } from '../catalog.ts';
import type { ColumnOrigin } from './query-facts.ts';

/** Tables whose foreign keys lead to more views than these get none: whoever has so many wants to choose. */
const mostSides = 50;

export interface ViewColumns {
  /** Whose columns the view shows, in its order. */
  readonly origins: readonly (ColumnOrigin | null)[];
  readonly unique: readonly (readonly number[])[];
}

type TableForeignKey = Pick<CatalogForeignKey, 'id' | 'name' | 'tableId' | 'columns' | 'targetId' | 'targetColumns' | 'comment'>;

/** A table, or a view that shows columns of it. */
interface Side {
  readonly id: number;
  readonly isView: boolean;
  readonly columns: readonly number[];
}

/** The foreign keys in the order of those of the tables, pausing after each. `exposed` has the ids of all exposed tables. */
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
    // A relation leads to one row, so that only views that show each row once can be its target.
    const targets = sidesOf(targetId, targetColumns, readers, exposed).filter(
      ({ id, isView, columns: shown }) =>
        !isView || views.get(id)!.unique.some((unique) => unique.every((column) => shown.includes(column))),
    );
    if (locals.length > mostSides || targets.length > mostSides) continue;
    for (const local of locals) {
      for (const target of targets) {
        if (!local.isView && !target.isView) continue;
        found.push({
          name,
          ownerId,
          tableId: local.id,
          columns: local.columns,
          targetId: target.id,
          targetColumns: target.columns,
          comment,
        });
      }
    }
  }
  return found;
}

/** Where a view reads a table: the columns that it shows of it, by their numbers in the table. */
interface Reading {
  readonly viewId: number;
  readonly shown: ReadonlyMap<number, number>;
}

/** What reads each table. A view that reads a table twice reads two rows of it. */
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

/** The table, if it is exposed, and each place where a view shows all of these columns of it. */
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
