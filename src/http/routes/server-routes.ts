/** Everything that the server serves besides the endpoint: GraphiQL, health and metrics. */
import type { Telemetry } from '../../telemetry/create-telemetry.ts';
import type { PageOptions, ServerOptions } from '../transport/server-options.ts';
import { createGraphiqlRoutes } from './graphiql-routes.ts';
import { createHealthRoutes, createMetricsRoute } from './operator-routes.ts';
import { createPageActions } from './page-actions.ts';
import type { Action, Route } from './route-exchange.ts';

export interface ServerRoutes {
  /** The path of the GraphQL endpoint. */
  readonly path: string;
  readonly routes: ReadonlyMap<string, Route>;
  readonly actions: ReadonlyMap<string, Action>;
}

/** The routes of a server. `isDraining`: whether it is shutting down. Throws an `Error` if the base path is invalid. */
export function createServerRoutes(options: ServerOptions, telemetry: Telemetry, isDraining: () => boolean): ServerRoutes {
  const { graphiql = false } = options;
  const basePath = readBasePath(options.basePath ?? '');
  const path = `${basePath}/graphql/v1`;
  const health = createOperatorRoutes(options, telemetry, isDraining);
  if (!graphiql) return { path, routes: new Map(health), actions: new Map() };
  const page = `${basePath}/graphiql`;
  const { anonKey = null, operations = [], backend }: PageOptions = graphiql === true ? {} : graphiql;
  const settings = { endpoint: path, anonKey, operations, backend: backend === undefined ? null : page };
  const actions = new Map(backend === undefined ? [] : createPageActions(page, backend));
  const redirect: Route = () => ({ status: 302, headers: ['location', page, 'cache-control', 'no-store'], body: '' });
  return { path, routes: new Map([['/', redirect], ...health, ...createGraphiqlRoutes(page, settings)]), actions };
}

/** Health, and metrics unless they are served elsewhere. */
function createOperatorRoutes({ graph, metrics = {} }: ServerOptions, telemetry: Telemetry, isDraining: () => boolean) {
  const health = createHealthRoutes(graph, isDraining);
  return metrics === 'elsewhere' ? health : [...health, createMetricsRoute(telemetry, metrics.key ?? null)];
}

function readBasePath(basePath: string): string {
  if (basePath === '' || basePath === '/') return '';
  if (!/^(\/[\w.~-]+)+$/.test(basePath))
    throw new Error(`The base path must look like /api, without a trailing slash; it is ${JSON.stringify(basePath)}.`);
  return basePath;
}
