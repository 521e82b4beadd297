/** The mark of rowgraph: rows of a table that lead to the node of a graph. The icon of the page (`graphiql-page.ts`) has the same shape. */
export function Mark({ size }: { readonly size: number }) {
  return (
    <svg className="mark" viewBox="0 0 32 32" width={size} height={size} fill="none" aria-hidden="true">
      <path d="M3 8h10M3 16h8M3 24h10" stroke="currentColor" strokeWidth="3.4" strokeLinecap="round" />
      <path d="M13 8c5 0 6 3 8 5.4M11 16h8M13 24c5 0 6-3 8-5.4" stroke="var(--accent)" strokeWidth="2.2" strokeLinecap="round" />
      <circle cx="24" cy="16" r="5.2" fill="var(--accent)" />
    </svg>
  );
}
