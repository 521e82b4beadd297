/** An enum with no label that is a GraphQL name does not become a type: its values are Opaque, and can still be used everywhere. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestGraph, type TestGraph } from './support/test-graph.ts';

let graph: TestGraph;

before(async () => {
  graph = await startTestGraph(`
    comment on schema public is '@graphql({"introspection": true})';
    create type stars as enum ('1', '2', 'two "and a half"', '3');
    create table review (id int primary key, stars stars not null, earlier stars[]);
    insert into review values (1, '3', '{1,2}'), (2, '1', null), (3, 'two "and a half"', '{}');
    create function _again(rec review) returns stars stable language sql as 'select rec.stars';`);
});
after(() => graph.stop());

test('are read, in arrays and from computed fields too', async () => {
  assert.deepEqual(
    await graph.ask('{ reviewCollection(orderBy: [{stars: AscNullsLast}]) { edges { node { id stars earlier again } } } }'),
    {
      reviewCollection: {
        edges: [
          { node: { id: 2, stars: '1', earlier: null, again: '1' } },
          { node: { id: 3, stars: 'two "and a half"', earlier: [], again: 'two "and a half"' } },
          { node: { id: 1, stars: '3', earlier: ['1', '2'], again: '3' } },
        ],
      },
    },
  );
});

test('are filtered by and written', async () => {
  assert.deepEqual(await graph.ask('{ reviewCollection(filter: {stars: {eq: "3"}}) { edges { node { id } } } }'), {
    reviewCollection: { edges: [{ node: { id: 1 } }] },
  });
  const written = 'mutation { insertIntoreviewCollection(objects: [{id: 4, stars: "2", earlier: ["3"]}]) { records { stars earlier } } }';
  assert.deepEqual(await graph.ask(written), { insertIntoreviewCollection: { records: [{ stars: '2', earlier: ['3'] }] } });
});

test('are not a type', async () => {
  assert.deepEqual(await graph.ask('{ __type(name: "stars") { name } filter: __type(name: "starsFilter") { name } }'), {
    __type: null,
    filter: null,
  });
});
