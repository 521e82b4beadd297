/**
 * `graph.resolve(client, request)`: a request on a connection of the caller's, as whoever that is now, in the transaction that is open on it.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { ExecutionResult } from '../../src/engine/request.ts';
import { startPglite } from '../support/pglite.ts';
import { until } from '../support/until.ts';
import { type Connection, type Connections, connectionKinds, openConnections, outcomeOf } from './connections.ts';

let connections: Connections;
before(async () => {
  connections = await openConnections();
});
after(() => connections.close());

/** Requests that fail, each with its code. */
const failures: Record<
  string,
  { readonly query: string; readonly variables?: Record<string, unknown>; readonly code: string; readonly before?: string }
> = {
  'a document that is none': { query: '{', code: 'GRAPHQL_PARSE_FAILED' },
  'an invalid document': { query: '{ nonsense }', code: 'GRAPHQL_VALIDATION_FAILED' },
  'a bad variable': {
    query: 'query ($n: Int!) { entryCollection(first: $n) { edges { cursor } } }',
    variables: { n: 'x' },
    code: 'BAD_USER_INPUT',
  },
  'a bad cursor': { query: '{ entryCollection(after: "x") { edges { cursor } } }', code: 'BAD_USER_INPUT' },
  'a constraint': {
    query:
      'mutation { a: insertIntoentryCollection(objects: [{id: 5}]) { affectedCount } b: insertIntoentryCollection(objects: [{id: 1}]) { affectedCount } }',
    code: 'CONSTRAINT_VIOLATION',
  },
  'too many rows': {
    query: 'mutation { a: insertIntoentryCollection(objects: [{id: 5}]) { affectedCount } deleteFromentryCollection { affectedCount } }',
    code: 'TOO_MANY_ROWS',
  },
  'an exception': { query: 'mutation { raise }', code: 'RAISED' },
  'no right': {
    query: 'mutation { a: insertIntoguardedCollection(objects: [{id: 5, owner: "x"}]) { affectedCount } }',
    code: 'PERMISSION_DENIED',
    before: "set local role anon; set local request.jwt.claims = '{}'",
  },
  'no right to see': {
    query: '{ secretCollection { edges { node { id } } } }',
    code: 'GRAPHQL_VALIDATION_FAILED',
    before: 'set local role anon',
  },
  'a timeout': { query: 'mutation { slow }', code: 'TIMEOUT', before: "set local statement_timeout = '100ms'" },
};

