/**
 * A server for the operator only, on a port of its own: health and metrics. In: where to listen, and the routes; out: the running server.
 * It needs little of what protects the public server, but limits time and connections.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ApiError } from '../errors/api-error.ts';
import type { Observer } from '../events.ts';
import { errorResponse, toReportedError } from './error-response.ts';
import type { Route } from './route.ts';
import type { HttpResponse } from './send-response.ts';

export interface AdminServer {
  /** `http://host:port`. */
  readonly url: string;
  close(): Promise<void>;
}

const timeLimits = { headersTimeout: 5_000, requestTimeout: 10_000, keepAliveTimeout: 30_000 };
const mostConnections = 100;

/** Resolves once it listens. Rejects if the address is not available. */
export async function startAdminServer(
  { host, port }: { readonly host: string; readonly port: number },
  routes: ReadonlyMap<string, Route>,
  observe: Observer,
): Promise<AdminServer> {
  const server = createServer(timeLimits, (request, response) => void serve(request, response, routes, observe));
  server.maxConnections = mostConnections;
  server.listen({ host, port });
  await once(server, 'listening');
  const { port: listening } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${listening}`,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Never rejects. */
async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  routes: ReadonlyMap<string, Route>,
  observe: Observer,
): Promise<void> {
  const { status, headers, body } = await respond(request, routes).catch((error: unknown) =>
    errorResponse(toReportedError(error, 'admin', observe)),
  );
  // These routes ignore bodies, so any body is discarded.
  request.resume();
  const bytes = Buffer.from(body);
  response.writeHead(status, [...headers, 'content-length', String(bytes.length), 'x-content-type-options', 'nosniff']);
  response.end(request.method === 'HEAD' ? undefined : bytes);
}

async function respond({ method, url = '', headers }: IncomingMessage, routes: ReadonlyMap<string, Route>): Promise<HttpResponse> {
  const route = routes.get(url.split('?', 1)[0]!);
  if (route === undefined)
    return errorResponse(new ApiError('NOT_FOUND', `Nothing is served at this path. There are ${[...routes.keys()].join(', ')}.`));
  if (method !== 'GET' && method !== 'HEAD')
    return errorResponse(new ApiError('METHOD_NOT_ALLOWED', 'This path supports only GET.'), ['allow', 'GET, HEAD']);
  return route({ headers });
}
