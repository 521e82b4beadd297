/** What a cell shows: a value, null, the default of a new row, and the row that a foreign key leads to. */
import type { MouseEvent } from 'react';
import { describeCell } from './cell-values.ts';
import type { GridColumn } from './rows-query.ts';
import type { RowLink } from './table-abilities.ts';

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

export function CellContent({ column: { column, link }, value, linked, isActive, hrefOf, onFollow }: CellContentProps) {
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
