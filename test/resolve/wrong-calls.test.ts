/** What TypeScript forbids and JavaScript passes all the same: each call of the library says what is wrong with it. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { PGlite } from '@electric-sql/pglite';
import pg from 'pg';
import { type Caller, createRowgraph, type GraphQLRequest, type RequestOptions, type Rowgraph } from '../../src/index.ts';
import { startPglite } from '../support/pglite.ts';
import { grantsSql, rolesSql } from '../support/roles.ts';

const badRequests: readonly unknown[] = [
  ...[undefined, null, 3, 'query', [], [{ query: '{ __typename }' }], {}, { query: 3 }, { query: null }, { query: ['{ __typename }'] }],
  ...['x', 3, [], true, new Map(), new Date(0)].map((variables) => ({ query: '{ __typename }', variables })),
  ...[3, {}, []].map((operationName) => ({ query: '{ __typename }', operationName })),
  { query: '{ __typename }', extensions: 'x' },
];
const wrongCallers: readonly unknown[] = [
  ...[undefined, null, 'anon', ['anon'], {}, { role: undefined }, { role: 3 }, { role: '' }],
  ...[null, 'x', []].map((claims) => ({ role: 'anon', claims })),
];

const unknownRole = (call: Promise<unknown>): [Promise<unknown>, string] => [call, 'rol'];

const wrongOptions: readonly unknown[] = [
  ...[null, 3, 'x', []],
  ...[null, 'x', Number.NaN, -1, 0].map((timeout) => ({ timeout })),
  ...[null, 3, Object.freeze({})].map((marks) => ({ marks })),
  ...[null, 3, 'no'].flatMap((value) => [{ onPrepared: value }, { readOnly: value }]),
  ...[null, 'x', {}].flatMap((value) => [{ signal: value }, { deadline: value }]),
  ...[null, 3].flatMap((value) => [{ client: value }, { idempotencyKey: value }]),
];

describe('calls that the types forbid', () => {
  let database: PGlite;
  let graph: Rowgraph;
  const defects: unknown[] = [];

  before(async () => {
    database = await startPglite();
    await database.exec(`${rolesSql} ${grantsSql} create table thing (id int primary key);`);
    graph = await createRowgraph({ database, observe: (event) => event.kind === 'defect-found' && defects.push(event.error) });
  });
  after(async () => {
    await graph.close();
    await database.close();
  });

  it('refuses what is not a request', async () => {
    for (const request of badRequests as GraphQLRequest[]) {
      for (const { errors, data } of [await graph.execute(request, { role: 'anon' }), await graph.resolve(database, request)]) {
        assert.equal(errors?.[0]?.extensions.code, 'BAD_REQUEST', JSON.stringify(request));
        assert.match(errors?.[0]?.message ?? '', /must be|has no member "query"/);
        assert.equal(data, undefined);
      }
      const { errorCode } = await graph.executeRaw(request, { role: 'anon' });
      assert.equal(errorCode, 'BAD_REQUEST');
      await assert.rejects(graph.explain(request, { role: 'anon' }), { code: 'BAD_REQUEST' });
      await assert.rejects(graph.cost(request, { role: 'anon' }), { code: 'BAD_REQUEST' });
    }
    for (const query of [undefined, null, 3, {}] as unknown as string[]) {
      for (const call of [graph.validate(query), graph.prepare(query)]) await assert.rejects(call, { code: 'BAD_REQUEST' });
    }
  });

  it('refuses what throws when it is read', async () => {
    const fail = (): never => {
      throw new Error('no such luck');
    };
    const trap = { get: fail, ownKeys: fail, has: fail, getOwnPropertyDescriptor: fail };
    const query =
      'query ($a: Int, $b: thingFilter = {}, $c: [thingFilter!]) { __typename x: thingCollection(first: $a, filter: {and: [$b, {and: $c}]}) { edges { cursor } } }';
    const getter = {
      get a() {
        return fail();
      },
    };
    const variables: unknown[] = [getter, new Proxy({}, trap)];
    for (const value of [
      new Proxy({}, trap),
      { id: new Proxy({}, trap) },
      {
        get id() {
          return fail();
        },
      },
    ])
      variables.push({ b: value }, { c: [value] }, { c: value }, { c: Array(5000).fill(value) });
    const requests: unknown[] = [
      ...variables.map((each) => ({ query, variables: each })),
      {
        get query() {
          return fail();
        },
      },
      {
        query: '{ __typename }',
        get extensions() {
          return fail();
        },
      },
      new Proxy({ query: '{ __typename }' }, trap),
    ];
    for (const [number, request] of (requests as GraphQLRequest[]).entries()) {
      for (const { errors } of [await graph.execute(request, { role: 'service_role' }), await graph.resolve(database, request)]) {
        assert.deepEqual(
          [errors?.[0]?.extensions.code, errors?.[0]?.message],
          ['BAD_REQUEST', 'The request cannot be read (no such luck). Pass plain data.'],
          String(number),
        );
      }
    }
  });

  it('tells what a document is beyond the limits with', async () => {
    const query = `{ __typename } # ${'long '.repeat(60_000)}`;
    for (const errors of [await graph.validate(query), await graph.prepare(query)])
      assert.deepEqual(
        errors.map(({ extensions }) => extensions.code),
        ['DOCUMENT_TOO_LARGE'],
      );
  });

  it('throws where the caller is wrong', async () => {
    const request = { query: '{ __typename }' };
    for (const caller of wrongCallers as Caller[]) {
      const calls = (['execute', 'executeRaw', 'explain', 'cost'] as const).map((name) => graph[name](request, caller));
      for (const call of calls) {
        await assert.rejects(call, (error) => error instanceof TypeError && /caller/.test(error.message), JSON.stringify(caller));
      }
    }
    await assert.rejects(graph.resolve(undefined as never, request), TypeError);
    const pool = new pg.Pool({ max: 1 });
    await assert.rejects(graph.resolve(pool as never, request), {
      name: 'TypeError',
      message: /^A pool is not a database connection.* Pass a client of it, from "await pool\.connect\(\)"\.$/,
    });
    assert.equal(pool.totalCount, 0);
    await pool.end();
    await assert.rejects(graph.resolve(new pg.Client() as never, request), {
      name: 'TypeError',
      message: 'The client is not connected. Call "await client.connect()" first.',
    });
    const circular: Record<string, unknown> = {};
    circular['self'] = circular;
    for (const claims of [circular, { big: 1n }]) {
      await assert.rejects(graph.execute(request, { role: 'anon', claims }), { name: 'TypeError', message: /^The claims of the caller/ });
    }
  });

  it('throws where an option is wrong', async () => {
    const request = { query: '{ __typename }' };
    for (const options of wrongOptions as RequestOptions[]) {
      for (const call of [graph.execute(request, { role: 'anon' }, options), graph.executeRaw(request, { role: 'anon' }, options)]) {
        await assert.rejects(call, { name: 'TypeError', message: /^The option(s of a request)?\b.* must be / }, JSON.stringify(options));
      }
    }
    for (const role of [null, '', 3, ['anon']] as unknown as string[]) {
      const calls = [
        graph.validate('{ a }', { role }),
        graph.prepare('{ a }', { role }),
        graph.sdl({ role }),
        graph.schema({ role }),
        graph.doctor({ role }),
      ];
      for (const call of calls) await assert.rejects(call, { name: 'TypeError', message: /^The option "role" must be / });
    }
    const anon = { role: 'anon' };
    const misspelled: readonly [Promise<unknown>, string][] = [
      [graph.execute(request, anon, { timout: 5 } as never), 'timout'],
      [graph.executeRaw(request, anon, { toString: 5 } as never), 'toString'],
      [graph.explain(request, anon, { mod: 'sql' } as never), 'mod'],
      ...[graph.validate('{ a }', { rol: 'anon' } as never), graph.prepare('{ a }', { rol: 'anon' } as never)].map(unknownRole),
      ...[graph.sdl({ rol: 'anon' } as never), graph.schema({ rol: 'anon' } as never), graph.doctor({ rol: 'anon' } as never)].map(
        unknownRole,
      ),
    ];
    for (const [call, name] of misspelled)
      await assert.rejects(call, { name: 'TypeError', message: new RegExp(`^There is no option "${name}"\\. The options are `) });
    await assert.rejects(graph.explain(request, { role: 'anon' }, { mode: 'x' as never }), {
      name: 'TypeError',
      message: /^The option "mode"/,
    });
  });

  it('can be closed again, and says that it is closed', async () => {
    const other = await createRowgraph({ database });
    await Promise.all([other.close(), other.close()]);
    await other.close();
    const { errors } = await other.execute({ query: '{ thingCollection { edges { node { id } } } }' }, { role: 'anon' });
    assert.deepEqual(
      errors?.map(({ message, extensions }) => [extensions.code, message]),
      [['DATABASE_UNAVAILABLE', 'The connections to the database have been closed.']],
    );
  });

  it('calls none of it a defect', () => assert.deepEqual(defects, []));
});
