/** What stands above the diagram: search, limits and zoom; and what can be done with the table that is chosen in it. */
import { useEffect, useRef } from 'react';
import { type DiagramChoice, farthest, listLimits, type TableOrigin } from './choose-tables.ts';
import type { ViewName } from './page-location.ts';
import type { ApiTable } from './read-tables.ts';
import type { DrawingControls } from './schema-diagram.tsx';

interface DiagramBarProps extends DrawingControls {
  readonly search: string;
  readonly onSearch: (text: string) => void;
  /** Chooses the table that the search means, and returns its row type. */
  readonly onFind: () => string | null;
  readonly all: readonly ApiTable[];
  readonly count: number;
  readonly origins: ReadonlyMap<string, TableOrigin>;
  readonly choice: DiagramChoice;
  readonly onChange: (part: Partial<DiagramChoice>) => void;
  readonly showsColumns: boolean;
  readonly onColumns: (shows: boolean) => void;
}

export function DiagramBar(props: DiagramBarProps) {
  const { search, onSearch, onFind, all, count, origins, choice, onChange, showsColumns, onColumns, onZoom, onFit, onCentre } = props;
  const limits = listLimits(all, origins);
  const find = (): void => {
    const found = onFind();
    if (found !== null) onCentre(found);
  };
  return (
    <search className="view-bar">
      <input
        type="search"
        aria-label="Find a table or column"
        placeholder="Find a table or column"
        value={search}
        onChange={({ target }) => onSearch(target.value)}
        onKeyDown={({ key }) => key === 'Enter' && find()}
      />
      {limits.length > 0 && (
        <select
          aria-label="Which tables"
          className="page-button"
          value={choice.only ?? ''}
          onChange={({ target }) => onChange({ only: target.value === '' ? undefined : target.value })}
        >
          <option value="">all tables</option>
          {limits.map((limit) => (
            <option key={limit}>{limit}</option>
          ))}
        </select>
      )}
      {choice.table !== undefined && (
        <label>
          Around {choice.table}, up to{' '}
          <select
            aria-label="Distance"
            className="page-button"
            value={choice.distance ?? 1}
            onChange={({ target }) => onChange({ distance: Number(target.value) })}
          >
            {Array.from({ length: farthest }, (_, place) => (
              <option key={place} value={place + 1}>
                {place === 0 ? '1 relation away' : `${place + 1} relations away`}
              </option>
            ))}
          </select>
        </label>
      )}
      {(choice.table !== undefined || choice.only !== undefined) && (
        <button type="button" className="page-button" onClick={() => onChange({ table: undefined, distance: undefined, only: undefined })}>
          All tables
        </button>
      )}
      <label>
        <input type="checkbox" checked={showsColumns} onChange={({ target }) => onColumns(target.checked)} /> Columns
      </label>
      <button type="button" className="page-button" aria-label="Smaller" onClick={() => onZoom(0.8)}>
        −
      </button>
      <button type="button" className="page-button" aria-label="Larger" onClick={() => onZoom(1.25)}>
        +
      </button>
      <button type="button" className="page-button" onClick={onFit}>
        Fit
      </button>
      <span role="status">{describeCount(count, all.length)}</span>
    </search>
  );
}

function describeCount(count: number, all: number): string {
  if (count !== all) return `${count} of ${all} tables`;
  return all === 1 ? '1 table' : `${all} tables`;
}

interface ChosenTableProps {
  readonly table: ApiTable;
  readonly choice: DiagramChoice;
  readonly onChange: (part: Partial<DiagramChoice>) => void;
  readonly onQuery: () => void;
  readonly onShow: (view: ViewName) => void;
  readonly onClose: () => void;
}

export function ChosenTable({ table: { type }, choice, onChange, onQuery, onShow, onClose }: ChosenTableProps) {
  const first = useRef<HTMLButtonElement>(null);
  const isMiddle = choice.table === type;
  // Whoever chose a table by a key goes on with what can be done with it.
  // biome-ignore lint/correctness/useExhaustiveDependencies: for each table anew.
  useEffect(() => {
    if (document.activeElement?.closest('.table-box') !== null) first.current?.focus();
  }, [type]);
  return (
    <section className="view-bar chosen-table" aria-label={`The table ${type}`}>
      <strong>{type}</strong>
      <button ref={first} type="button" className="page-button" onClick={onQuery}>
        Write a query
      </button>
      <button type="button" className="page-button" onClick={() => onShow('Rows')}>
        Open in Rows
      </button>
      <button type="button" className="page-button" onClick={() => onShow('Policies')}>
        Open in Policies
      </button>
      {!isMiddle && (
        <button type="button" className="page-button" onClick={() => onChange({ table: type, distance: choice.distance ?? 1 })}>
          Show its neighbours
        </button>
      )}
      <button type="button" className="page-button" aria-label="Close" onClick={onClose}>
        ×
      </button>
    </section>
  );
}
