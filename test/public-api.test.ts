/**
 * The exports of the package. The compiler checks that their types accept what users have: otherwise this file would not compile.
 * `test/package` does the same from outside, with the built package.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
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
  await assert.rejects(open({ dialect: 'other' }), {
    name: 'TypeError',
    message: 'The option "dialect" must be "rowgraph" or "pg_graphql"; it is "other".',
  });
  await assert.rejects(open({ additions: ['__proto__'] }), {
    name: 'TypeError',
    message: /^There is no addition "__proto__"\. The additions are /,
  });
});

test('options of the wrong type are rejected before the database is asked', async () => {
  const open = (options: unknown) => rowgraph.createRowgraph(options as RowgraphOptions);
  const database = 'postgres://127.0.0.1:1/none';
  const refused: [unknown, string][] = [
    [undefined, 'The options are missing. Pass { database }.'],
    [null, 'The options are missing. Pass { database }.'],
    [{}, 'The option "database" must be a connection URL, a pg.Pool or a PGlite.'],
    [{ database: 5 }, 'The option "database" must be a connection URL, a pg.Pool or a PGlite; it is 5.'],
    [{ database: 'shop' }, 'The option "database" must be a URL such as postgres://user@host:5432/name.'],
    [{ database: 'mysql://u:secret@h/d' }, 'The option "database" must be a URL such as postgres://user@host:5432/name.'],
    [{ database, schemas: 'public' }, 'The option "schemas" must be a list of strings; it is "public".'],
    [{ database, timeout: '1s' }, 'The option "timeout" must be a number of milliseconds above 0, or Infinity for no limit; it is "1s".'],
    [{ database, poolSize: Number.NaN }, 'The option "poolSize" must be a whole number of at least 1; it is NaN.'],
    [{ database, queue: { length: 0 } }, 'The option "queue.length" must be a whole number of at least 1; it is 0.'],
    [{ database, observe: {} }, 'The option "observe" must be a function; it is an object.'],
    [{ database, reportCost: () => true }, 'The option "reportCost" must be true or false; it is a function.'],
    [{ database, queue: { size: 5 } }, 'There is no option "queue.size". The options are length, bytes, timeout.'],
    [{ database, limits: null }, 'The option "limits" must be "off", "default", "strict", or an object of limits; it is null.'],
    [{ database, roleLimits: { anon: null } }, 'The limits are "off", "default", "strict" or an object of limits, not null.'],
    [
      { database: {}, connectionBudget: new rowgraph.ConnectionBudget(1) },
      'The option "connectionBudget" needs a connection URL as "database": it limits the pool that is opened for it.',
    ],
  ];
  for (const [options, message] of refused) await assert.rejects(open(options), { name: 'TypeError', message });
  await assert.rejects(open({ database, timeOut: 5 }), {
    name: 'TypeError',
    message: /^There is no option "timeOut"\. The options are .*timeout/,
  });
});

test('no option of createRowgraph is used unless it can work', async () => {
  const numbers = [Number.NaN, -1, 0, '5', null, []];
  const wrong: { readonly [Name in keyof RowgraphOptions]-?: readonly unknown[] } = {
    database: [5, true, [], '', 'shop', 'host:5432'],
    replicaUrl: [5, '', ['mysql://h/d'], 'postgres://h/d?target_session_attrs=primary', ['postgres://h/d', null]],
    maxReplicaLag: numbers,
    schemas: ['public', [5], [''], {}, null],
    extraSearchPath: ['extensions', [null]],
    introspection: [true, 'yes', ''],
    nodeIdField: [true, 'key'],
    requiredInputs: ['on', 1, null],
    json: ['text', true],
    dialect: ['other', true],
    additions: ['groups', [5], {}],
    coercion: ['off', true],
    poolSize: [...numbers, 1.5, Infinity],
    connectionBudget: [5, {}, null],
    prepare: ['off', 0],
    schemaTriggers: ['on', 1],
    timeout: numbers,
    trustedRoles: ['postgres', [5]],
    limits: [5, null, [], 'none'],
    roleLimits: ['off', null, []],
    reportCost: ['true', 1],
    queue: [5, null, [], ...['length', 'bytes'].flatMap((name) => [...numbers, 1.5, Infinity].map((value) => ({ [name]: value })))],
    caches: [5, null, ...[...numbers, 1.5, Infinity].map((value) => ({ documents: value })), { schemaBytes: '192mb' }, { other: 5 }],
    idempotencyKeyLifetime: [...numbers, Infinity, 1e12],
    idempotencyKeyRoles: ['*', true, [5], [''], {}, { except: 'anon' }, { except: ['anon'], only: [] }, null],
    idempotencyStorage: [...numbers, 1.5],
    requestSettings: ['auto', ['request.body'], ['app.tenant'], ['request.jwt.claim.a-b']],
    requestHeaders: ['origin', ['x tenant'], ['']],
    live: ['on', true],
    liveDatabaseUrl: [1, ''],
    liveInterval: numbers,
    liveRefresh: numbers,
    maxSubscriptions: [...numbers, 1.5],
    liveCost: [...numbers, 1.5],
    observe: [true, {}, 'console.log'],
  };
  for (const [name, values] of Object.entries(wrong)) {
    for (const value of values) {
      const opening = rowgraph.createRowgraph({ database: 'postgres://127.0.0.1:1/none', [name]: value } as never);
      await assert.rejects(
        opening,
        { name: 'TypeError', message: name === 'limits' ? /limits/ : new RegExp(`option "${name}\\b`) },
        inspect({ [name]: value }),
      );
    }
  }
});

test('a budget of no connections is refused', () => {
  for (const most of [0, -1, 1.5, Number.NaN, Infinity, '5' as never]) assert.throws(() => new rowgraph.ConnectionBudget(most), TypeError);
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
