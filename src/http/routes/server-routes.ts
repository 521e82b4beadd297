/** Everything that the server serves besides the endpoint: GraphiQL, health and metrics. */
import type { Telemetry } from '../../telemetry/create-telemetry.ts';
import type { EndpointOptions, ServedGraph } from '../endpoint/endpoint-options.ts';
import type { PageBackend } from './graphiql-page.ts';
import { createGraphiqlRoutes } from './graphiql-routes.ts';
import { createHealthRoutes, createMetricsRoute } from './operator-routes.ts';
import { createPageActions } from './page-actions.ts';
import type { Action, Route } from './route-exchange.ts';

export interface RouteOptions extends Pick<EndpointOptions, 'agents'> {
  readonly graph: ServedGraph;
  /** Path prefix of `/graphql/v1`, `/graphiql` and `/mcp`, such as `/api`. Default: none. */
  readonly basePath?: string;
  /** Whether to serve GraphiQL, and the options of its page. Default: false. */
  readonly graphiql?: boolean | PageOptions;
  /** The key that `/metrics` requires, or `elsewhere` if another server serves it. Default: no key. */
  readonly metrics?: { readonly key?: string } | 'elsewhere';
}

/** The options of the page at `/graphiql`. */
export interface PageOptions {
  /** The key to fill in. Default: the user pastes one. */
  readonly anonKey?: string | null;
  /** Documents to open at first. Default: one that the page derives from the schema. */
  readonly operations?: readonly string[];
  /** What the page may do beyond the endpoint. Never enable it where anybody but the developer can reach the server. Default: nothing. */
  readonly backend?: PageBackend;
}

interface ServerRoutes {
  /** The path of the GraphQL endpoint. */
  readonly path: string;
  /** The path for agents; null if they are not served. */
  readonly agentPath: string | null;
  readonly routes: ReadonlyMap<string, Route>;
  readonly actions: ReadonlyMap<string, Action>;
}

/** The routes of a server. `isDraining`: whether it is shutting down. Throws an `Error` if the base path is invalid. */
export function createServerRoutes(options: RouteOptions, telemetry: Telemetry, isDraining: () => boolean): ServerRoutes {
  const { graphiql = false, agents } = options;
  const basePath = readBasePath(options.basePath ?? '');
  const paths = { path: `${basePath}/graphql/v1`, agentPath: agents === undefined ? null : `${basePath}/mcp` };
  const health = createOperatorRoutes(options, telemetry, isDraining);
  if (!graphiql) return { ...paths, routes: new Map(health), actions: new Map() };
  const page = `${basePath}/graphiql`;
  const { anonKey = null, operations = [], backend }: PageOptions = graphiql === true ? {} : graphiql;
  const settings = {
    endpoint: paths.path,
    anonKey,
    operations,
    backend: backend === undefined ? null : page,
    operationFolder: backend?.operations?.folder ?? null,
  };
  const actions = new Map(backend === undefined ? [] : createPageActions(page, backend));
  const redirect: Route = () => ({ status: 302, headers: ['location', page, 'cache-control', 'no-store'], body: '' });
  return { ...paths, routes: new Map([['/', redirect], ...health, ...createGraphiqlRoutes(page, settings)]), actions };
}

/** Health, and metrics unless they are served elsewhere. */
function createOperatorRoutes({ graph, metrics = {} }: RouteOptions, telemetry: Telemetry, isDraining: () => boolean) {
  const health = createHealthRoutes(graph, isDraining);
  return metrics === 'elsewhere' ? health : [...health, createMetricsRoute(telemetry, metrics.key ?? null)];
}

function readBasePath(basePath: string): string {
  if (basePath === '' || basePath === '/') return '';
  if (!/^(\/[\w.~-]+)+$/.test(basePath))
    throw new Error(`The base path must look like /api, without a trailing slash; it is ${JSON.stringify(basePath)}.`);
  return basePath;
}
