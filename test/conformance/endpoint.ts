/**
 * How a case's requests reach rowgraph: through the library's `execute`. Other ways (HTTP) implement the same interface.
 */
import { createRowgraph, type RowgraphOptions } from '../../src/index.ts';

export interface EndpointRequest {
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>>;
  readonly operationName?: string;
}

export interface Answer {
  readonly data?: unknown;
  readonly errors?: readonly { readonly message: string; readonly extensions?: Readonly<Record<string, unknown>> }[];
}

export interface Endpoint {
  send(request: EndpointRequest, role: string, claims: Readonly<Record<string, unknown>>): Promise<Answer>;
  reload(): Promise<void>;
  close(): Promise<void>;
}

export type Coercion = NonNullable<RowgraphOptions['coercion']>;

/** Opens rowgraph over a case's database with the schemas exposed. */
export type OpenEndpoint = (target: RowgraphOptions['database'], schemas: readonly string[], coercion: Coercion) => Promise<Endpoint>;

/** The library itself. */
export const openLibrary: OpenEndpoint = (...target) => openDialect('rowgraph', ...target);

/** The library with pg_graphql's schema, type for type. */
export const openReference: OpenEndpoint = (...target) => openDialect('pg_graphql', ...target);

async function openDialect(
  dialect: 'rowgraph' | 'pg_graphql',
  ...[database, schemas, coercion]: Parameters<OpenEndpoint>
): Promise<Endpoint> {
  const graph = await createRowgraph({ database, schemas, dialect, coercion, poolSize: 2 });
  return {
    send: (request, role, claims) => graph.execute(request, { role, claims }),
    reload: () => graph.reload(),
    close: () => graph.close(),
  };
}
