/** Comment directives that cannot be read are told of once for each load of the schema, and stop nothing. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRowgraph } from '../../src/index.ts';
import { startPglite } from '../support/pglite.ts';
import { grantsSql, rolesSql } from '../support/roles.ts';

test('ignored directives are told of once a load', async () => {
  const database = await startPglite();
  await database.exec(`${rolesSql} ${grantsSql} create table note (id int primary key, text text); insert into note values (1, 'a');
    comment on table note is '@graphql({"max_rows": "many", "resolver": "x"})'; comment on column note.text is '@graphql({"name": }) (see there)';
    comment on schema public is '@graphql({"inflect_names": tru})';`);
  const told: (readonly string[])[] = [];
  const graph = await createRowgraph({ database, observe: (event) => event.kind === 'directives-ignored' && told.push(event.problems) });
  try {
    for (const role of ['anon', 'service_role']) {
      assert.deepEqual(await graph.execute({ query: '{ noteCollection { edges { node { text } } } }' }, { role }), {
        data: { noteCollection: { edges: [{ node: { text: 'a' } }] } },
      });
    }
    assert.equal(told.length, 1);
    assert.deepEqual(
      told[0]?.map((problem) => problem.slice(0, problem.indexOf(':'))),
      ['schema public', 'table public.note', 'column public.note.text'],
    );
    await graph.reload();
    assert.equal(told.length, 2);
    await database.exec('comment on table note is null; comment on column note.text is null; comment on schema public is null');
    await graph.reload();
    assert.equal(told.length, 2);
  } finally {
    await graph.close();
    await database.close();
  }
});
