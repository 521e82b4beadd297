/**
 * Functions that would carry one caller's values to the next: those labelled immutable that read the claims, and those that change the
 * session. `test/process/pgbouncer.test.ts` runs the same check behind a pooler.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createRowgraph } from '../../src/index.ts';
import { checkCallers, leakySql } from '../support/leaky-functions.ts';
import { startPgliteGraph } from '../support/pglite-graph.ts';
import { startTestDatabases, type TestDatabase, type TestDatabases } from '../support/test-databases.ts';

let databases: TestDatabases;
let database: TestDatabase;

before(async () => {
  databases = await startTestDatabases();
  database = await databases.create(leakySql);
});
after(() => databases.close());

for (const prepare of [true, false]) {
  test(`nobody meets another caller's values on a small pool (prepare ${prepare ? 'on' : 'off'})`, async () => {
    const graph = await createRowgraph({ database: database.url, poolSize: 2, prepare });
    try {
      await checkCallers(graph, prepare ? 46 : 47);
    } finally {
      await graph.close();
    }
  });
}

test('nor on PGlite', async () => {
  const { graph, stop } = await startPgliteGraph(leakySql);
  try {
    await checkCallers(graph, 48);
  } finally {
    await stop();
  }
});

test('what a session keeps of sequences and of random numbers tells nobody anything', async () => {
  const { graph, ask, stop } = await startPgliteGraph(`
    create table item (id int generated always as identity primary key, name text);
    create function mine() returns int stable language sql as $$ select currval('item_id_seq')::int $$;
    create function latest() returns int stable language plpgsql as $$ begin return lastval(); end $$;
    create function shuffle() returns text language sql as $$ select setseed(0.5)::text $$;
    create function shuffle_and_fail() returns text language plpgsql as $$ begin perform setseed(0.5); raise 'failed'; end $$;
    create function draw() returns float8 language sql as $$ select random() $$;`);
  try {
    await ask('mutation { insertIntoitemCollection(objects: [{name: "x"}]) { affectedCount } }');
    for (const field of ['mine', 'latest']) {
      const { data, errors } = await graph.execute({ query: `{ ${field} }` }, { role: 'anon' });
      assert.equal(errors?.[0]?.extensions.sqlstate, '55000', JSON.stringify(data));
    }
    for (const shuffle of ['shuffle', 'shuffle_and_fail']) {
      const drawn = new Set<unknown>();
      for (let turn = 0; turn < 3; turn++) {
        await graph.execute({ query: `mutation { ${shuffle} }` }, { role: 'anon' });
        drawn.add(JSON.stringify(await ask('mutation { draw }')));
      }
      assert.equal(drawn.size, 3, shuffle);
    }
  } finally {
    await stop();
  }
});
