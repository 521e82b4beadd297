/** What keys and clicks do in the grid: move, edit, clear, delete, follow a foreign key, copy, undo. */
import { type KeyboardEvent, type MouseEvent, type RefObject, useEffect, useRef, useState } from 'react';
import type { ApiColumn } from '../read-tables.ts';
import { type AfterEdit, type CellEditorProps, needsDialog } from './cell-editor.tsx';
import { describeCell } from './cell-values.ts';
import { changeCell, deleteRow, type GridRow, valueOf } from './changes.ts';
import { type GridMove, moveInGrid } from './move-in-grid.ts';
import type { TableChanges } from './pending-changes.ts';
import type { GridColumn, Row } from './rows-query.ts';
import type { RowLink, TableAbilities } from './table-abilities.ts';
import { type GridFocus, useGridFocus } from './use-grid-focus.ts';

interface CursorProps {
  readonly rows: readonly GridRow[];
  readonly abilities: TableAbilities;
  readonly pending: TableChanges;
  readonly onFollow: (link: RowLink, row: Row) => void;
}

export interface GridCursor extends Pick<GridFocus, 'place' | 'onFocus'> {
  /** What a row of the grid has to know: whether it is in it, and edited. */
  readonly lineProps: (row: number) => { readonly activeColumn: number | null; readonly edit: CellEditorProps | null };
  /** The value that is open in a dialog. */
  readonly opened: OpenedValue | null;
  readonly onClick: (event: MouseEvent) => void;
  readonly onKeyDown: (event: KeyboardEvent) => void;
}

export interface OpenedValue {
  readonly editor: CellEditorProps;
  readonly isEditable: boolean;
}

interface Edit {
  /** The ids of the row and the column. */
  readonly row: string;
  readonly column: string;
  readonly typed: string | null;
  readonly isInDialog: boolean;
}

const steps: Readonly<Record<AfterEdit, { readonly row: number; readonly column: number }>> = {
  stay: { row: 0, column: 0 },
  down: { row: 1, column: 0 },
  right: { row: 0, column: 1 },
  left: { row: 0, column: -1 },
};

export function useGridCursor(
  props: CursorProps,
  shown: readonly GridColumn[],
  scrolled: RefObject<HTMLElement | null>,
  scrollTo: (row: number) => void,
): GridCursor {
  const { rows, abilities } = props;
  const size = { row: rows.length + 1, column: shown.length + 1 };
  const focus = useGridFocus(size, scrolled, scrollTo);
  const { place, go } = focus;
  const [edit, setEdit] = useState<Edit | null>(null);
  const [lastClick, setLastClick] = useState<HTMLElement | null>(null);
  const cellAt = ({ row, column }: typeof place) => ({ row: rows[row - 1], column: shown[column - 1] });
  const open = (at: typeof place, typed: string | null): void => {
    const { row, column } = cellAt(at);
    if (row === undefined || column === undefined) return;
    const canEdit = isEditable(abilities, row, column);
    const isInDialog = column.column !== null && needsDialog(column.column, valueOf(row, column.id));
    const linked = linkedRow(row, column);
    if (!canEdit && typed === null && linked !== null && column.link !== null) props.onFollow(column.link, linked);
    else if (canEdit || (isInDialog && typed === null))
      setEdit({ row: row.id, column: column.id, typed: isInDialog ? null : typed, isInDialog });
  };
  useNewRow(rows, () => {
    const first = shown.findIndex((column) => isEditable(abilities, rows[0]!, column));
    go({ row: 1, column: 1 + Math.max(0, first) });
  });
  const { editorOf, act } = useCellActs(props, focus, () => setEdit(null));
  const opened = rows.find(({ id }) => id === edit?.row);
  const openedColumn = shown.find(({ id }) => id === edit?.column);
  return {
    place,
    onFocus: focus.onFocus,
    lineProps: (row) => ({
      activeColumn: row === place.row ? place.column : null,
      edit:
        opened !== undefined && rows[row - 1] === opened && openedColumn !== undefined && !edit?.isInDialog
          ? editorOf(opened, openedColumn, edit?.typed ?? null)
          : null,
    }),
    opened: openedOf(edit, opened, openedColumn, (row, column) => {
      const editor = editorOf(row, column, null);
      return editor && { editor, isEditable: isEditable(abilities, row, column) };
    }),
    onClick: ({ target }) => {
      if (!(target instanceof Element) || target.closest('a, button, input, select, .cell-editor') !== null) return;
      const cell = target.closest<HTMLElement>('[data-cell]');
      const [row, column] = cell?.dataset.cell?.split(' ').map(Number) ?? [];
      if (row === undefined || column === undefined) return;
      // A click on the cell where one is already opens it.
      if (lastClick === cell && row === place.row && column === place.column) open(place, null);
      else go({ row, column });
      setLastClick(cell);
    },
    onKeyDown: (event) => {
      const { target } = event;
      if (edit !== null || (target instanceof HTMLAnchorElement && event.key === 'Enter')) return;
      const move = moveInGrid(place, size, event);
      // Keys that press a button are its own.
      if (move === null || (move.kind === 'edit' && target instanceof HTMLButtonElement)) return;
      event.preventDefault();
      if (move.kind === 'go') go(move.place);
      else if (move.kind === 'edit') open(place, move.text);
      else act(move.kind, cellAt(place).row, cellAt(place).column);
    },
  };
}

