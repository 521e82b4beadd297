/** A stream of DDL under requests that never pause: no response mixes two schemas, and none fails but for what the schema of its time says. */
import assert from 'node:assert/strict';
import { after, before, type TestContext, test } from 'node:test';
import type { Client } from 'pg';
import { openPgDatabase } from '../../src/database/pg-database.ts';
import type { ExecutionResult } from '../../src/engine/request.ts';
import type { Event } from '../../src/events.ts';
import { installExtension } from '../../src/extension/install-extension.ts';
import { createRowgraph, type Rowgraph } from '../../src/index.ts';
import { startTestDatabases, type TestDatabase, type TestDatabases } from '../support/test-databases.ts';
import { until } from '../support/until.ts';

/** The one row of `truth` says how the columns of `item` are to be understood; each change of these changes it in the same transaction. */
const setup = `
  create table truth (id int primary key, is_swapped bool, number_type text);
  create table item (id int primary key, a text, b text, number int);
  create table added (id serial primary key, first text, second text);
  grant all on all sequences in schema public to anon;
  insert into truth values (1, false, 'integer');
  insert into item select n, 'in a', 'in b', 7 from generate_series(1, 20) n;
  comment on column item.a is '@graphql({"name": "first"})';
  comment on column item.b is '@graphql({"name": "second"})';
  create function greet() returns text stable language sql as $$ select 'hello'::text $$;
`;

let databases: TestDatabases;
before(async () => {
  databases = await startTestDatabases();
});
after(() => databases.close());

interface OpenGraph {
  readonly database: TestDatabase;
  readonly graph: Rowgraph;
  /** Runs the changes. */
  readonly ddl: Client;
  readonly loads: readonly { start: number; end: number }[];
  readonly events: readonly Event[];
}

async function openGraph(t: TestContext, withTriggers: boolean): Promise<OpenGraph> {
  const database = await databases.create(setup);
  if (withTriggers) {
    const admin = openPgDatabase(database.url.replace('authenticator', 'postgres'));
    await installExtension(admin);
    await admin.close();
  }
  const loads: { start: number; end: number }[] = [];
  const events: Event[] = [];
  const observe = (event: Event): void => {
    events.push(event);
    const end = performance.now();
    if (event.kind === 'schema-loaded') loads.push({ start: end - event.seconds * 1000, end });
  };
  const graph = await createRowgraph({ database: database.url, poolSize: 6, observe, timeout: 3_600_000 });
  const ddl = await database.connect();
  t.after(async () => {
    // First, for a test that fails in the middle of a change holds requests up.
    await ddl.end();
    await graph.close();
  });
  return { database, graph, ddl, loads, events };
}

/** Sends requests from several callers until the work is done; each response is looked at. What is wrong with one ends the work: `answered` throws it. */
async function underLoad(
  graph: Rowgraph,
  queries: Readonly<Record<string, (result: ExecutionResult) => void>>,
  work: (answered: () => number) => Promise<void>,
): Promise<number> {
  let isDone = false;
  let count = 0;
  const failures: unknown[] = [];
  const throwFailure = (): void => {
    if (failures.length > 0) throw failures[0];
  };
  const callers = ['anon', 'authenticated', 'service_role', 'anon'].map(async (role, index) => {
    const entries = Object.entries(queries);
    for (let turn = index; !isDone; turn++) {
      const [query, check] = entries[turn % entries.length]!;
      check(await graph.execute({ query }, { role }));
      count++;
    }
  });
  const settled = callers.map((caller) => caller.catch((error: unknown) => failures.push(error)));
  const answered = (): number => {
    throwFailure();
    return count;
  };
  await work(answered).finally(() => {
    isDone = true;
  });
  await Promise.all(settled);
  throwFailure();
  return count;
}

interface Mixed {
  readonly truthCollection: { edges: { node: { is_swapped: boolean; number_type: string } }[] };
  readonly itemCollection: { edges: { node: { first: string; second: string; number: unknown } }[] };
}

function assertTrue({ data, errors }: ExecutionResult): void {
  assert.equal(errors, undefined, JSON.stringify(errors));
  const { truthCollection, itemCollection } = data as unknown as Mixed;
  const { is_swapped, number_type } = truthCollection.edges[0]!.node;
  for (const { node } of itemCollection.edges) {
    assert.deepEqual([node.first, node.second], is_swapped ? ['in b', 'in a'] : ['in a', 'in b']);
    assert.equal(typeof node.number, number_type === 'integer' ? 'number' : 'string');
  }
  assert.equal(itemCollection.edges.length, 20);
}

/** Data or, while something is not there, that it is not there. */
function assertThereOrNot({ errors }: ExecutionResult): void {
  if (errors) assert.equal(errors[0]?.extensions.code, 'GRAPHQL_VALIDATION_FAILED', JSON.stringify(errors));
}

const waiting = "select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";
const mixed = '{ truthCollection { edges { node { is_swapped number_type } } } itemCollection { edges { node { first second number } } } }';
const write =
  'mutation { insertIntoaddedCollection(objects: [{first: "1", second: "2"}]) { records { first second } } greetings: insertIntoaddedCollection(objects: [{first: "1", second: "2"}]) { affectedCount } }';

