/** Sends the page's requests to the endpoint. */
import { chooseOperationName, isSubscription } from './choose-operation-name.ts';
import type { Exchange } from './last-exchange.ts';
import { followAnswers } from './live/follow-answers.ts';
import type { LiveAnswers } from './live/live-answers.ts';
import { streamKeyOf } from './live/stream-answers.ts';
import { reachServer, readJson } from './reach-server.ts';

interface GraphqlRequest {
  readonly query: string;
  readonly variables?: unknown;
  readonly operationName?: string | null | undefined;
}

export type Fetcher = (request: GraphqlRequest, options?: { readonly headers?: Readonly<Record<string, string>> }) => Promise<object>;

export interface FetcherOptions {
  /** Path of the endpoint. */
  readonly endpoint: string;
  /** The caller's headers; new ones, if possible, after the server has refused the previous ones. */
  readonly headersOfCaller: (wasRefused: boolean) => Promise<Readonly<Record<string, string>>>;
  /** Called for each request that the user ran; with null if it was not answered. */
  readonly onExchange: (exchange: Exchange | null) => void;
  /** Follows the subscriptions that the user runs; without it, there are none. */
  readonly live?: LiveAnswers;
}

/** GraphiQL reads the schema by an operation of this name. */
const introspection = 'IntrospectionQuery';

const unauthorized = 401;

/**
 * Headers in GraphiQL's editor override those of the caller. Names are compared case-insensitively, because a browser would send `apiKey`
 * and `apikey` as one header with two keys. A failure to send the request is returned as a GraphQL error: GraphiQL would show a rejection
 * with its stack.
 */
export function createFetcher(options: FetcherOptions): Fetcher {
  return async (request, { headers = {} } = {}) => {
    try {
      return await ask(options, request, headers);
    } catch (error) {
      if (request.operationName !== introspection) options.onExchange(null);
      return { errors: [{ message: (error as Error).message }] };
    }
  };
}

async function ask(
  { endpoint, headersOfCaller, onExchange, live }: FetcherOptions,
  request: GraphqlRequest,
  given: Readonly<Record<string, string>>,
): Promise<object> {
  const { query, variables } = request;
  const operationName = chooseOperationName(query, request.operationName);
  const body = JSON.stringify({ query, variables, operationName });
  const start = performance.now();
  if (request.operationName !== introspection) live?.clear();
  const controller = live !== undefined && isSubscription(query, operationName) ? new AbortController() : null;
  const send = async (headers: Headers): Promise<Response> => {
    if (controller === null) return reachServer(endpoint, { method: 'POST', headers, body });
    headers.set('accept', 'text/event-stream, application/graphql-response+json;q=0.9');
    return reachServer(endpoint, { method: 'POST', headers, body, signal: controller.signal });
  };
  let headers = joinHeaders(await headersOfCaller(false), given);
  let response = await send(headers);
  if (response.status === unauthorized) {
    const renewed = joinHeaders(await headersOfCaller(true), given);
    if (renewed.get('apikey') !== headers.get('apikey')) {
      headers = renewed;
      response = await send(headers);
    }
  }
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  const { value, text } =
    isStream && controller !== null
      ? { value: followAnswers(response, () => controller.abort(), live!, streamKeyOf(query, operationName)), text: '' }
      : await readJson(response);
  if (request.operationName !== introspection)
    onExchange({
      query,
      variables,
      operationName,
      requestHeaders: Object.fromEntries(headers),
      status: response.status,
      responseHeaders: [...response.headers],
      milliseconds: performance.now() - start,
      bytes: new TextEncoder().encode(text).length,
    });
  return value;
}

function joinHeaders(ofCaller: Readonly<Record<string, string>>, given: Readonly<Record<string, string>>): Headers {
  const headers = new Headers(ofCaller);
  for (const [name, value] of Object.entries(given)) headers.set(name, value);
  headers.set('content-type', 'application/json');
  headers.set('accept', 'application/graphql-response+json, application/json;q=0.9');
  return headers;
}