for (const kind of connectionKinds) {
  const inTransaction = (
    work: (
      connection: Connection,
      resolve: (query: string, variables?: Record<string, unknown>) => Promise<ExecutionResult>,
    ) => Promise<void>,
  ): Promise<void> =>
    connections.inTransaction(kind, (connection) =>
      work(connection, (query, variables) => connection.graph.resolve(connection.client, { query, variables })),
    );
  describe(`in a transaction on a ${kind}`, () => {
    test('sees what only its transaction sees, in rows and in the schema', () =>
      inTransaction(async ({ run }, resolve) => {
        await run(
          `create table fresh (id int primary key, entry int references entry); insert into fresh values (1, 1); insert into entry values (3, 'eve')`,
        );
        assert.deepEqual(
          outcomeOf(await resolve('{ freshCollection { edges { node { entry { owner } } } } entryCollection { edges { node { id } } } }')),
          {
            freshCollection: { edges: [{ node: { entry: { owner: 'ada' } } }] },
            entryCollection: { edges: [1, 2, 3].map((id) => ({ node: { id } })) },
          },
        );
        await run('alter table fresh rename to renamed; alter table renamed add more text default $$x$$');
        assert.equal(outcomeOf(await resolve('{ freshCollection { edges { node { id } } } }')), 'GRAPHQL_VALIDATION_FAILED');
        assert.deepEqual(outcomeOf(await resolve('{ renamedCollection { edges { node { more } } } }')), {
          renamedCollection: { edges: [{ node: { more: 'x' } }] },
        });
        if (kind === 'PGlite') return;
        const outside = await connections.graph.execute({ query: '{ renamedCollection { edges { node { id } } } }' }, { role: 'anon' });
        assert.equal(outcomeOf(outside), 'GRAPHQL_VALIDATION_FAILED');
      }));

    test('is whoever the connection is, with its claims and its search_path', () =>
      inTransaction(async ({ run }, resolve) => {
        assert.deepEqual(outcomeOf(await resolve('{ who }')), { who: 'postgres' });
        const rows = '{ who guardedCollection { edges { node { id } } } }';
        for (const [role, sub, ids] of [
          ['anon', 'ada', [1]],
          ['authenticated', 'bob', [2]],
          ['anon', 'nobody', []],
        ] as const) {
          await run(`set local role ${role}; set local request.jwt.claims = '{"sub": "${sub}"}'`);
          assert.deepEqual(outcomeOf(await resolve(rows)), {
            who: role,
            guardedCollection: { edges: ids.map((id) => ({ node: { id } })) },
          });
        }
        await run('reset role; set local search_path = app');
        assert.deepEqual(outcomeOf(await resolve('{ entryCollection { edges { node { app_only } } } }')), {
          entryCollection: { edges: [{ node: { app_only: 'app' } }] },
        });
        await run("set local search_path = ''");
        assert.equal(outcomeOf(await resolve('{ entryCollection { edges { node { id } } } }')), 'GRAPHQL_VALIDATION_FAILED');
        await run('set local search_path = public; set local role anon; create temp table passing (id int)');
        assert.deepEqual(await run('select current_user, current_setting($$search_path$$) as search_path'), [
          { current_user: 'anon', search_path: 'public' },
        ]);
      }));

    test('leaves the transaction as it was after every kind of error', () =>
      inTransaction(async ({ run }, resolve) => {
        await run("insert into entry values (50, 'mine', 1)");
        const state = 'select (select json_agg(e order by id) from entry e)::text as entries, txid_current()::text as transaction';
        const before = await run(state);
        for (const [name, failure] of Object.entries(failures)) {
          // PGlite has no timer to interrupt itself with.
          if (failure.code === 'TIMEOUT' && kind.includes('PGlite')) continue;
          await run(`savepoint own; ${failure.before ?? 'select 1'}`);
          const { data, errors } = await resolve(failure.query, failure.variables);
          assert.deepEqual([name, data ?? null, errors?.[0]?.extensions.code], [name, null, failure.code]);
          await run('rollback to savepoint own; release savepoint own');
          assert.deepEqual(await run(state), before, name);
        }
        for (const { query, variables, code } of Object.values(failures).filter(({ before: first }) => first === undefined)) {
          assert.equal(outcomeOf(await resolve(query, variables)), code);
          assert.deepEqual(await run(state), before, 'without a savepoint of the caller too');
        }
        assert.deepEqual(outcomeOf(await resolve('{ entryCollection(filter: {id: {eq: 50}}) { edges { node { owner } } } }')), {
          entryCollection: { edges: [{ node: { owner: 'mine' } }] },
        });
      }));

    test('says so if the transaction has already failed', () =>
      inTransaction(async ({ run }, resolve) => {
        await run('savepoint own');
        await assert.rejects(run('select 1/0'));
        const { errors } = await resolve('{ who }');
        assert.equal(errors?.[0]?.extensions.code, 'DATABASE_ERROR');
        assert.equal(errors[0].extensions.sqlstate, '25P02');
        assert.match(errors[0].message, /transaction .* has already failed\. Roll it back/);
        await run('rollback to savepoint own');
        assert.deepEqual(outcomeOf(await resolve('{ who }')), { who: 'postgres' });
      }));

    test('changes what the transaction sees, and its rollback undoes', async () => {
      await inTransaction(async ({ run }, resolve) => {
        const query =
          'mutation { insertIntoentryCollection(objects: [{id: 60, owner: "x"}]) { records { id } } updateentryCollection(set: {owner: "y"}, filter: {id: {eq: 60}}) { affectedCount } }';
        assert.deepEqual(outcomeOf(await resolve(query)), {
          insertIntoentryCollection: { records: [{ id: 60 }] },
          updateentryCollection: { affectedCount: 1 },
        });
        assert.deepEqual(await run('select owner from entry where id = 60'), [{ owner: 'y' }]);
        // A deferred constraint waits for the caller's own commit.
        assert.deepEqual(
          outcomeOf(await resolve('mutation { insertIntoentryCollection(objects: [{id: 61, parent: 999}]) { affectedCount } }')),
          { insertIntoentryCollection: { affectedCount: 1 } },
        );
      });
      await inTransaction(async ({ run }) => assert.deepEqual(await run('select id from entry where id >= 60'), []));
    });
  });
}

