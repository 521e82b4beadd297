/** With the event triggers: the very next request after DDL commits sees it, and DDL that does not commit changes nothing. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { PGlite } from '@electric-sql/pglite';
import { openPgDatabase } from '../../src/database/pg-database.ts';
import { openPgliteDatabase } from '../../src/database/pglite-database.ts';
import type { Event } from '../../src/events.ts';
import { installExtension } from '../../src/extension/install-extension.ts';
import { createRowgraph, type Rowgraph } from '../../src/index.ts';
import { startPglite } from '../support/pglite.ts';
import { grantsSql, rolesSql } from '../support/roles.ts';
import { startTestDatabases, type TestDatabase, type TestDatabases } from '../support/test-databases.ts';
import { until } from '../support/until.ts';
import { callerOf, changes, outcomeOf, type SchemaChange, setup, silentChanges } from './schema-changes.ts';

let databases: TestDatabases;
let database: TestDatabase;
let pglite: PGlite;
const events: Event[] = [];
const loads = (): number => events.filter(({ kind }) => kind === 'schema-loaded').length;
/** The version of the latest load; null without triggers. */
const loadedVersion = (): string | null | undefined => events.findLast((event) => event.kind === 'schema-loaded')?.version;
const graphs: Rowgraph[] = [];
const run: ((sql: string) => Promise<unknown>)[] = [];

before(async () => {
  [databases, pglite] = await Promise.all([startTestDatabases(), startPglite()]);
  database = await databases.create(setup);
  const admin = openPgDatabase(database.url.replace('authenticator', 'postgres'));
  await installExtension(admin);
  await admin.close();
  await pglite.exec(rolesSql + grantsSql + setup);
  await installExtension(openPgliteDatabase(pglite));
  const schemas = ['public', 'app'];
  graphs.push(await createRowgraph({ database: database.url, schemas, observe: (event) => events.push(event) }));
  graphs.push(await createRowgraph({ database: pglite, schemas }));
  run.push(database.run, (sql) => pglite.exec(sql));
});
after(async () => {
  for (const graph of graphs) await graph.close();
  await pglite.close();
  await databases.close();
});

describe('each change of the schema', { concurrency: true }, () => {
  for (const [index, name] of ['PostgreSQL', 'PGlite'].entries()) {
    describe(name, { concurrency: 1 }, () => {
      for (const change of [...changes, ...silentChanges]) {
        test(`${change.name}: at once`, async () => {
          const graph = graphs[index]!;
          assert.deepEqual(outcomeOf(await graph.execute({ query: change.query }, callerOf(change))), change.before);
          await run[index]!(change.sql);
          assert.deepEqual(outcomeOf(await graph.execute({ query: change.query }, callerOf(change))), change.after);
        });
      }
    });
  }
});

const ask = async (query: string): Promise<unknown> => outcomeOf(await graphs[0]!.execute({ query }, { role: 'anon' }));

test('DDL that is not committed, or rolled back, changes nothing and loads nothing', async () => {
  const other = await database.connect();
  const query = '{ neverCollection { edges { node { id } } } }';
  await graphs[0]!.reload();
  const before = loads();
  await other.query('begin');
  await other.query(
    `create table never (id int primary key); create function never_called() returns int stable language sql as 'select 1'`,
  );
  await other.query(`comment on table author is '@graphql({"name": "Never"})'; grant all on never to anon`);
  assert.equal(await ask(query), 'GRAPHQL_VALIDATION_FAILED');
  assert.deepEqual(await ask('{ authorCollection { edges { node { id } } } }'), { authorCollection: { edges: [{ node: { id: 7 } }] } });
  await other.query('rollback');
  assert.equal(await ask(query), 'GRAPHQL_VALIDATION_FAILED');
  // What is told of the next change comes behind whatever was told of this one.
  await other.query('create table afterwards (id int primary key)');
  await until(() => loads() > before);
  assert.equal(loads(), before + 1);
});

/** Of objects in a schema that the API does not depend on, or of what it does not show. */
const changesElsewhere = [
  'create table aside.passing (id serial primary key, name text)',
  'alter table aside.passing add more int',
  'create index on aside.passing (name)',
  'alter table aside.passing drop more, add check (id > 0)',
  'create table aside.parts (id int) partition by range (id)',
  'create table aside.part partition of aside.parts for values from (0) to (9)',
  'drop table aside.passing, aside.parts',
  'create schema passing; drop schema passing',
  // These might concern any schema, so the catalogs are compared.
  `comment on table author is 'only words'`,
  'alter default privileges in schema aside grant select on tables to anon',
];

