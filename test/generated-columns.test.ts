/**
 * Inputs of views have all columns, as in pg_graphql. A value for a column that PostgreSQL always generates is rejected with the reason.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type PgliteGraph, startPgliteGraph } from './support/pglite-graph.ts';

let started: PgliteGraph;

before(async () => {
  started = await startPgliteGraph(`
    create table item (id int primary key generated always as identity, n int, twice int generated always as (n * 2) stored);
    create view shown as select id, n, twice from item;
    create view counted as select * from shown;
    create function count_item() returns trigger language plpgsql as $$ begin
      insert into item (n, twice) values (new.n, 1); return new;
    end $$;
    create trigger count_item instead of insert on counted for each row execute function count_item();
    insert into item (n) values (1);`);
});
after(() => started.stop());

async function errorOf(mutation: string): Promise<{ readonly extensions: Readonly<Record<string, unknown>> }> {
  const { errors } = await started.graph.execute(
    { query: `mutation { changed: ${mutation} { affectedCount } }` },
    { role: 'service_role' },
  );
  return errors![0] as never;
}

for (const mutation of [
  'insertIntoshownCollection(objects: [{id: 5, n: 1}])',
  'insertIntoshownCollection(objects: [{n: 1, twice: 3}])',
  'updateshownCollection(set: {id: 5})',
  'updateshownCollection(set: {twice: 5})',
]) {
  test(mutation, async () => {
    const { extensions } = await errorOf(mutation);
    const { code, sqlstate, hint } = extensions;
    const expected = 'PostgreSQL always generates the values of this column. Leave it out.';
    assert.deepEqual({ code, sqlstate, hint }, { code: 'BAD_USER_INPUT', sqlstate: '428C9', hint: expected });
  });
}

test('without the column, the row is written', async () => {
  const inserted = await started.ask('mutation { changed: insertIntoshownCollection(objects: [{n: 4}]) { affectedCount } }');
  assert.deepEqual(inserted, { changed: { affectedCount: 1 } });
});

test("a trigger that assigns such a column is not the client's error", async () => {
  const { extensions } = await errorOf('insertIntocountedCollection(objects: [{n: 1}])');
  assert.deepEqual([extensions.code, extensions.sqlstate], ['DATABASE_ERROR', '428C9']);
});