for (const kind of connectionKinds) {
  test(`outside of a transaction a ${kind} does all or nothing, and leaves none open`, async () => {
    const connection = connections.open[kind];
    const resolve = async (query: string) => outcomeOf(await connection.graph.resolve(connection.client, { query }));
    const insert = (id: number, more = '') => `insertIntoentryCollection(objects: [{id: ${id} ${more}}]) { affectedCount }`;
    assert.deepEqual(await resolve(`mutation { a: ${insert(70)} b: ${insert(71)} }`), { a: { affectedCount: 1 }, b: { affectedCount: 1 } });
    assert.equal(await resolve(`mutation { a: ${insert(72)} b: ${insert(70)} }`), 'CONSTRAINT_VIOLATION');
    assert.equal(await resolve(`mutation { a: ${insert(73)} b: ${insert(74, 'parent: 999')} }`), 'CONSTRAINT_VIOLATION');
    assert.equal(await resolve('{ nonsense }'), 'GRAPHQL_VALIDATION_FAILED');
    assert.equal(await resolve('mutation { raise }'), 'RAISED');
    assert.deepEqual(await connection.run('select id from entry where id >= 70 order by id'), [{ id: 70 }, { id: 71 }]);
    await assert.rejects(connection.run('savepoint none'), /can only be used in transaction blocks/);
    await connection.run('delete from entry where id >= 70');
    await connection.run('create table passing (id int primary key)');
    assert.deepEqual(await resolve('{ passingCollection { edges { node { id } } } }'), { passingCollection: { edges: [] } });
    await connection.run('alter table passing add more int; insert into passing values (1, 2)');
    assert.deepEqual(await resolve('{ passingCollection { edges { node { more } } } }'), {
      passingCollection: { edges: [{ node: { more: 2 } }] },
    });
    await connection.run('drop table passing');
    assert.equal(await resolve('{ passingCollection { edges { node { id } } } }'), 'GRAPHQL_VALIDATION_FAILED');
    const both = await Promise.all([resolve('{ who }'), resolve(`mutation { ${insert(70)} }`), resolve('{ who }')]);
    assert.deepEqual(both, [{ who: 'postgres' }, { insertIntoentryCollection: { affectedCount: 1 } }, { who: 'postgres' }]);
    await connection.run('delete from entry where id >= 70');
  });
}

test('what one connection is asked, no other connection is', async () => {
  const { database, graph } = connections;
  const first = await database.connect();
  const second = await database.connect();
  await first.query('begin; set local role anon');
  assert.deepEqual(outcomeOf(await graph.resolve(first, { query: '{ who }' })), { who: 'anon' });
  await first.end();
  // The same state of the schema, another role: its privileges are read on the connection that asks.
  await second.query('begin; set local role service_role');
  assert.deepEqual(outcomeOf(await graph.resolve(second, { query: '{ who }' })), { who: 'service_role' });
  await second.query('rollback');
});

test('two databases that are copies of one, and were changed alike, are not taken for each other', async () => {
  const [one, other] = await Promise.all([startPglite(), startPglite()]);
  await one.exec('create table item (id int primary key, value int); insert into item values (1, 5)');
  await other.exec("create table item (id int primary key, value text); insert into item values (1, 'x')");
  const query = '{ itemCollection { edges { node { value } } } }';
  assert.deepEqual(outcomeOf(await connections.embedded.resolve(one, { query })), { itemCollection: { edges: [{ node: { value: 5 } }] } });
  assert.deepEqual(outcomeOf(await connections.embedded.resolve(other, { query })), {
    itemCollection: { edges: [{ node: { value: 'x' } }] },
  });
  await Promise.all([one.close(), other.close()]);
});

test('what is no connection is refused', async () => {
  for (const client of [null, undefined, 'postgres://localhost', {}, { query: 1 }] as never[])
    await assert.rejects(connections.graph.resolve(client, { query: '{ who }' }), TypeError);
});

test('a connection that is lost is told', async () => {
  const { database, graph } = connections;
  const client = await database.connect();
  const answer = graph.resolve(client, { query: 'mutation { slow }' });
  const sleeping = "select pg_terminate_backend(pid) from pg_stat_activity where wait_event = 'PgSleep'";
  await until(async () => (await database.run(sleeping)).length > 0);
  assert.equal(outcomeOf(await answer), 'DATABASE_UNAVAILABLE');
  assert.equal(outcomeOf(await graph.resolve(client, { query: '{ who }' })), 'DATABASE_UNAVAILABLE');
  const ended = await database.connect();
  await ended.end();
  assert.equal(outcomeOf(await graph.resolve(ended, { query: '{ who }' })), 'DATABASE_UNAVAILABLE');
});
