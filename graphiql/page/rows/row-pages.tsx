/** The foot of the grid: pages, their size, and the GraphQL of the one that is shown. */
import type { RowsQuery } from './rows-query.ts';

interface RowPagesProps {
  readonly page: number;
  readonly pageSize: number;
  /** How many rows have arrived. */
  readonly rowCount: number;
  readonly hasMore: boolean;
  readonly asked: RowsQuery;
  readonly onBack: () => void;
  readonly onNext: () => void;
  readonly onPageSize: (pageSize: number) => void;
  readonly onOpenQuery: (query: string, variables: string) => void;
}

const pageSizes = [20, 50, 100, 500, 1000];

export function RowPages({ page, pageSize, rowCount, hasMore, asked, onBack, onNext, onPageSize, onOpenQuery }: RowPagesProps) {
  const sizes = pageSizes.includes(pageSize) ? pageSizes : [...pageSizes, pageSize];
  return (
    <footer className="row-pages">
      <div className="rows-bar">
        <button type="button" className="page-button" disabled={page === 1} onClick={onBack}>
          Previous
        </button>
        <span>Page {page}</span>
        {/* Not `disabled`, which would take the keyboard's focus away each time a page loads. */}
        <button type="button" className="page-button" aria-disabled={!hasMore} onClick={onNext}>
          Next
        </button>
        <label className="page-size">
          <select value={pageSize} onChange={({ target }) => onPageSize(Number(target.value))}>
            {sizes.map((size) => (
              <option key={size} value={size}>
                {size}
              </option>
            ))}
          </select>{' '}
          rows a page
        </label>
        {hasMore && rowCount < pageSize && <span className="rows-count">The table gives at most {rowCount} a page (max_rows).</span>}
        <button type="button" className="page-button" onClick={() => onOpenQuery(asked.query, JSON.stringify(asked.variables, null, 2))}>
          Open in the editor
        </button>
      </div>
      <details className="rows-query">
        <summary>The GraphQL of this page</summary>
        <pre tabIndex={0}>{`${asked.query}\n${JSON.stringify(asked.variables, null, 2)}`}</pre>
      </details>
    </footer>
  );
}
