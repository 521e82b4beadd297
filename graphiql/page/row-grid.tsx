/** Rows in an HTML table; a click on a column's name sorts by it, a second one reverses the order. */
import type { ApiTable } from './read-tables.ts';
import type { RowsChoice } from './rows-query.ts';
import type { Row } from './use-rows.ts';

interface RowGridProps {
  readonly table: ApiTable;
  /** Null until they have arrived. */
  readonly rows: readonly Row[] | null;
  /** Whether other rows are about to arrive. */
  readonly isLoading: boolean;
  readonly order: RowsChoice['order'];
  readonly orderable: ReadonlySet<string>;
  readonly onOrder: (order: RowsChoice['order']) => void;
}

export function RowGrid({ table, rows, isLoading, order, orderable, onOrder }: RowGridProps) {
  return (
    <section className="row-grid" aria-label={`Rows of ${table.type}`} aria-busy={isLoading} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {table.columns.map(({ name }) => (
              <th key={name} scope="col" aria-sort={order?.column !== name ? 'none' : order.isDescending ? 'descending' : 'ascending'}>
                {orderable.has(name) ? (
                  <button type="button" onClick={() => onOrder(nextOrder(order, name))}>
                    {name} <span aria-hidden="true">{order?.column !== name ? '' : order.isDescending ? '▾' : '▴'}</span>
                  </button>
                ) : (
                  name
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows?.map((row, index) => (
            <tr key={index}>
              {table.columns.map(({ name }) => (
                <td key={name} className={row[name] === null ? 'null' : ''}>
                  {describe(row[name])}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows?.length === 0 && <p>No rows. Row level security shows a role only the rows that its policies allow.</p>}
    </section>
  );
}

function nextOrder(order: RowsChoice['order'], column: string): RowsChoice['order'] {
  if (order?.column !== column) return { column, isDescending: false };
  return order.isDescending ? null : { column, isDescending: true };
}

function describe(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? null);
}
