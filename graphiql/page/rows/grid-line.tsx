/** A row of the grid: its number and what can be done with it, its cells, and what the server had against its change. */
import { CellContent } from './cell-content.tsx';
import { CellEditor } from './cell-editor.tsx';
import { deleteRow, dropChange, type GridRow, isChanged, type Problem, valueOf } from './changes.ts';
import type { TableChanges } from './pending-changes.ts';
import type { GridColumn, Row } from './rows-query.ts';
import type { RowLink, TableAbilities } from './table-abilities.ts';
import { type GridCursor, linkedRow } from './use-grid-cursor.ts';

interface GridLineProps {
  readonly abilities: TableAbilities;
  readonly shown: readonly GridColumn[];
  readonly index: number;
  readonly gridRow: GridRow;
  readonly rows: readonly GridRow[];
  readonly pending: TableChanges;
  readonly cursor: GridCursor;
  readonly hrefOf: (link: RowLink, row: Row) => string;
  readonly onFollow: (link: RowLink, row: Row) => void;
}

/** The width of the first column, in pixels. */
export const headWidth = 64;

export function GridLine(props: GridLineProps) {
  const { shown, index, gridRow, pending } = props;
  const problem = pending.problems.get(gridRow.id) ?? null;
  const { kind = 'none' } = gridRow.change ?? {};
  return (
    <>
      <tr aria-rowindex={index + 2} className={`row row-${kind}${problem === null ? '' : ' row-refused'}`}>
        <RowHead {...props} problem={problem} />
        {shown.map((column, place) => (
          <GridCell key={column.id} {...props} column={column} place={place + 1} problem={problem} />
        ))}
      </tr>
      {problem !== null && (
        <tr className="row-problem">
          <td colSpan={shown.length + 1}>
            <span id={problemId(gridRow)} role="alert" title={problem.message}>
              {problem.message}
            </span>
          </td>
        </tr>
      )}
    </>
  );
}

function problemId({ id }: GridRow): string {
  return `problem-of-${id}`;
}

function RowHead({ abilities, index, gridRow, rows, pending, cursor }: GridLineProps & { readonly problem: Problem | null }) {
  const inserted = rows.filter(({ row }) => row === null).length;
  const number = gridRow.row === null ? '+' : String(index + 1 - inserted);
  const name = gridRow.row === null ? `new row ${index + 1}` : `row ${number}`;
  const isDeleted = gridRow.change?.kind === 'delete';
  const place = cursor.cellProps(index + 1, 0);
  const undo = (): void => pending.change((changes) => dropChange(changes, gridRow.id));
  const action =
    gridRow.change !== null
      ? { label: `${isDeleted ? 'Keep' : 'Undo the changes of'} ${name}`, sign: '↶', act: undo }
      : abilities.delete !== null
        ? { label: `Delete ${name}`, sign: '×', act: () => pending.change((changes) => deleteRow(changes, gridRow)) }
        : null;
  return (
    <th scope="row" aria-colindex={1} className="row-head" {...(action === null && place)}>
      <span className="row-number">{number}</span>
      {action !== null && (
        <button {...place} type="button" className="row-action" aria-label={action.label} title={action.label} onClick={action.act}>
          {action.sign}
        </button>
      )}
    </th>
  );
}

interface GridCellProps extends GridLineProps {
  readonly column: GridColumn;
  readonly place: number;
  readonly problem: Problem | null;
}

function GridCell({ column, place, problem, index, gridRow, cursor, hrefOf, onFollow }: GridCellProps) {
  const value = column.column === null ? undefined : valueOf(gridRow, column.id);
  const isWrong = problem?.column === column.id;
  const edit = cursor.editOf(gridRow, column);
  const classes = [
    isChanged(gridRow, column.id) ? 'changed' : '',
    isWrong ? 'wrong' : '',
    value === null ? 'null' : '',
    edit === null ? '' : 'editing',
  ].filter((name) => name !== '');
  const cell = cursor.cellProps(index + 1, place);
  return (
    <td
      tabIndex={cell.tabIndex}
      data-cell={cell['data-cell']}
      // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: a cell of the grid can be edited.
      role="gridcell"
      className={classes.join(' ')}
      aria-colindex={place + 1}
      aria-readonly={!cursor.isEditable(gridRow, column)}
      aria-invalid={isWrong || undefined}
      aria-describedby={isWrong ? problemId(gridRow) : undefined}
    >
      {edit === null ? (
        <CellContent
          column={column}
          value={value}
          linked={linkedRow(gridRow, column)}
          isActive={cell.tabIndex === 0}
          hrefOf={hrefOf}
          onFollow={onFollow}
        />
      ) : (
        <CellEditor key={gridRow.id} {...edit} />
      )}
    </td>
  );
}
