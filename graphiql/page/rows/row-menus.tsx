/** The menus of the grid: which columns are shown, and the export of rows as a file. */
import { type ReactNode, useId, useRef, useState } from 'react';
import { usePage } from '../page-context.ts';
import type { ApiTable } from '../read-tables.ts';
import { fetchAllRows, mostExported, writeCsv, writeJson } from './export-rows.ts';
import type { GridColumn, RowsChoice } from './rows-query.ts';
import type { TableAbilities } from './table-abilities.ts';

interface ColumnsMenuProps {
  readonly columns: readonly GridColumn[];
  readonly hidden: readonly string[];
  readonly onChange: (hidden: readonly string[]) => void;
}

export function ColumnsMenu({ columns, hidden, onChange }: ColumnsMenuProps) {
  const known = hidden.filter((id) => columns.some((column) => column.id === id));
  const toggle = (id: string): void => onChange(known.includes(id) ? known.filter((each) => each !== id) : [...known, id]);
  return (
    <PopoverMenu label={known.length === 0 ? 'Columns' : `Columns (${known.length} hidden)`}>
      {columns.map(({ id, column, link }) => {
        const isShown = !known.includes(id);
        return (
          <label key={id} className="row-menu-line">
            <input
              type="checkbox"
              checked={isShown}
              disabled={isShown && known.length === columns.length - 1}
              onChange={() => toggle(id)}
            />
            <span>{id}</span>
            <span className="row-menu-type">{column?.type ?? `→ ${link?.target}`}</span>
          </label>
        );
      })}
      <button type="button" className="page-button" disabled={known.length === 0} onClick={() => onChange([])}>
        Show all
      </button>
    </PopoverMenu>
  );
}

interface ExportMenuProps {
  readonly table: ApiTable;
  readonly abilities: TableAbilities;
  readonly choice: RowsChoice;
  readonly columns: readonly GridColumn[];
  /** What came of it, for everybody to see and hear. */
  readonly onSay: (text: string) => void;
}

export function ExportMenu({ table, abilities, choice, columns, onSay }: ExportMenuProps) {
  const { ask } = usePage();
  const [isForSpreadsheets, setIsForSpreadsheets] = useState(true);
  const [isBusy, setIsBusy] = useState(false);
  const limit = mostExported.toLocaleString('en');
  const save = async (format: 'csv' | 'json'): Promise<void> => {
    setIsBusy(true);
    try {
      const onProgress = (count: number): void => onSay(`Reading: ${count.toLocaleString('en')} rows …`);
      const { rows, isCut } = await fetchAllRows(ask, table, choice, abilities, { limit: mostExported, onProgress });
      const exported = columns.flatMap(({ id, column }) => (column === null || choice.hidden?.includes(id) ? [] : [column]));
      const text = format === 'csv' ? writeCsv(exported, rows, isForSpreadsheets) : writeJson(exported, rows);
      download(`${table.type}.${format}`, text, format === 'csv' ? 'text/csv' : 'application/json');
      const count = rows.length === 1 ? '1 row' : `${rows.length.toLocaleString('en')} rows`;
      onSay(isCut ? `Exported the first ${limit} rows; there are more. Filter to export the others.` : `Exported ${count}.`);
    } catch (error) {
      onSay(`The export failed: ${(error as Error).message}`);
    } finally {
      setIsBusy(false);
    }
  };
  return (
    <PopoverMenu label="Export">
      <p>All pages, with the filters, the order and the columns that are shown; at most {limit} rows.</p>
      <label className="row-menu-line">
        <input type="checkbox" checked={isForSpreadsheets} onChange={({ target }) => setIsForSpreadsheets(target.checked)} />
        <span>CSV for spreadsheets: a text that would be run as a formula gets an apostrophe in front</span>
      </label>
      <div className="row-menu-buttons">
        <button type="button" className="page-button" disabled={isBusy} onClick={() => void save('csv')}>
          Export as CSV
        </button>
        <button type="button" className="page-button" disabled={isBusy} onClick={() => void save('json')}>
          Export as JSON
        </button>
      </div>
    </PopoverMenu>
  );
}

function download(name: string, text: string, type: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** A button that opens a small panel below it; Escape and a click elsewhere close it. */
interface PopoverMenuProps {
  readonly label: string;
  readonly children: ReactNode;
}

/** In pixels. */
const gap = 4;

function PopoverMenu({ label, children }: PopoverMenuProps) {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const panel = useRef<HTMLDivElement>(null);
  const place = (): void => {
    const { bottom, right } = button.current!.getBoundingClientRect();
    const { style, offsetWidth } = panel.current!;
    style.top = `${bottom + gap}px`;
    style.left = `${Math.max(gap, right - offsetWidth)}px`;
    style.maxHeight = `calc(100vh - ${bottom + 4 * gap}px)`;
  };
  return (
    <>
      <button ref={button} type="button" className="page-button" popoverTarget={id}>
        {label} <span aria-hidden="true">▾</span>
      </button>
      <div
        ref={panel}
        id={id}
        popover="auto"
        role="dialog"
        aria-label={label}
        className="row-menu"
        onToggle={({ newState }) => newState === 'open' && place()}
      >
        {children}
      </div>
    </>
  );
}
