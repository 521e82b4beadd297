import { test } from 'node:test';
import { startTestGraph } from './support/test-graph.ts';

test('x', async () => {
  const started = await startTestGraph(`
    create table maker (id int primary key, name text not null);
    create table "makerRow" (id int primary key, maker maker);
    create table "maker_row" (id int primary key, m maker, r "makerRow");
    create table log (id int primary key, l maker_row[], self text);
    alter table log add column prev log[];
    insert into maker values (1, 'a');
    insert into "makerRow" values (1, row(null, null));
    insert into maker_row values (1, row(null, 'b'), row(null, row(null, null)));
    insert into log select 1, array[m], 's', null from maker_row m;
  `);
  console.log(
    JSON.stringify(
      await started.ask(
        '{ makerRowCollection { edges { node { __typename maker { __typename id } } } } maker_rowCollection { edges { node { m { __typename name } r { __typename id maker { __typename id } } } } } logCollection { edges { node { l { __typename r { __typename maker { id } } } prev { __typename id } } } } }',
      ),
    ),
  );
  await started.stop();
});
