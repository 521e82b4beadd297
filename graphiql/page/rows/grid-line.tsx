/** A row of the grid: its number and what can be done with it, its cells, and what the server had against its change. */
import { type MouseEvent, memo } from 'react';
import { CellEditor, type CellEditorProps } from './cell-editor.tsx';
import { describeCell } from './cell-values.ts';
import { deleteRow, dropChange, type GridRow, isChanged, type Problem, valueOf } from './changes.ts';
import type { TableChanges } from './pending-changes.ts';
import type { GridColumn, Row } from './rows-query.ts';
import type { RowLink, TableAbilities } from './table-abilities.ts';
import { isEditable, linkedRow } from './use-grid-cursor.ts';
import { cellProps } from './use-grid-focus.ts';

interface GridLineProps {
  readonly abilities: TableAbilities;
  readonly shown: readonly GridColumn[];
  readonly index: number;
  /** Null for a row that is still to be inserted. */
  readonly number: number | null;
  readonly gridRow: GridRow;
  readonly problem: Problem | null;
  readonly change: TableChanges['change'];
  /** The column that can be reached by Tab, if it is in this row; the first has what can be done with the row. */
  readonly activeColumn: number | null;
  /** The cell of this row that is edited in place. */
  readonly edit: CellEditorProps | null;
  readonly hrefOf: (link: RowLink, row: Row) => string;
  readonly onFollow: (link: RowLink, row: Row) => void;
}

/** The width of the first column, in pixels. */
export const headWidth = 64;

/** A move in the grid renders the row that is left and the one that is reached. */
export const GridLine = memo(function GridLine(props: GridLineProps) {
  const { shown, index, gridRow, problem } = props;
  const { kind = 'none' } = gridRow.change ?? {};
  return (
    <>
      <tr aria-rowindex={index + 2} className={`row row-${kind}${problem === null ? '' : ' row-refused'}`}>
        <RowHead {...props} />
        {shown.map((column, place) => (
          <GridCell key={column.id} {...props} column={column} place={place + 1} />
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
});

function problemId({ id }: GridRow): string {
  return `problem-of-${id}`;
}

function RowHead({ abilities, index, number, gridRow, change, activeColumn }: GridLineProps) {
  const name = number === null ? `new row ${index + 1}` : `row ${number}`;
  const isDeleted = gridRow.change?.kind === 'delete';
  const place = cellProps(index + 1, 0, activeColumn === 0);
  const undo = (): void => change((changes) => dropChange(changes, gridRow.id));
  const action =
    gridRow.change !== null
      ? { label: `${isDeleted ? 'Keep' : 'Undo the changes of'} ${name}`, sign: '↶', act: undo }
      : abilities.delete !== null
        ? { label: `Delete ${name}`, sign: '×', act: () => change((changes) => deleteRow(changes, gridRow)) }
        : null;
  return (
    <th scope="row" aria-colindex={1} className="row-head" {...(action === null && place)}>
      <span className="row-number">{number ?? '+'}</span>
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
}

function GridCell({ abilities, column, place, problem, index, gridRow, activeColumn, edit, hrefOf, onFollow }: GridCellProps) {
  const value = column.column === null ? undefined : valueOf(gridRow, column.id);
  const isWrong = problem?.column === column.id;
  const isEdited = edit?.column.name === column.id;
  const classes = [
    isChanged(gridRow, column.id) ? 'changed' : '',
    isWrong ? 'wrong' : '',
    value === null ? 'null' : '',
    isEdited ? 'editing' : '',
  ].filter((name) => name !== '');
  const cell = cellProps(index + 1, place, activeColumn === place);
  return (
    <td
      tabIndex={cell.tabIndex}
      data-cell={cell['data-cell']}
      // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: a cell of the grid can be edited.
      role="gridcell"
      className={classes.join(' ')}
      aria-colindex={place + 1}
      aria-readonly={!isEditable(abilities, gridRow, column)}
      aria-invalid={isWrong || undefined}
      aria-describedby={isWrong ? problemId(gridRow) : undefined}
    >
      {!isEdited ? (
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

/** What a cell shows: a value, null, the default of a new row, and the row that a foreign key leads to. */

/** Longer texts are cut in the grid; they can be opened. */
const mostCharacters = 200;

interface CellContentProps {
  readonly column: GridColumn;
  /** Undefined is the default of a new row. */
  readonly value: unknown;
  /** The row that the foreign key leads to; null if there is none, or it is not known. */
  readonly linked: Readonly<Record<string, unknown>> | null;
  readonly isActive: boolean;
  readonly hrefOf: (link: RowLink, row: Readonly<Record<string, unknown>>) => string;
  readonly onFollow: (link: RowLink, row: Readonly<Record<string, unknown>>) => void;
}

function CellContent({ column: { column, link }, value, linked, isActive, hrefOf, onFollow }: CellContentProps) {
  const follow = (event: MouseEvent): void => {
    // Another tab, if the user wants one.
    if (event.ctrlKey || event.metaKey || event.shiftKey || link === null || linked === null) return;
    event.preventDefault();
    onFollow(link, linked);
  };
  return (
    <>
      {column !== null && <Value value={value} leaf={column.leaf} isList={column.isList} />}
      {column === null && linked === null && <span className="cell-none">null</span>}
      {link !== null && linked !== null && (
        <a
          className="cell-link"
          href={hrefOf(link, linked)}
          tabIndex={isActive ? 0 : -1}
          onClick={follow}
          aria-label={`${describeLinked(link, linked)}: open in ${link.target}`}
        >
          {describeLinked(link, linked)}
        </a>
      )}
    </>
  );
}

function describeLinked({ label, identity, target }: RowLink, row: Readonly<Record<string, unknown>>): string {
  const named = label === null ? null : row[label];
  if (typeof named === 'string' && named !== '') return named.slice(0, mostCharacters);
  return identity.key.length === 0 ? target : `${target} ${identity.key.map((name) => describeCell(row[name])).join(', ')}`;
}

function Value({ value, leaf, isList }: { readonly value: unknown; readonly leaf: string; readonly isList: boolean }) {
  if (value === undefined) return <span className="cell-none">default</span>;
  if (value === null) return <span className="cell-none">null</span>;
  if (value === '') return <span className="cell-none">empty text</span>;
  if (Array.isArray(value) && isList) {
    if (value.length === 0) return <span className="cell-none">empty list</span>;
    return value.map((each, index) => (
      <span key={index} className="cell-element">
        {describeCell(each)}
      </span>
    ));
  }
  const text = describeCell(value);
  const cut = text.length > mostCharacters ? `${text.slice(0, mostCharacters)}…` : text;
  return <span className={`cell-value cell-${leaf === 'Boolean' ? String(value) : kindOf(leaf)}`}>{cut}</span>;
}

function kindOf(leaf: string): string {
  if (['Int', 'Float', 'BigInt', 'BigFloat'].includes(leaf)) return 'number';
  return leaf === 'JSON' ? 'json' : 'text';
}
