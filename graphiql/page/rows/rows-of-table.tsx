/** The rows of a table: filters, the grid, pages, the query behind them, and the changes that wait to be sent. */
import type { GraphQLSchema } from 'graphql';
import { type ReactNode, useEffect, useMemo, useState } from 'react';
import { roleOf } from '../page-caller.ts';
import { usePage } from '../page-context.ts';
import { hrefOfLocation, type ShownRows, writeLocation } from '../page-location.ts';
import type { ApiTable } from '../read-tables.ts';
import { ChangeBar } from './change-bar.tsx';
import { insertRow, listGridRows } from './changes.ts';
import { usePendingChanges } from './pending-changes.ts';
import { RowFilters } from './row-filters.tsx';
import { RowGrid } from './row-grid.tsx';
import { ColumnsMenu, ExportMenu } from './row-menus.tsx';
import { RowPages } from './row-pages.tsx';
import { filtersOfLink, listGridColumns, type Row, type RowsChoice, writeRowsQuery } from './rows-query.ts';
import { type RowIdentity, type RowLink, readAbilities } from './table-abilities.ts';
import { useRows } from './use-rows.ts';

const firstPage: RowsChoice = { filters: [], order: null, after: null, pageSize: 20 };

interface RowsOfTableProps {
  readonly table: ApiTable;
  readonly tables: readonly ApiTable[];
  readonly schema: GraphQLSchema;
  readonly shown: ShownRows;
  /** What stands before the buttons. */
  readonly title: ReactNode;
  readonly onOpenQuery: (query: string, variables: string) => void;
  /** Leaves what is shown now for another table. */
  readonly onFollow: (left: ShownRows, next: ShownRows) => void;
}

export function RowsOfTable({ table, tables, schema, shown, title, onOpenQuery, onFollow }: RowsOfTableProps) {
  const { choice, before, change, goBack, goOn } = useChoice(table, shown);
  const abilities = useMemo(() => readAbilities(schema, table, tables), [schema, table, tables]);
  const columns = useMemo(() => listGridColumns(table, abilities), [table, abilities]);
  const asked = useMemo(() => writeRowsQuery(table, choice, abilities), [table, choice, abilities]);
  const { rows, totalCount, endCursor, isLoading, error, reload } = useRows(table, asked);
  const pending = usePendingChanges(table.type);
  const gridRows = useMemo(
    () =>
      listGridRows(abilities.insert === null ? [] : pending.changes, rows ?? [], (row, index) => idOfRow(row, index, abilities.identity)),
    [pending.changes, rows, abilities],
  );
  const [said, setSaid] = useState('');
  const next = (link: RowLink, row: Row): ShownRows => ({
    table: link.target,
    choice: { ...firstPage, filters: filtersOfLink(link, row) },
  });
  const insert = (): void => pending.change((changes) => insertRow(changes, `new ${crypto.randomUUID()}`));
  const hidden = choice.hidden ?? [];
  return (
    <>
      <div className="rows-bar">
        {title}
        <Count rows={rows} totalCount={totalCount} isFiltered={choice.filters.length > 0} />
        <span className="rows-said" role="status">
          {said}
        </span>
        {abilities.insert !== null && (
          <button type="button" className="page-button" onClick={insert}>
            Insert a row
          </button>
        )}
        <ColumnsMenu columns={columns} hidden={hidden} onChange={(changed) => change({ hidden: changed }, true)} />
        <ExportMenu table={table} abilities={abilities} choice={choice} columns={columns} onSay={setSaid} />
        <button type="button" className="page-button" onClick={reload}>
          Reload
        </button>
      </div>
      <RowFilters table={table} filters={choice.filters} abilities={abilities} error={error} onChange={(filters) => change({ filters })} />
      <RowGrid
        table={table}
        abilities={abilities}
        columns={columns}
        hidden={hidden}
        rows={gridRows}
        pending={pending}
        isLoading={isLoading}
        order={choice.order}
        onOrder={(order) => change({ order })}
        hrefOf={(link, row) => hrefOfLocation({ view: 'Rows', rows: next(link, row) })}
        onFollow={(link, row) => onFollow({ table: table.type, choice, before }, next(link, row))}
      />
      {rows?.length === 0 && (
        <NoRows
          table={table}
          isFirstPage={before.length === 0}
          isFiltered={choice.filters.length > 0}
          onShowAll={() => change({ filters: [] })}
        />
      )}
      <ChangeBar table={table} abilities={abilities} pending={pending} onOpenQuery={onOpenQuery} onSent={reload} onSay={setSaid} />
      <RowPages
        page={before.length + 1}
        pageSize={choice.pageSize}
        rowCount={rows?.length ?? 0}
        hasMore={endCursor !== null}
        asked={asked}
        onBack={goBack}
        onNext={() => endCursor !== null && goOn(endCursor)}
        onPageSize={(pageSize) => change({ pageSize })}
        onOpenQuery={onOpenQuery}
      />
    </>
  );
}

