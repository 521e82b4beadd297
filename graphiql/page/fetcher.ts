/** How the page asks the endpoint. In: where it is, and who asks; out: GraphiQL's fetcher. */
import { chooseOperationName } from './choose-operation-name.ts';
import type { Exchange } from './last-exchange.ts';

interface GraphqlRequest {
  readonly query: string;
  readonly variables?: unknown;
  readonly operationName?: string | null | undefined;
}

export type Fetcher = (request: GraphqlRequest, options?: { readonly headers?: Readonly<Record<string, string>> }) => Promise<object>;

export interface FetcherOptions {
  /** Path of the endpoint. */
  readonly endpoint: string;
  readonly headersOfCaller: () => Promise<Readonly<Record<string, string>>>;
  /** Told of each request of the user's own. */
  readonly onExchange: (exchange: Exchange) => void;
}

/** GraphiQL reads the schema by an operation of this name. */
const introspection = 'IntrospectionQuery';

/**
 * What stands in GraphiQL's pane of headers goes ahead of what the caller gives; names are compared without regard to case, because a browser would send
 * `apiKey` and `apikey` as one header with two keys in it.
 */
export function createFetcher({ endpoint, headersOfCaller, onExchange }: FetcherOptions): Fetcher {
  return async (request, { headers: given = {} } = {}) => {
    const headers = new Headers(await headersOfCaller());
    for (const [name, value] of Object.entries(given)) headers.set(name, value);
    headers.set('content-type', 'application/json');
    headers.set('accept', 'application/graphql-response+json, application/json;q=0.9');
    const { query, variables } = request;
    const operationName = chooseOperationName(query, request.operationName);
    const start = performance.now();
    const response = await fetch(endpoint, { method: 'POST', headers, body: JSON.stringify({ query, variables, operationName }) });
    const text = await response.text();
    const milliseconds = performance.now() - start;
    if (request.operationName !== introspection)
      onExchange({
        query,
        variables,
        operationName,
        requestHeaders: Object.fromEntries(headers),
        status: response.status,
        responseHeaders: [...response.headers],
        milliseconds,
        bytes: new TextEncoder().encode(text).length,
      });
    return parse(text, response.status);
  };
}

/** A proxy in front may answer something else than JSON. */
function parse(text: string, status: number): object {
  try {
    return JSON.parse(text) as object;
  } catch {
    throw new Error(`The server answered with status ${status} and no JSON: ${text.slice(0, 200)}`);
  }
}
