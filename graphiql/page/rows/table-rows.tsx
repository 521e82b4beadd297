/** The view of rows: a list of tables, and the rows of the chosen one. */
import { useGraphiQL } from '@graphiql/react';
import { useMemo, useState } from 'react';
import { readLocation, type ShownRows } from '../page-location.ts';
import { readTables } from '../read-tables.ts';
import { SchemaNotice } from '../schema-notice.tsx';
import { TableList } from '../table-list.tsx';
import { RowsOfTable } from './rows-of-table.tsx';

export function TableRows({ onOpenQuery }: { readonly onOpenQuery: (query: string, variables: string) => void }) {
  const schema = useGraphiQL((state) => state.schema);
  const tables = useMemo(() => (schema ? readTables(schema).filter(({ columns }) => columns.length > 0) : []), [schema]);
  /** What is shown, after what was left by following foreign keys. */
  const [trail, setTrail] = useState<readonly ShownRows[]>(() => [readLocation('rows') ?? { table: '' }]);
  const [isListOpen, setIsListOpen] = useState(false);
  const shown = trail.at(-1)!;
  const table = tables.find(({ type }) => type === shown.table) ?? tables[0];
  if (!schema) return <SchemaNotice />;
  if (table === undefined) return <p className="view-bar">The API of this role has no tables.</p>;
  const choose = (type: string): void => {
    setTrail([{ table: type }]);
    setIsListOpen(false);
  };
  const before = trail.at(-2);
  return (
    <div className={`rows-view${isListOpen ? ' list-open' : ''}`}>
      <TableList
        tables={tables.map(({ type, collection, description }) => ({ name: type, alias: collection, description }))}
        chosen={table.type}
        onChoose={choose}
      />
      <div className="rows-main">
        <SchemaNotice />
        <RowsOfTable
          key={`${trail.length} ${table.type}`}
          table={table}
          tables={tables}
          schema={schema}
          shown={shown.table === table.type ? shown : { table: table.type }}
          onOpenQuery={onOpenQuery}
          onFollow={(left, next) => setTrail([...trail.slice(0, -1), left, next])}
          title={
            <>
              {before !== undefined && (
                <button type="button" className="page-button" onClick={() => setTrail(trail.slice(0, -1))}>
                  <span aria-hidden="true">←</span> <span className="visually-hidden">Back to</span> {before.table}
                </button>
              )}
              <h2 className="rows-title">{table.type}</h2>
              <button
                type="button"
                className="page-button table-choice"
                aria-expanded={isListOpen}
                onClick={() => setIsListOpen(!isListOpen)}
              >
                {table.type} <span aria-hidden="true">▾</span>
              </button>
            </>
          }
        />
      </div>
    </div>
  );
}
