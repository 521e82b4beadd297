/** The rows of a table as a grid, with filters, order and pages; and the GraphQL query for them. */
import { useGraphiQL } from '@graphiql/react';
import { useEffect, useMemo, useState } from 'react';
import type { ViewProps } from './page-context.ts';
import { readLocation, type ShownRows, writeLocation } from './page-location.ts';
import { type ApiTable, readTables } from './read-tables.ts';
import { RowFilters } from './row-filters.tsx';
import { RowGrid } from './row-grid.tsx';
import { type RowsChoice, readAbilities, writeRowsQuery } from './rows-query.ts';
import { SchemaNotice } from './schema-notice.tsx';
import { useRows } from './use-rows.ts';

const firstPage: RowsChoice = { filters: [], order: null, after: null, pageSize: 20 };

export function TableRows({ onOpenQuery }: ViewProps) {
  const schema = useGraphiQL((state) => state.schema);
  const tables = useMemo(() => (schema ? readTables(schema).filter(({ columns }) => columns.length > 0) : []), [schema]);
  const [shown] = useState(() => readLocation('rows'));
  const [chosen, setChosen] = useState(shown?.table ?? '');
  const table = tables.find(({ type }) => type === chosen) ?? tables[0];
  if (!schema) return <SchemaNotice />;
  if (table === undefined) return <p className="view-bar">The API of this role has no tables.</p>;
  return (
    <div className="rows-view">
      <SchemaNotice />
      <div className="view-bar">
        <label>
          Table{' '}
          <select value={table.type} onChange={({ target }) => setChosen(target.value)}>
            {tables.map(({ type }) => (
              <option key={type}>{type}</option>
            ))}
          </select>
        </label>
      </div>
      <Rows key={table.type} table={table} shown={shown?.table === table.type ? shown : null} onOpenQuery={onOpenQuery} />
    </div>
  );
}

interface RowsProps {
  readonly table: ApiTable;
  /** What the URL says of it. */
  readonly shown: ShownRows | null;
  readonly onOpenQuery: (query: string, variables: string) => void;
}

function Rows({ table, shown, onOpenQuery }: RowsProps) {
  const schema = useGraphiQL((state) => state.schema)!;
  const [choice, setChoice] = useState(shown?.choice ?? firstPage);
  /** The cursors of the previous pages. */
  const [before, setBefore] = useState<readonly (string | null)[]>(shown?.before ?? []);
  useEffect(() => writeLocation('rows', { table: table.type, choice, before }), [table, choice, before]);
  const abilities = useMemo(() => readAbilities(schema, table), [schema, table]);
  const asked = useMemo(() => writeRowsQuery(table, choice, abilities), [table, choice, abilities]);
  const { rows, endCursor, isLoading, error } = useRows(table, asked);
  const change = (changed: Partial<RowsChoice>): void => {
    setBefore([]);
    setChoice({ ...choice, after: null, ...changed });
  };
  const goBack = (): void => {
    setChoice({ ...choice, after: before.at(-1) ?? null });
    setBefore(before.slice(0, -1));
  };
  const nextPage = (): void => {
    if (endCursor === null) return;
    setBefore([...before, choice.after]);
    setChoice({ ...choice, after: endCursor });
  };
  return (
    <>
      <RowFilters filters={choice.filters} abilities={abilities} onChange={(filters) => change({ filters })} />
      {error !== null && <pre className="explain-error view-bar">{error}</pre>}
      <RowGrid
        table={table}
        rows={rows}
        isLoading={isLoading}
        order={choice.order}
        orderable={abilities.orderable}
        onOrder={(order) => change({ order })}
      />
      <div className="view-bar">
        <button type="button" className="page-button" disabled={before.length === 0} onClick={goBack}>
          Previous
        </button>
        <span>Page {before.length + 1}</span>
        {/* Not `disabled`, which would take the keyboard's focus away each time a page loads. */}
        <button type="button" className="page-button" aria-disabled={endCursor === null} onClick={nextPage}>
          Next
        </button>
        <button type="button" className="page-button" onClick={() => onOpenQuery(asked.query, JSON.stringify(asked.variables, null, 2))}>
          Open in the editor
        </button>
      </div>
      <details className="rows-query">
        <summary>The GraphQL of this page</summary>
        <pre tabIndex={0}>{`${asked.query}\n${JSON.stringify(asked.variables, null, 2)}`}</pre>
      </details>
    </>
  );
}
