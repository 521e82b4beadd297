/**
 * Rows as a grid: a virtual list of rows, so that a page may be long, whose cells are reached by arrow keys and edited in place. Changes are only
 * collected here.
 */
import { useTable } from '@tanstack/react-table';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useMemo, useRef } from 'react';
import type { ApiTable } from '../read-tables.ts';
import { CellDialog } from './cell-dialog.tsx';
import type { GridRow } from './changes.ts';
import { GridHeader, gridFeatures } from './grid-header.tsx';
import { GridLine, headWidth } from './grid-line.tsx';
import type { TableChanges } from './pending-changes.ts';
import type { GridColumn, Row, RowsChoice } from './rows-query.ts';
import type { RowLink, TableAbilities } from './table-abilities.ts';
import { useGridCursor } from './use-grid-cursor.ts';

interface RowGridProps {
  readonly table: ApiTable;
  readonly abilities: TableAbilities;
  readonly columns: readonly GridColumn[];
  readonly hidden: readonly string[];
  readonly rows: readonly GridRow[];
  readonly pending: TableChanges;
  /** Whether other rows are about to arrive. */
  readonly isLoading: boolean;
  readonly order: RowsChoice['order'];
  readonly onOrder: (order: RowsChoice['order']) => void;
  readonly hrefOf: (link: RowLink, row: Row) => string;
  readonly onFollow: (link: RowLink, row: Row) => void;
}

/** In pixels. A row whose change the server refused has a line below that says why. */
const height = { row: 34, problem: 30 };

export function RowGrid(props: RowGridProps) {
  const { table, abilities, columns, hidden, rows, pending, isLoading, hrefOf, onFollow } = props;
  const definitions = useMemo(() => columns.map((column) => ({ id: column.id, size: widthOf(column), minSize: 60 })), [columns]);
  const columnVisibility = useMemo(() => Object.fromEntries(hidden.map((id) => [id, false])), [hidden]);
  const grid = useTable({
    features: gridFeatures,
    columns: definitions,
    data: rows,
    getRowId: ({ id }) => id,
    columnResizeMode: 'onChange',
    state: { columnVisibility },
  });
  const visible = grid.getVisibleLeafColumns();
  const shown = useMemo(() => visible.flatMap(({ id }) => columns.filter((column) => column.id === id)), [visible, columns]);
  const scrolled = useRef<HTMLElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scrolled.current,
    estimateSize: (index) => height.row + (pending.problems.has(rows[index]?.id ?? '') ? height.problem : 0),
    getItemKey: (index) => rows[index]?.id ?? index,
    overscan: 12,
    // Below the header, which does not scroll.
    scrollPaddingStart: 56,
  });
  const cursor = useGridCursor(props, shown, scrolled, virtual.scrollToIndex);
  const items = virtual.getVirtualItems();
  const [above, below] = [items[0]?.start ?? 0, virtual.getTotalSize() - (items.at(-1)?.end ?? 0)];
  const inserted = rows.filter(({ row }) => row === null).length;
  const widths = shown.map(({ id }) => grid.getColumn(id)?.getSize() ?? 0);
  return (
    <section ref={scrolled} className="row-grid" aria-label={`Rows of ${table.type}`} aria-busy={isLoading}>
      <table
        // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: a grid is a table that one moves in.
        role="grid"
        aria-rowcount={rows.length + 1}
        aria-colcount={shown.length + 1}
        style={{ width: headWidth + widths.reduce((sum, width) => sum + width, 0) }}
        onKeyDown={cursor.onKeyDown}
        onClick={cursor.onClick}
        onFocus={cursor.onFocus}
      >
        <colgroup>
          <col style={{ width: headWidth }} />
          {shown.map(({ id }, index) => (
            <col key={id} style={{ width: widths[index] }} />
          ))}
        </colgroup>
        <GridHeader {...props} shown={shown} grid={grid} cursor={cursor} />
        <tbody>
          {above > 0 && <Space height={above} />}
          {items.map(({ index, key }) => (
            <GridLine
              key={key}
              abilities={abilities}
              shown={shown}
              index={index}
              number={rows[index]!.row === null ? null : index + 1 - inserted}
              gridRow={rows[index]!}
              problem={pending.problems.get(rows[index]!.id) ?? null}
              change={pending.change}
              hrefOf={hrefOf}
              onFollow={onFollow}
              {...cursor.lineProps(index + 1)}
            />
          ))}
          {below > 0 && <Space height={below} />}
        </tbody>
      </table>
      {cursor.opened !== null && (
        <CellDialog
          {...cursor.opened.editor}
          title={`${cursor.opened.editor.column.name} of ${table.type}`}
          onKeep={cursor.opened.isEditable ? cursor.opened.editor.onKeep : null}
        />
      )}
    </section>
  );
}

function Space({ height: pixels }: { readonly height: number }) {
  return (
    <tr className="row-space">
      <td style={{ height: pixels }} />
    </tr>
  );
}

/** In pixels, at first. */
function widthOf({ column, link }: GridColumn): number {
  const ofName = (column?.name ?? link?.field ?? '').length * 8 + 44;
  const ofType = column === null ? 200 : (widths[column.leaf] ?? 200) + (column.isList ? 60 : 0) + (link === null ? 0 : 150);
  return Math.min(420, Math.max(ofName, ofType));
}

const widths: Readonly<Record<string, number>> = {
  Int: 90,
  BigInt: 110,
  Float: 110,
  BigFloat: 110,
  Boolean: 100,
  Date: 130,
  Time: 120,
  Datetime: 240,
  UUID: 300,
  JSON: 240,
  String: 220,
};