test('with triggers, every response is that of one schema', async (t) => {
  const { database, graph, ddl, loads, events } = await openGraph(t, true);
  let isSwapped = false;
  let isText = false;
  const steps: (() => string)[] = [
    () => {
      isSwapped = !isSwapped;
      const [first, second] = isSwapped ? ['b', 'a'] : ['a', 'b'];
      return `comment on column item.${first} is '@graphql({"name": "first"})'; comment on column item.${second} is '@graphql({"name": "second"})';
        update truth set is_swapped = ${isSwapped};`;
    },
    () => {
      isText = !isText;
      return isText
        ? `alter table item alter number type text using number || ' times'; update truth set number_type = 'text';`
        : `alter table item alter number type int using 7; update truth set number_type = 'integer';`;
    },
    () => 'alter table item add extra int default 1;',
    () => 'alter table item drop extra; drop function greet;',
    () => `create function greet() returns text stable language sql as $$ select 'hello'::text $$;`,
    () => 'alter table added rename first to third; alter table added rename second to first; alter table added rename third to second;',
  ];
  const queries = {
    [mixed]: assertTrue,
    '{ itemCollection { edges { node { extra } } } greet }': assertThereOrNot,
    [write]: ({ errors, data }: ExecutionResult) => {
      assert.equal(errors, undefined, JSON.stringify(errors));
      assert.deepEqual(JSON.parse(JSON.stringify(data)).insertIntoaddedCollection, { records: [{ first: '1', second: '2' }] });
    },
  };
  const count = await underLoad(graph, queries, async (answered) => {
    for (let turn = 0; turn < 48; turn++) {
      await ddl.query('begin');
      await ddl.query(steps[turn % steps.length]!());
      // Some are held until requests have come to wait for them.
      const began = answered();
      if (turn % 3 === 0) await until(async () => answered() >= began + 8 || (await database.run(waiting)).length > 0);
      await ddl.query('commit');
      // One change after the other, or with requests in between.
      const before = answered();
      if (turn % 4 > 0) await until(() => answered() >= before + 6);
    }
  });
  assert.ok(count > 100, `${count} requests`);
  assert.ok(!events.some(({ kind }) => kind === 'defect-found'));
  for (const [index, { start }] of loads.entries()) {
    const previous = loads[index - 1];
    assert.ok(previous === undefined || start >= previous.end - 1, 'one load at a time');
  }
  assert.ok(loads.length <= 2 * 48 + 2, `${loads.length} loads for 48 changes`);
});

test('with triggers, DDL that never pauses holds up requests and fails none', async (t) => {
  const { graph, ddl } = await openGraph(t, true);
  await underLoad(graph, { [mixed]: assertTrue, [write]: assertThereOrNot }, async () => {
    for (let turn = 0; turn < 150; turn++) await ddl.query(`create table passing_${turn} (id int primary key); drop table passing_${turn}`);
  });
  assertTrue(await graph.execute({ query: mixed }, { role: 'anon' }));
});

test('without triggers, what is added and dropped is there or not, and in the end all is as it is', async (t) => {
  const { graph, ddl } = await openGraph(t, false);
  const queries = {
    '{ itemCollection { edges { node { extra } } } }': assertThereOrNot,
    '{ greet }': assertThereOrNot,
    '{ passingCollection { edges { node { id } } } }': assertThereOrNot,
    [mixed]: assertTrue,
  };
  await underLoad(graph, queries, async (answered) => {
    const untilSomeAnswers = async (): Promise<void> => {
      const before = answered();
      await until(() => answered() >= before + 8);
    };
    for (let turn = 0; turn < 20; turn++) {
      await ddl.query('alter table item add extra int default 1; create table passing (id int primary key)');
      await untilSomeAnswers();
      await ddl.query('alter table item drop extra; drop function greet');
      await untilSomeAnswers();
      await ddl.query(`drop table passing; create function greet() returns text stable language sql as $$ select 'hello'::text $$`);
    }
  });
  // So many requests for what was not there may have used up the comparisons with the database (docs/schema-changes.md).
  await until(async () => {
    const result = await graph.execute({ query: '{ greet }' }, { role: 'anon' });
    assertThereOrNot(result);
    return result.errors === undefined;
  });
  assertThereOrNot(await graph.execute({ query: '{ passingCollection { edges { node { id } } } }' }, { role: 'anon' }));
});

test('what is dropped and created again while PostgreSQL parses a statement is there', async (t) => {
  const { database, graph, ddl } = await openGraph(t, false);
  await ddl.query('begin; lock table item in access exclusive mode');
  // PostgreSQL looks the function up, and then waits for the table.
  const query = '{ greet itemCollection(first: 1) { edges { node { number } } } }';
  const response = graph.execute({ query }, { role: 'anon' });
  await database.untilLocked('greet', 1);
  await ddl.query(
    `drop function greet; create function greet() returns text stable language sql as $$ select 'hello again'::text $$; commit`,
  );
  assert.deepEqual(await response, { data: { greet: 'hello again', itemCollection: { edges: [{ node: { number: 7 } }] } } });
});
