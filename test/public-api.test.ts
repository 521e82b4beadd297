/**
 * The exports of the package. The compiler checks that their types accept what users have: otherwise this file would not compile.
 * `test/package` does the same from outside, with the built package.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PGlite, PGliteInterface, Transaction } from '@electric-sql/pglite';
import type { vector } from '@electric-sql/pglite-pgvector';
import pg from 'pg';
import type { Event, Observer, Rowgraph, RowgraphOptions } from '../src/index.ts';
import * as rowgraph from '../src/index.ts';

test('the package exports these values', () => {
  assert.deepEqual(Object.keys(rowgraph).sort(), ['ApiError', 'ConnectionBudget', 'Deadline', 'createRowgraph', 'pgliteExtension']);
});

test('an unknown dialect or addition is rejected before the database is asked', async () => {
  const open = (options: object) => rowgraph.createRowgraph({ database: 'postgres://127.0.0.1:1/none', ...options });
  await assert.rejects(open({ dialect: 'other' }), { name: 'TypeError', message: /^dialect must be rowgraph or pg_graphql, not other\.$/ });
  await assert.rejects(open({ additions: ['__proto__'] }), { name: 'TypeError', message: /^There is no addition "__proto__"; there are / });
});

test('options of the wrong type are rejected before the database is asked', async () => {
  const open = (options: unknown) => rowgraph.createRowgraph(options as RowgraphOptions);
  const database = 'postgres://127.0.0.1:1/none';
  const refused: [unknown, string][] = [
    [undefined, 'The options are missing. Pass { database }.'],
    [null, 'The options are missing. Pass { database }.'],
    [{}, 'The option "database" must be a connection URL, a pg.Pool or a PGlite.'],
    [{ database, schemas: 'public' }, 'The option "schemas" must be a list of strings.'],
    [{ database, schemas: [5] }, 'The option "schemas" must be a list of strings.'],
    [{ database, trustedRoles: 'admin' }, 'The option "trustedRoles" must be a list of strings.'],
    [{ database, timeout: '1s' }, 'The option "timeout" must be a number.'],
    [{ database, poolSize: NaN }, 'The option "poolSize" must be a number.'],
  ];
  for (const [options, message] of refused) await assert.rejects(open(options), { name: 'TypeError', message });
});

class TracingPool extends pg.Pool {}
class TracingClient extends pg.Client {}
type ExtendedPglite = PGlite & { readonly vector: typeof vector };

/** Each of these would be a type error if it were not accepted. */
export function acceptedDatabases(pool: pg.Pool, traced: TracingPool, pglite: PGlite, extended: ExtendedPglite, like: PGliteInterface) {
  const databases: RowgraphOptions['database'][] = ['postgres://h/d', pool, traced, pglite, extended, like];
  return databases;
}

export function acceptedClients(
  graph: Rowgraph,
  pglite: PGlite,
  transaction: Transaction,
  client: pg.Client,
  traced: TracingClient,
  pooled: pg.PoolClient,
) {
  return [pglite, transaction, client, traced, pooled].map((each) => graph.resolve(each, { query: '{ a }' }));
}

export function rejected(graph: Rowgraph, client: pg.Client, pool: pg.Pool, traced: TracingPool) {
  const databases: RowgraphOptions['database'][] = [
    // @ts-expect-error: a client is not a pool
    client,
    // @ts-expect-error: not a database
    {},
    // @ts-expect-error: not a database
    3,
  ];
  const request = { query: '{ a }' };
  // @ts-expect-error: a URL is not a connection
  const url = graph.resolve('postgres://h/d', request);
  // @ts-expect-error: each query of a pool may run on another connection
  const pools = [graph.resolve(pool, request), graph.resolve(traced, request)];
  return [databases, url, pools];
}

/** Events are told apart by their kind. */
export const observe: Observer = (event: Event) => {
  if (event.kind === 'schema-loaded') return assert.ok(event.seconds >= 0);
};