/** Calls `go` once there is another new row at the top; not for those that were there when the grid was first shown. */
function useNewRow(rows: readonly GridRow[], go: () => void): void {
  const known = useRef(rows.filter(({ row }) => row === null).map(({ id }) => id));
  const first = rows[0];
  useEffect(() => {
    if (first === undefined || first.row !== null || known.current.includes(first.id)) return;
    known.current = [...known.current, first.id];
    go();
  });
}

function openedOf<Opened>(
  edit: Edit | null,
  row: GridRow | undefined,
  column: GridColumn | undefined,
  read: (row: GridRow, column: GridColumn) => Opened | null,
): Opened | null {
  return edit?.isInDialog && row !== undefined && column !== undefined ? read(row, column) : null;
}

/** The column of the input that sets the cell; null if the role may not write it. */
function inputOf({ insert, update }: TableAbilities, { row }: GridRow, { id }: GridColumn): ApiColumn | null {
  return (row === null ? insert : update)?.inputs.get(id) ?? null;
}

export function isEditable(abilities: TableAbilities, row: GridRow, column: GridColumn): boolean {
  return row.change?.kind !== 'delete' && inputOf(abilities, row, column) !== null;
}

/** The row that was read with it; not of a foreign key that has another value since. */
export function linkedRow({ row, change }: GridRow, { id, link }: GridColumn): Row | null {
  if (link === null || row === null || (change?.kind === 'update' && Object.hasOwn(change.values, id))) return null;
  const linked = row[link.field];
  return typeof linked === 'object' && linked !== null ? (linked as Row) : null;
}

function useCellActs({ abilities, pending, onFollow }: CursorProps, { place, go }: GridFocus, onEnd: () => void) {
  const keep = (row: GridRow, column: string, value: unknown, after: AfterEdit): void => {
    onEnd();
    pending.change((changes) => changeCell(changes, row, column, value));
    go({ row: place.row + steps[after].row, column: place.column + steps[after].column });
  };
  const editorOf = (row: GridRow, column: GridColumn, typed: string | null): CellEditorProps | null =>
    column.column && {
      // The labels of an input are those that can be written.
      column: inputOf(abilities, row, column) ?? column.column,
      value: valueOf(row, column.id),
      typed,
      hasDefault: row.row === null,
      onKeep: (value, after) => keep(row, column.id, value, after),
      onCancel: () => {
        onEnd();
        go(place);
      },
    };
  const act = (kind: Exclude<GridMove['kind'], 'go' | 'edit'>, row: GridRow | undefined, column: GridColumn | undefined): void => {
    if (kind === 'undo') return pending.undo();
    if (row === undefined) return;
    if (kind === 'delete' && (row.row === null || abilities.delete !== null)) return pending.change((changes) => deleteRow(changes, row));
    if (column === undefined) return;
    const linked = linkedRow(row, column);
    if (kind === 'follow' && linked !== null && column.link !== null) onFollow(column.link, linked);
    if (kind === 'copy') void navigator.clipboard.writeText(describeCell(valueOf(row, column.id))).catch(() => undefined);
    const input = inputOf(abilities, row, column);
    if (kind !== 'clear' || input === null || row.change?.kind === 'delete') return;
    if (row.row === null) pending.change((changes) => changeCell(changes, row, column.id, undefined));
    else if (!input.isRequired) pending.change((changes) => changeCell(changes, row, column.id, null));
  };
  return { editorOf, act };
}
