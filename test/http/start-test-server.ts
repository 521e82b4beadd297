/** A server over a graph that only writes down what it is asked, for tests of the HTTP side alone. Out: the server, its keys and its calls. */

import { signKey } from '../../src/auth/sign-key.ts';
import type { Caller, GraphQLRequest, RawResponse, RequestOptions } from '../../src/engine/request.ts';
import type { ServedGraph } from '../../src/http/endpoint/endpoint-options.ts';
import { type RunningServer, type ServerOptions, startServer } from '../../src/http/transport/start-server.ts';
import { createTelemetry } from '../../src/telemetry/create-telemetry.ts';

export const secret = 'a-secret-of-tests-with-more-than-32-bytes';
export const answer = '{"data":{"__typename":"Query"}}';

export interface TestServer extends RunningServer {
  readonly endpoint: string;
  readonly anonKey: string;
  /** What the graph was asked. */
  readonly calls: { readonly request: GraphQLRequest; readonly caller: Caller; readonly options: RequestOptions }[];
  /** The lines of the log, as text. */
  readonly log: string[];
  /** Sends a request with the anon key; headers and body replace those of a good request, and undefined takes them away. */
  post(changes?: PostChanges): Promise<Response>;
}

export interface PostChanges {
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** A string or bytes go out as they are, anything else as JSON. */
  readonly body?: unknown;
  readonly path?: string;
  readonly method?: string;
}

export type Execute = (request: GraphQLRequest, caller: Caller, options: RequestOptions) => Promise<RawResponse>;

/** Starts a server on a free port. `execute` replaces the graph's answer; it has no subscriptions without `subscribeRaw`. */
export async function startTestServer(
  options: Partial<ServerOptions> & { execute?: Execute; ping?: () => Promise<void>; subscribeRaw?: ServedGraph['subscribeRaw'] } = {},
): Promise<TestServer> {
  const { execute = async () => rawResponse(answer), ping = async () => {}, subscribeRaw, ...serverOptions } = options;
  const calls: TestServer['calls'] = [];
  const log: string[] = [];
  const executeRaw = (request: GraphQLRequest, caller: Caller, options: RequestOptions = {}): Promise<RawResponse> => {
    calls.push({ request, caller, options });
    return execute(request, caller, options);
  };
  const server = await startServer({
    graph: {
      ...{ executeRaw, ping, readStatistics: () => null, ...(subscribeRaw !== undefined && { subscribeRaw }) },
      readCaches: () => [{ name: 'document', entries: 1, hits: 2, misses: 3 }],
    },
    jwtSecret: secret,
    telemetry: createTelemetry({ level: 'debug', destination: { write: (line) => void log.push(line) } }),
    ...serverOptions,
  });
  const endpoint = `${server.url}${options.basePath ?? ''}/graphql/v1`;
  const anonKey = await signKey(secret, 'anon');
  const post: TestServer['post'] = ({ headers, body = { query: '{ __typename }' }, path, method = 'POST' } = {}) => {
    const merged = { apiKey: anonKey, 'content-type': 'application/json', ...headers };
    const sent = Object.fromEntries(Object.entries(merged).filter((entry): entry is [string, string] => entry[1] !== undefined));
    const payload = typeof body === 'string' || body instanceof Uint8Array || body === null ? body : JSON.stringify(body);
    return fetch(path === undefined ? endpoint : server.url + path, { method, headers: sent, body: payload as string | null });
  };
  return { ...server, endpoint, anonKey, calls, log, post };
}

/** A server for as long as it is used. */
export async function withServer(
  options: Parameters<typeof startTestServer>[0],
  use: (server: TestServer) => Promise<void>,
): Promise<void> {
  const server = await startTestServer(options);
  try {
    await use(server);
  } finally {
    await server.close();
  }
}

/** What a graph answers. */
export function rawResponse(body: string, errorCode: RawResponse['errorCode'] = null): RawResponse {
  const bytes = Buffer.from(body);
  return { chunks: [bytes], length: bytes.length, errorCode };
}

/** A response whose bytes cannot be read. */
export function brokenResponse(): RawResponse {
  return {
    ...rawResponse('{}'),
    get chunks(): never {
      throw new Error('broken');
    },
  };
}

/** The first error of a response, which must have the form that GraphQL clients know. */
export async function readError(response: Response): Promise<{ message: string; code: string }> {
  const body = (await response.json()) as { errors: { message: string; extensions: { code: string } }[] };
  const [error] = body.errors;
  if (error === undefined || Object.keys(body).join() !== 'errors') throw new Error(`no GraphQL error: ${JSON.stringify(body)}`);
  return { message: error.message, code: error.extensions.code };
}

/** Requests that run until something stops them: when the first has started, and the reasons why they were stopped. */
export function runUntilStopped(): { readonly execute: Execute; readonly started: Promise<void>; readonly stops: readonly string[] } {
  const stops: string[] = [];
  const started = Promise.withResolvers<void>();
  const execute: Execute = (_request, _caller, { deadline }) =>
    new Promise((resolve) => {
      started.resolve();
      deadline?.onStop((reason) => {
        stops.push(reason);
        resolve(rawResponse(answer));
      });
    });
  return { execute, started: started.promise, stops };
}
