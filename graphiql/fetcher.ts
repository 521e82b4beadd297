/**
 * How the GraphiQL page asks the endpoint. In: the settings that stand in the page; out: GraphiQL's fetcher, and the headers that it fills in.
 */
import type { GraphiqlSettings } from '../src/http/graphiql-page.ts';

type Fetcher = (request: unknown, options?: { readonly headers?: Readonly<Record<string, string>> }) => Promise<unknown>;

/**
 * GraphiQL restores tabs, but not their headers, after a reload. So the key is added if a tab has none; header names are compared without regard to
 * case, because a browser would send `apiKey` and `apikey` as one header with two keys in it.
 */
export function createFetcher({ endpoint, anonKey }: GraphiqlSettings): Fetcher {
  return async (request, { headers: given = {} } = {}) => {
    const headers = new Headers(anonKey === null ? {} : { apiKey: anonKey });
    for (const [name, value] of Object.entries(given)) headers.set(name, value);
    headers.set('content-type', 'application/json');
    headers.set('accept', 'application/graphql-response+json, application/json;q=0.9');
    const response = await fetch(endpoint, { method: 'POST', headers, body: JSON.stringify(request) });
    return response.json();
  };
}

/** The text of a new tab's headers: where there is no key, the user fills it in. */
export function defaultHeaders({ anonKey }: GraphiqlSettings): string {
  return JSON.stringify({ apiKey: anonKey ?? '' }, null, 2);
}
