/** Many servers over one database: a change of the schema makes each load the catalogs, but only a few at a time, and none answers with the old schema. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createRowgraph, type Rowgraph } from '../../src/index.ts';
import { startTestDatabases, type TestDatabase, type TestDatabases } from '../support/test-databases.ts';
import { until } from '../support/until.ts';

const many = 12;
/** As in `session-statement.ts`. */
const locks = 0x72677261;

let databases: TestDatabases;
let database: TestDatabase;
let graphs: Rowgraph[];

before(async () => {
  databases = await startTestDatabases();
  database = await databases.create('create table letter (id int primary key); insert into letter values (1)');
  graphs = await Promise.all(Array.from({ length: many }, () => createRowgraph({ database: database.url, poolSize: 2 })));
});
after(async () => {
  for (const graph of graphs) await graph.close();
  await databases.close();
});

const askAll = (field: string): Promise<unknown>[] =>
  graphs.map(
    async (graph) => (await graph.execute({ query: `{ letterCollection { edges { node { ${field} } } } }` }, { role: 'anon' })).data,
  );
const answersWith = (value: unknown) => Array.from({ length: many }, () => ({ letterCollection: { edges: [{ node: value }] } }));

test('while others load the catalogs, a server waits for its turn, and then answers with the new schema', async () => {
  const holder = await database.connect();
  const hold = (kind: 'lock' | 'unlock') => holder.query(`select pg_advisory_${kind}(${locks}, place) from generate_series(0, 3) place`);
  await hold('lock');
  await database.run('alter table letter add first int default 1');
  const answers = askAll('first');
  await until(async () => {
    const [row] = await database.run(`select count(*)::int as waiting from pg_locks where locktype = 'advisory' and not granted`);
    return (row?.waiting as number) > 1;
  });
  await hold('unlock');
  assert.deepEqual(await Promise.all(answers), answersWith({ first: 1 }));
});

test('nobody waits for a turn that does not come', async () => {
  const holder = await database.connect();
  await holder.query(`select pg_advisory_lock(${locks}, place) from generate_series(0, 3) place`);
  await database.run('alter table letter add second int default 2');
  assert.deepEqual(await Promise.all(askAll('second')), answersWith({ second: 2 }));
  await holder.end();
});

test('a login without PL/pgSQL loads the schema, too', async () => {
  await database.run('revoke usage on language plpgsql from public; alter table letter add third int default 3');
  assert.deepEqual(await Promise.all(askAll('third')), answersWith({ third: 3 }));
});
