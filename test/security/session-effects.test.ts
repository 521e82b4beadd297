/**
 * Functions that would carry one caller's values to the next: those labelled immutable that read the claims, and those that change the
 * session. `test/process/pgbouncer.test.ts` runs the same check behind a pooler.
 */
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
