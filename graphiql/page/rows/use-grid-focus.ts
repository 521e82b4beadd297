/** Which cell of the grid can be reached by Tab, and has the focus if the grid has it. */
import { type FocusEvent, type RefObject, useEffect, useState } from 'react';
import type { CellPlace } from './move-in-grid.ts';

export interface GridFocus {
  readonly place: CellPlace;
  /** Moves there, at most to the edge, and gives the cell the focus. */
  readonly go: (place: CellPlace) => void;
  /** Follows a focus that came by other means, such as a click or a screen reader. */
  readonly onFocus: (event: FocusEvent) => void;
}

/** What a cell has, or the button that is all there is in it. One of them is a stop of Tab. */
export function cellProps(row: number, column: number, isActive: boolean): { readonly tabIndex: number; readonly 'data-cell': string } {
  return { tabIndex: isActive ? 0 : -1, 'data-cell': `${row} ${column}` };
}

/** `size` counts the header as row 0. */
export function useGridFocus(size: CellPlace, scrolled: RefObject<HTMLElement | null>, scrollTo: (row: number) => void): GridFocus {
  const [active, setActive] = useState<CellPlace>({ row: 1, column: 1 });
  /** A cell that is to get the focus once it is rendered. */
  const [wanted, setWanted] = useState<CellPlace | null>(null);
  const within = ({ row, column }: CellPlace): CellPlace => ({
    row: Math.min(size.row - 1, Math.max(0, row)),
    column: Math.min(size.column - 1, Math.max(0, column)),
  });
  const place = within(active);
  useEffect(() => {
    if (wanted === null) return;
    const cell = scrolled.current?.querySelector<HTMLElement>(`[data-cell="${wanted.row} ${wanted.column}"]`);
    if (cell == null) {
      if (wanted.row > 0) scrollTo(wanted.row - 1);
      return;
    }
    setWanted(null);
    cell.focus({ preventScroll: true });
    // Below the header, and beside the first column.
    cell.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  });
  return {
    place,
    onFocus: ({ target }) => {
      const [row, column] = target.closest<HTMLElement>('[data-cell]')?.dataset.cell?.split(' ').map(Number) ?? [];
      if (row !== undefined && column !== undefined && (row !== place.row || column !== place.column)) setActive({ row, column });
    },
    go: (to) => {
      setActive(within(to));
      setWanted(within(to));
    },
  };
}
