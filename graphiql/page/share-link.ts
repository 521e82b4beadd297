/** Links that open the page with a query: `?query=…&variables=…`. They contain neither keys nor the caller. */

export interface SharedQuery {
  readonly query: string | undefined;
  readonly variables: string | undefined;
}

/** The query in a link. */
export function readSharedQuery(search: string): SharedQuery {
  const parameters = new URLSearchParams(search);
  return { query: parameters.get('query') ?? undefined, variables: parameters.get('variables') ?? undefined };
}

/** The link to a query. `page`: the URL of the page. */
export function writeSharedQuery(page: string, query: string, variables: string): string {
  const url = new URL(page);
  url.hash = '';
  url.search = '';
  url.searchParams.set('query', query);
  if (variables.trim() !== '') url.searchParams.set('variables', variables);
  return url.href;
}
