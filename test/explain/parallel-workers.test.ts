/** Rows that parallel workers share are counted in total: in plans, in what was measured, and in advice. Over a real PostgreSQL. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createRowgraph, type DatabasePlanNode, type Rowgraph } from '../../src/index.ts';
import { startTestDatabases, type TestDatabase, type TestDatabases } from '../support/test-databases.ts';

let databases: TestDatabases;
let database: TestDatabase;
let graph: Rowgraph;
before(async () => {
  databases = await startTestDatabases();
  database = await databases.create(`
    create table item (id int primary key, score int) with (parallel_workers = 2);
    alter table item alter score set statistics 1000;
    grant select on item to anon;`);
  // On a connection of its own: PostgreSQL counts the rows of a session up to ten seconds later, unless it ends, and then once more than
  // vacuum has counted them.
  const loading = await database.connect();
  await loading.query('insert into item select i, i % 1000 from generate_series(1, 60000) i');
  await loading.end();
  // Reads all rows. With the default statistics, it samples half of them, and by chance takes one value in 170 for a more common one.
  await database.run('vacuum analyze item');
  await database.run(`do $$ declare setting text; begin
    foreach setting in array array['parallel_setup_cost', 'parallel_tuple_cost', 'min_parallel_table_scan_size', 'jit'] loop
      execute format('alter database %I set %s = 0', current_database(), setting);
    end loop;
  end $$`);
  graph = await createRowgraph({ database: database.url });
});
after(async () => {
  await graph.close();
  await databases.close();
});

const nodesOf = (node: DatabasePlanNode): DatabasePlanNode[] => [node, ...node.children.flatMap(nodesOf)];
const sorted = '{ itemCollection(first: 10, orderBy: [{ score: DescNullsLast }]) { edges { node { id } } } }';
const filtered = '{ itemCollection(filter: { score: { eq: 7 } }) { edges { node { id } } } }';

async function explain(query: string, mode: 'plan' | 'analyze') {
  const { advice, statements } = await graph.explain({ query }, { role: 'anon' }, { mode });
  const nodes = nodesOf(statements[0]!.databasePlan!.root);
  assert.ok(
    nodes.some(({ type }) => type.startsWith('Gather')),
    nodes.map(({ type }) => type).join(),
  );
  const { estimate, actual } = nodes.find(({ table }) => table?.name === 'item')!;
  return { message: advice[0]!.message, estimate: estimate.rows, actual };
}

for (const participation of ['on', 'off']) {
  test(`the leader takes part: ${participation}`, async () => {
    await database.run(
      `do $$ begin execute format('alter database %I set parallel_leader_participation = ${participation}', current_database()); end $$`,
    );
    for (const mode of ['plan', 'analyze'] as const) {
      const { message, estimate, actual } = await explain(sorted, mode);
      assert.match(message, /^about 60,00\d rows are sorted by score desc nulls last, id to return 10; /);
      assert.ok(Math.abs(estimate - 60_000) < 5, String(estimate));
      if (mode === 'analyze') assert.deepEqual([Math.round(actual!.rows / 10), actual!.loops, actual!.removed], [6000, 1, 0]);
      const { message: filteredMessage } = await explain(filtered, mode);
      assert.match(filteredMessage, /^about (60,00\d|59,99\d) rows are read to find 30 by score; /);
    }
  });
}
