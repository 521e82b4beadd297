/**
 * Without the event triggers: a change is seen at once where a request would otherwise fail, and within about a second where it would only
 * mean something else. That second is the price of having nothing installed (docs/schema-changes.md).
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { PGlite } from '@electric-sql/pglite';
import type { Event } from '../../src/events.ts';
import { createRowgraph, type Rowgraph } from '../../src/index.ts';
import { startPglite } from '../support/pglite.ts';
import { grantsSql, rolesSql } from '../support/roles.ts';
import { startTestDatabases, type TestDatabase, type TestDatabases } from '../support/test-databases.ts';
import { until } from '../support/until.ts';
import { callerOf, changes, type Expected, outcomeOf, type SchemaChange, setup, silentChanges } from './schema-changes.ts';

let databases: TestDatabases;
let database: TestDatabase;
let pglite: PGlite;
/** How often each graph has read the schema. */
const loads = [0, 0];
const graphs: Rowgraph[] = [];
const run: ((sql: string) => Promise<unknown>)[] = [];

before(async () => {
  [databases, pglite] = await Promise.all([startTestDatabases(), startPglite()]);
  database = await databases.create(setup);
  await pglite.exec(rolesSql + grantsSql + setup);
  const schemas = ['public', 'app'];
  for (const [index, target] of [database.url, pglite].entries()) {
    const observe = ({ kind }: Event): void => {
      if (kind === 'schema-loaded') loads[index]! += 1;
    };
    graphs.push(await createRowgraph({ database: target, schemas, observe }));
  }
  run.push(database.run, (sql) => pglite.exec(sql));
});
after(async () => {
  for (const graph of graphs) await graph.close();
  await pglite.close();
  await databases.close();
});

/** What answers when the schema has been read anew, as the database is compared every second. */
async function settledOutcome(index: number, change: SchemaChange, before: number): Promise<Expected> {
  await until(() => loads[index]! > before);
  return outcomeOf(await graphs[index]!.execute({ query: change.query }, callerOf(change)));
}

describe('each change of the schema', { concurrency: true }, () => {
  for (const [index, name] of ['PostgreSQL', 'PGlite'].entries()) {
    describe(name, { concurrency: 1 }, () => {
      for (const change of changes) {
        test(`${change.name}: ${change.isSilent ? 'within a second' : 'at once'}`, async () => {
          const graph = graphs[index]!;
          assert.deepEqual(outcomeOf(await graph.execute({ query: change.query }, callerOf(change))), change.before);
          const before = loads[index]!;
          await run[index]!(change.sql);
          const outcome = change.isSilent
            ? settledOutcome(index, change, before)
            : graph.execute({ query: change.query }, callerOf(change)).then(outcomeOf);
          assert.deepEqual(await outcome, change.after);
        });
      }

      test('changes of meaning: within a second', async () => {
        const graph = graphs[index]!;
        for (const change of silentChanges) {
          assert.deepEqual(outcomeOf(await graph.execute({ query: change.query }, callerOf(change))), change.before, change.name);
          const before = loads[index]!;
          await run[index]!(change.sql);
          assert.deepEqual(await settledOutcome(index, change, before), change.after, change.name);
        }
      });

      test('a change back before it was looked at leaves nothing behind', async () => {
        const graph = graphs[index]!;
        const query = '{ insidersCollection { edges { node { id } } } }';
        await run[index]!(
          'alter table hidden.insiders set schema public; revoke all on insiders from public; revoke all on insiders from insider',
        );
        await graph.reload();
        // The role is asked for when it has the privilege, which is gone again when the catalog is compared.
        const before = loads[index]!;
        await run[index]!(
          'create role brief nologin; grant brief to authenticator; grant usage on schema public to brief; grant select on insiders to brief',
        );
        await until(() => loads[index]! > before);
        await run[index]!('revoke select on insiders from brief');
        assert.equal(outcomeOf(await graph.execute({ query }, { role: 'brief' })), 'GRAPHQL_VALIDATION_FAILED');
        await run[index]!('grant select on insiders to brief');
        assert.deepEqual(outcomeOf(await graph.execute({ query }, { role: 'brief' })), { insidersCollection: { edges: [] } });
      });
    });
  }
});

/** Types whose text is JSON as it is, or in quotes; each with a value. */
const writtenTypes: readonly (readonly [type: string, value: string])[] = [
  ['int', '1'],
  ['smallint not null', '1'],
  ['bigint', '1'],
  ['bigint not null', '1'],
  ['numeric(9,2) not null', '1'],
  ['boolean not null', 'true'],
  ['uuid not null', "'9c8a5b9e-6a1c-4b7e-9d67-2f9c6a3c1d11'"],
  ['mood not null', "'calm'"],
  ['mood', "'calm'"],
];

test('a value whose type has become text is never written without escapes', async (t) => {
  await database.run(`create table typed (id int primary key); insert into typed values (1);
    comment on table typed is '@graphql({"aggregate": {"enabled": true}})'`);
  const ask = async (query: string): Promise<unknown> => {
    const { chunks } = await graphs[0]!.executeRaw({ query }, { role: 'anon' });
    return JSON.parse(Buffer.concat(chunks).toString());
  };
  const text = 'forty "two" \\';
  for (const [type, value] of writtenTypes) {
    await t.test(type, async () => {
      await database.run(`alter table typed add c ${type} default ${value}`);
      const queries = [
        '{ typedCollection { edges { node { c } } } }',
        '{ typedCollection(orderBy: [{c: AscNullsLast}]) { edges { cursor node { c } } } }',
      ];
      if (!/mood|uuid|boolean/.test(type)) queries.push('{ typedCollection { aggregate { min { c } max { c } } } }');
      for (const query of queries) assert.ok('data' in ((await ask(query)) as object), query);
      await database.run(`alter table typed alter c drop default, alter c type text using '${text}'`);
      for (const query of queries) assert.ok(JSON.stringify(await ask(query)).includes(JSON.stringify(text)), query);
      await database.run('alter table typed drop c');
    });
  }
  await t.test('the result of a function', async () => {
    await database.run("create function answer() returns int stable language sql as 'select 42'");
    assert.deepEqual(await ask('{ answer }'), { data: { answer: 42 } });
    await database.run(`drop function answer(); create function answer() returns text stable language sql as $$ select '${text}'::text $$`);
    assert.deepEqual(await ask('{ answer }'), { data: { answer: text } });
  });
});

test('what is not committed is not seen, and loads nothing', async () => {
  const [graph] = graphs;
  const query = '{ neverCollection { edges { node { id } } } }';
  await graph!.reload();
  const [before] = loads;
  const other = await database.connect();
  await other.query('begin; create table never (id int primary key)');
  assert.equal(outcomeOf(await graph!.execute({ query }, { role: 'anon' })), 'GRAPHQL_VALIDATION_FAILED');
  await other.query('rollback');
  assert.equal(outcomeOf(await graph!.execute({ query }, { role: 'anon' })), 'GRAPHQL_VALIDATION_FAILED');
  assert.equal(loads[0], before);
});

test('reloads are forced by hand, and shared by those who ask at the same time', async () => {
  const [graph] = graphs;
  const [before = 0] = loads;
  await graph!.reload();
  assert.equal(loads[0], before + 1);
  await Promise.all(Array.from({ length: 20 }, () => graph!.reload()));
  // The one under way, and one more for all who asked meanwhile; where a look at the fingerprint was under way, only the one for all.
  const shared = loads[0]! - before - 1;
  assert.ok(shared === 1 || shared === 2, `${shared} reloads for twenty`);
});
