/** Functions that raise errors and notices of megabytes: they are not read, and the connection stays in use. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestGraph, type TestGraph } from './support/test-graph.ts';

let graph: TestGraph;
before(async () => {
  graph = await startTestGraph(
    `create table entry (id int primary key);
     create function fail(size int) returns int stable language plpgsql as $$ begin raise 'long' using detail = repeat('d', size); end $$;
     create function write_and_fail(size int) returns int language plpgsql as
       $$ begin insert into entry values (1); raise 'long' using hint = repeat('h', size); end $$;
     create function tell(size int) returns int stable language plpgsql as
       $$ begin for i in 1..3 loop raise notice '%', repeat('n', size); end loop; return size; end $$;`,
    { poolSize: 1 },
  );
});
after(() => graph.stop());

const caller = { role: 'service_role' };
const run = async (query: string) => JSON.parse(JSON.stringify(await graph.graph.execute({ query }, caller)));

test('an error of more than a megabyte is not shown, and changes nothing', async () => {
  for (const query of ['{ fail(size: 3000000) }', 'mutation { write_and_fail(size: 3000000) }']) {
    const { errors } = await run(query);
    assert.equal(errors[0].extensions.code, 'RESPONSE_TOO_LARGE');
    assert.match(errors[0].message, /an error of more than 1048576 bytes, which is not shown\. Nothing was changed/);
  }
  const short = await run('{ fail(size: 100000) }');
  assert.deepEqual([short.errors[0].message, short.errors[0].extensions.code], ['long', 'RAISED']);
  assert.deepEqual(await run('{ entryCollection { edges { node { id } } } }'), { data: { entryCollection: { edges: [] } } });
});

test('an error of more than a megabyte fails only its own request', async () => {
  const queries = ['{ fail(size: 3000000) }', '{ tell(size: 1) }', '{ fail(size: 2000000) }', '{ tell(size: 2) }'];
  const results = await Promise.all(queries.map(run));
  assert.deepEqual(
    results.map(({ data, errors }) => errors?.[0].extensions.code ?? data),
    ['RESPONSE_TOO_LARGE', { tell: 1 }, 'RESPONSE_TOO_LARGE', { tell: 2 }],
  );
});

test('long notices are skipped', async () => {
  assert.deepEqual(await run('{ tell(size: 3000000) }'), { data: { tell: 3000000 } });
});
