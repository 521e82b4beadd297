/** What a key does in the grid: it moves from cell to cell, or opens one. Row 0 is the header. */

export interface CellPlace {
  readonly row: number;
  readonly column: number;
}

interface Key {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
}

export type GridMove =
  | { readonly kind: 'go'; readonly place: CellPlace }
  /** Edit the cell; with the text that was typed, or its own. */
  | { readonly kind: 'edit'; readonly text: string | null }
  /** Clear the cell, delete the row, … */
  | { readonly kind: 'clear' | 'delete' | 'undo' | 'copy' | 'follow' };

/** How many rows a page of the grid has, for PageUp and PageDown. */
const rowsOfPage = 10;

/** Null if the key does nothing here. `size` counts the header as a row. */
export function moveInGrid(place: CellPlace, size: CellPlace, pressed: Key): GridMove | null {
  const { key, altKey } = pressed;
  const isCommand = pressed.ctrlKey || pressed.metaKey;
  if (altKey) return null;
  const go = (row: number, column: number): GridMove => ({
    kind: 'go',
    place: { row: Math.min(size.row - 1, Math.max(0, row)), column: Math.min(size.column - 1, Math.max(0, column)) },
  });
  const { row, column } = place;
  switch (key) {
    case 'ArrowDown':
      return go(isCommand ? size.row : row + 1, column);
    case 'ArrowUp':
      return go(isCommand ? 0 : row - 1, column);
    case 'ArrowRight':
      return go(row, isCommand ? size.column : column + 1);
    case 'ArrowLeft':
      return go(row, isCommand ? 0 : column - 1);
    case 'Home':
      return go(isCommand ? 0 : row, 0);
    case 'End':
      return go(isCommand ? size.row : row, size.column);
    case 'PageDown':
      return go(row + rowsOfPage, column);
    case 'PageUp':
      return go(Math.max(row === 0 ? 0 : 1, row - rowsOfPage), column);
    default:
      return row === 0 ? null : actInCell(pressed, isCommand);
  }
}

function actInCell({ key }: Key, isCommand: boolean): GridMove | null {
  if (isCommand) {
    if (key === 'Enter') return { kind: 'follow' };
    if (key === 'Delete' || key === 'Backspace') return { kind: 'delete' };
    return key === 'z' ? { kind: 'undo' } : key === 'c' ? { kind: 'copy' } : null;
  }
  if (key === 'Delete' || key === 'Backspace') return { kind: 'clear' };
  if (key === 'Enter' || key === 'F2') return { kind: 'edit', text: null };
  return key.length === 1 && key !== ' ' ? { kind: 'edit', text: key } : null;
}