/** What the user has chosen, and the cursors of the previous pages, in the URL too. */
function useChoice(table: ApiTable, shown: ShownRows) {
  const [choice, setChoice] = useState(shown.choice ?? firstPage);
  const [before, setBefore] = useState<readonly (string | null)[]>(shown.before ?? []);
  useEffect(() => writeLocation('rows', { table: table.type, choice, before }), [table, choice, before]);
  return {
    choice,
    before,
    /** Goes to the first page, unless `keepsPage`. */
    change: (changed: Partial<RowsChoice>, keepsPage = false): void => {
      if (!keepsPage) setBefore([]);
      setChoice({ ...choice, ...(!keepsPage && { after: null }), ...changed });
    },
    goBack: (): void => {
      setChoice({ ...choice, after: before.at(-1) ?? null });
      setBefore(before.slice(0, -1));
    },
    goOn: (endCursor: string): void => {
      setBefore([...before, choice.after]);
      setChoice({ ...choice, after: endCursor });
    },
  };
}

function idOfRow(row: Row, index: number, { field, key }: RowIdentity): string {
  if (field !== null) return String(row[field]);
  return key.length === 0 ? `row ${index}` : JSON.stringify(key.map((name) => row[name]));
}

function Count({
  rows,
  totalCount,
  isFiltered,
}: {
  readonly rows: readonly Row[] | null;
  readonly totalCount: number | null;
  readonly isFiltered: boolean;
}) {
  if (rows === null) return null;
  const counted = totalCount ?? rows.length;
  const name = counted === 1 ? 'row' : 'rows';
  return (
    <span
      className="rows-count"
      title={totalCount === null ? 'The directive totalCount in the comment of the table makes it count them.' : undefined}
    >
      {counted.toLocaleString('en')}{' '}
      {isFiltered && totalCount !== null ? `matching ${name}` : totalCount === null ? `${name} on this page` : name}
    </span>
  );
}

interface NoRowsProps {
  readonly table: ApiTable;
  readonly isFirstPage: boolean;
  readonly isFiltered: boolean;
  readonly onShowAll: () => void;
}

function NoRows({ table, isFirstPage, isFiltered, onShowAll }: NoRowsProps) {
  const { caller } = usePage();
  const role = roleOf(caller) ?? 'this caller';
  if (!isFirstPage) return <p className="no-rows">No more rows: this page is behind the last one.</p>;
  return (
    <div className="no-rows">
      <p>
        <strong>{isFiltered ? 'No rows match the filters' : `No rows of ${table.type}`}</strong> that {role} and its policies let it see.
      </p>
      <p>Row level security hides the others, if there are any: choose another role or user to compare.</p>
      {isFiltered && (
        <button type="button" className="page-button" onClick={onShowAll}>
          Remove the filters
        </button>
      )}
    </div>
  );
}