test('DDL that the API does not depend on is answered from the schema that is loaded', async () => {
  const query = '{ authorCollection { edges { node { id } } } }';
  const answer = { authorCollection: { edges: [{ node: { id: 7 } }] } };
  const insert = 'mutation { updateauthorCollection(set: {name: 7}, filter: {id: {eq: 7}}) { affectedCount } }';
  assert.deepEqual(await ask(query), answer);
  await database.run('create schema aside');
  await graphs[0]!.reload();
  const before = loads();
  for (const sql of changesElsewhere) {
    await database.run(sql);
    assert.deepEqual(await ask(query), answer, sql);
    await database.run(sql.startsWith('create table') ? 'create table aside.more (id int); drop table aside.more' : 'select 1');
    assert.deepEqual(await ask(insert), { updateauthorCollection: { affectedCount: 1 } }, sql);
  }
  assert.equal(loads(), before);
});

test('a table that changes holds up its own requests and those of related tables, not others', async () => {
  await database.run(`create table changing (id int primary key, a text, b text, owner int); create table owner (id int primary key);
    alter table changing add foreign key (owner) references owner; insert into owner values (1); insert into changing values (1, 'a', 'b', 1)`);
  const names = ['author', 'owner', 'changing'] as const;
  const queries = names.map((name) => `{ ${name}Collection { edges { node { id } } } }`);
  for (const query of queries) assert.equal(typeof (await ask(query)), 'object');
  const locker = await database.connect();
  await locker.query('begin; lock table pg_catalog.pg_description in access exclusive mode');
  const before = loads();
  const swap = 'alter table changing rename a to c; alter table changing rename b to a; alter table changing rename c to b';
  await database.run(swap);
  const answered: string[] = [];
  const held = ['{ changingCollection { edges { node { a b } } } }', queries[1]!].map(async (query) => {
    const answer = await ask(query);
    answered.push(query);
    return answer;
  });
  for (let time = 0; time < 5; time++) {
    assert.deepEqual(await ask(queries[0]!), { authorCollection: { edges: [{ node: { id: 7 } }] } });
    await database.run('alter table changing add if not exists more int');
  }
  assert.deepEqual([answered, loads()], [[], before]);
  await locker.query('rollback');
  assert.deepEqual(await Promise.all(held), [
    { changingCollection: { edges: [{ node: { a: 'b', b: 'a' } }] } },
    { ownerCollection: { edges: [{ node: { id: 1 } }] } },
  ]);
});

test('transactions that commit in another order than they began are all seen', async () => {
  const [first, second, third] = [await database.connect(), await database.connect(), await database.connect()];
  const query = (name: string): string => `{ ${name}Collection { edges { node { id } } } }`;
  const empty = (name: string) => ({ [`${name}Collection`]: { edges: [] } });
  for (const client of [first, second, third]) await client.query('begin');
  await first.query('create table alpha (id int primary key)');
  await second.query('create table beta (id int primary key)');
  await third.query('create table gamma (id int primary key)');
  await second.query('commit');
  assert.deepEqual(await ask(query('beta')), empty('beta'));
  assert.equal(await ask(query('alpha')), 'GRAPHQL_VALIDATION_FAILED');
  await third.query('commit');
  assert.deepEqual(await ask(query('gamma')), empty('gamma'));
  assert.equal(await ask(query('alpha')), 'GRAPHQL_VALIDATION_FAILED');
  await first.query('commit');
  assert.deepEqual(await ask(query('alpha')), empty('alpha'));
});

