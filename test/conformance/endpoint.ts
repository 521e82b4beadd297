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

/** Opens rowgraph over a case's database with the schemas exposed. */
export type OpenEndpoint = (target: RowgraphOptions['database'], schemas: readonly string[]) => Promise<Endpoint>;

/** The library itself. */
export const openLibrary: OpenEndpoint = (target, schemas) => openDialect(target, schemas, 'rowgraph');

/** The library with pg_graphql's schema, type for type. */
export const openReference: OpenEndpoint = (target, schemas) => openDialect(target, schemas, 'pg_graphql');

async function openDialect(
  target: RowgraphOptions['database'],
  schemas: readonly string[],
  dialect: 'rowgraph' | 'pg_graphql',
): Promise<Endpoint> {
  const graph = await createRowgraph({ database: target, schemas, dialect, poolSize: 2 });
  return {
    send: (request, role, claims) => graph.execute(request, { role, claims }),
    reload: () => graph.reload(),
    close: () => graph.close(),
  };
}
