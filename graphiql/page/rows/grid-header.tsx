/** The names and types of columns. A click on a name orders by it, a second one reverses the order; the edge of a column can be dragged. */
import { columnResizingFeature, columnSizingFeature, columnVisibilityFeature, type ReactTable, tableFeatures } from '@tanstack/react-table';
import type { GridRow } from './changes.ts';
import type { GridColumn, RowsChoice } from './rows-query.ts';
import type { TableAbilities } from './table-abilities.ts';
import type { GridCursor } from './use-grid-cursor.ts';
import { cellProps } from './use-grid-focus.ts';

export const gridFeatures = tableFeatures({ columnSizingFeature, columnResizingFeature, columnVisibilityFeature });

interface GridHeaderProps {
  readonly abilities: TableAbilities;
  readonly shown: readonly GridColumn[];
  readonly grid: ReactTable<typeof gridFeatures, GridRow>;
  readonly cursor: GridCursor;
  readonly order: RowsChoice['order'];
  readonly onOrder: (order: RowsChoice['order']) => void;
}

export function GridHeader({ abilities, shown, grid, cursor, order, onOrder }: GridHeaderProps) {
  const isActive = (column: number): boolean => cursor.place.row === 0 && cursor.place.column === column;
  const headers = new Map(grid.getHeaderGroups()[0]?.headers.map((header) => [header.column.id, header]));
  return (
    <thead>
      <tr aria-rowindex={1}>
        <th {...cellProps(0, 0, isActive(0))} aria-colindex={1} className="row-head">
          <span className="visually-hidden">Row</span>
        </th>
        {shown.map(({ id, column, link }, index) => {
          const direction = order?.column !== id ? 'none' : order.isDescending ? 'descending' : 'ascending';
          const isOrderable = abilities.orderable.has(id);
          const place = cellProps(0, index + 1, isActive(index + 1));
          return (
            <th key={id} scope="col" aria-colindex={index + 2} aria-sort={isOrderable ? direction : undefined} {...(!isOrderable && place)}>
              {isOrderable ? (
                <button {...place} type="button" onClick={() => onOrder(nextOrder(order, id))}>
                  {id} <span aria-hidden="true">{direction === 'none' ? '' : direction === 'descending' ? '▾' : '▴'}</span>
                </button>
              ) : (
                <span className="column-name">{id}</span>
              )}
              <span className="column-type">
                {column?.type}
                {link !== null && (
                  <>
                    {' '}
                    <span aria-hidden="true">→</span> <span className="visually-hidden">refers to</span> {link.target}
                  </>
                )}
              </span>
              <span
                aria-hidden="true"
                className={`column-edge${grid.getColumn(id)?.getIsResizing() ? ' resizing' : ''}`}
                onMouseDown={headers.get(id)?.getResizeHandler()}
                onTouchStart={headers.get(id)?.getResizeHandler()}
                onDoubleClick={() => grid.getColumn(id)?.resetSize()}
              />
            </th>
          );
        })}
      </tr>
    </thead>
  );
}

function nextOrder(order: RowsChoice['order'], column: string): RowsChoice['order'] {
  if (order?.column !== column) return { column, isDescending: false };
  return order.isDescending ? null : { column, isDescending: true };
}
