/** A program that uses the types of the package as its users do; it is compiled, and never run. */
import { createServer } from 'node:http';
import type { PGlite, Transaction } from '@electric-sql/pglite';
import { type Client, Pool, type PoolClient } from 'pg';
import {
  ApiError,
  type CacheSizes,
  type Caller,
  createRowgraph,
  type Event,
  type ExecutionResult,
  type Observer,
  type RawResponse,
  type Rowgraph,
  type RowgraphOptions,
} from 'rowgraph';
import { createFetchHandler, type FetchHandlerOptions } from 'rowgraph/fetch';
import { createNodeHandler, type NodeHandlerOptions } from 'rowgraph/node';

const observe: Observer = (event: Event) => {
  if (event.kind === 'schema-loaded') console.log(event.seconds.toFixed(1));
};
const caches: Partial<CacheSizes> = { statements: 100 };
const caller: Caller = { role: 'anon', claims: { sub: '1' } };

class TracingPool extends Pool {}

export async function open(database: string | Pool | TracingPool | PGlite): Promise<Rowgraph> {
  const options: RowgraphOptions = { database, observe, caches, limits: 'strict' };
  try {
    return await createRowgraph(options);
  } catch (error) {
    if (error instanceof ApiError) console.log(error.code, error.message);
    throw error;
  }
}

export async function ask(graph: Rowgraph, client: Client | PoolClient | PGlite | Transaction): Promise<ExecutionResult> {
  const raw: RawResponse = await graph.executeRaw({ query: '{ a }' }, caller, { timeout: 1000, signal: AbortSignal.timeout(1000) });
  const bytes: Uint8Array[] = [...raw.chunks];
  console.log(bytes.length, raw.length, raw.errorCode);
  const { data, errors } = await graph.execute({ query: '{ a }', variables: { n: 1 } }, caller);
  console.log(data, errors?.[0]?.message);
  return graph.resolve(client, { query: '{ a }' });
}

const limits: NodeHandlerOptions & FetchHandlerOptions = {
  jwtKeys: 'https://x.example/jwks.json',
  maxBatch: 5,
  trustedDocuments: { a: '{ a }' },
};

export async function serve(graph: Rowgraph): Promise<unknown> {
  createServer(createNodeHandler(graph, limits)).listen(0);
  const handler = createFetchHandler(graph, { jwtSecret: 's', clientAddress: (_request, info: { address: string }) => info.address });
  const response: Response = await handler(new Request('http://x.example'), { address: '192.0.2.1' });
  const schema = await graph.schema<{ user: string }>({
    role: 'authenticated',
    caller: ({ user }) => ({ role: 'authenticated', claims: { sub: user } }),
  });
  return [response.status, schema.getQueryType()?.name];
}

// @ts-expect-error: a secret is a text
export const wrongOptions: NodeHandlerOptions = { jwtSecret: 1 };

// @ts-expect-error: a database is none of these
export const wrong: RowgraphOptions = { database: 3 };