/** What is true of a request that meets the lock of DDL under way, and goes on when that has committed. */
const lockedChanges: readonly Pick<SchemaChange, 'name' | 'sql' | 'query' | 'after'>[] = [
  {
    name: 'a query of a column whose type changes',
    sql: `alter table waiting alter number type text using 'n' || number`,
    query: '{ waitingCollection { edges { node { number } } } }',
    after: { waitingCollection: { edges: [{ node: { number: 'n5' } }] } },
  },
  {
    name: 'a query of fields that change places',
    sql: `comment on column waiting.a is '@graphql({"name": "b"})'; comment on column waiting.b is '@graphql({"name": "a"})'`,
    query: '{ waitingCollection { edges { node { a b } } } }',
    after: { waitingCollection: { edges: [{ node: { a: 'in b', b: 'in a' } }] } },
  },
  {
    name: 'a mutation of fields that change places',
    sql: 'comment on column waiting.a is null; comment on column waiting.b is null',
    query: 'mutation { updatewaitingCollection(set: {a: "new a"}, filter: {b: {eq: "in b"}}) { affectedCount records { a b } } }',
    after: { updatewaitingCollection: { affectedCount: 1, records: [{ a: 'new a', b: 'in b' }] } },
  },
  {
    name: 'a query of a table that is dropped',
    sql: 'drop table waiting',
    query: '{ waitingCollection { edges { node { a b } } } }',
    after: 'GRAPHQL_VALIDATION_FAILED',
  },
];

test('a request that waits for the lock of DDL is answered by the schema that comes of it', async (t) => {
  await database.run(
    `create table waiting (id int primary key, number int, a text, b text); insert into waiting values (1, 5, 'in a', 'in b')`,
  );
  const other = await database.connect();
  for (const { name, sql, query, after } of lockedChanges) {
    await t.test(name, async () => {
      // The second time it is prepared.
      await ask('{ waitingCollection { edges { node { number a b } } } }');
      if (!query.startsWith('mutation')) await ask(query);
      await other.query('begin; lock table waiting in access exclusive mode');
      await other.query(sql);
      const answer = ask(query);
      await database.untilLocked('waiting', 1);
      await other.query('commit');
      assert.deepEqual(await answer, after);
    });
  }
});

test('an insert that waits for the lock of DDL does nothing before it is compiled for the schema that comes of it', async () => {
  await database.run(
    `create table counted (id serial primary key, a text, b text); grant usage on all sequences in schema public to public`,
  );
  const other = await database.connect();
  const insert = 'mutation { insertIntocountedCollection(objects: [{a: "in a", b: "in b"}]) { records { id } } }';
  const inserted = (id: number) => ({ insertIntocountedCollection: { records: [{ id }] } });
  await until(async () => (await ask(insert)) !== 'GRAPHQL_VALIDATION_FAILED');
  const { rows: before } = await other.query('select max(id) as id from counted');
  await other.query('begin; lock table counted in access exclusive mode');
  await other.query(`comment on column counted.a is '@graphql({"name": "b"})'; comment on column counted.b is '@graphql({"name": "a"})'`);
  const answer = ask(insert);
  await database.untilLocked('counted', 1);
  await other.query('commit');
  // The default of the column has been called once.
  assert.deepEqual(await answer, inserted(before[0].id + 1));
  const { rows } = await other.query('select a, b from counted order by id desc limit 1');
  assert.deepEqual(rows, [{ a: 'in b', b: 'in a' }]);
});

test('triggers that are dropped, disabled or installed again are noticed', async () => {
  const insert = 'mutation { insertIntocountedCollection(objects: [{a: "new"}]) { affectedCount } }';
  const inserted = { insertIntocountedCollection: { affectedCount: 1 } };
  assert.deepEqual(await ask(insert), inserted);
  await database.run('drop schema rowgraph cascade');
  assert.deepEqual(await ask(insert), inserted);
  assert.deepEqual(await ask('{ authorCollection { edges { node { id } } } }'), { authorCollection: { edges: [{ node: { id: 7 } }] } });
  assert.deepEqual(await ask('mutation { deleteFromauthorCollection(filter: {id: {eq: 0}}) { affectedCount } }'), {
    deleteFromauthorCollection: { affectedCount: 0 },
  });
  assert.equal(loadedVersion(), null);
  const admin = openPgDatabase(database.url.replace('authenticator', 'postgres'));
  await installExtension(admin);
  await admin.close();
  // A load that began while the triggers were being installed may see only the new schema, and not yet them.
  await until(() => loadedVersion() !== null);
  await database.run(
    `comment on column author.name is '@graphql({"name": "id"})'; comment on column author.id is '@graphql({"name": "name"})'`,
  );
  await database.run('update author set name = 8');
  assert.deepEqual(await ask('{ authorCollection { edges { node { id name } } } }'), {
    authorCollection: { edges: [{ node: { id: 8, name: 7 } }] },
  });
});
