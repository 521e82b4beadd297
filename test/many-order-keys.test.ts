/** Pages of an order by very many keys: the same rows as with few, and a statement whose size does not grow with their square. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { RandomSource } from './property/random-source.ts';
import { startTestGraph, type TestGraph } from './support/test-graph.ts';

const columns = Array.from({ length: 300 }, (_, index) => `c${index}`);
const random = new RandomSource(71);
let graph: TestGraph;
before(async () => {
  const row = (id: number): string =>
    `(${id}, ${columns.map((_, index) => (index < 20 ? random.pick(['null', '0', '1']) : 'null')).join(', ')})`;
  const rows = Array.from({ length: 60 }, (_, id) => row(id));
  // Equal in all but the last of the first twenty columns.
  rows.push(`(100, ${columns.map((_, index) => (index === 19 ? '1' : 'null')).join(', ')})`);
  rows.push(`(101, ${columns.map(() => 'null').join(', ')})`);
  graph = await startTestGraph(
    `create table wide (id int primary key, ${columns.map((column) => `${column} int`).join(', ')});
     insert into wide values ${rows.join(', ')}`,
  );
});
after(() => graph.stop());

const directions = ['AscNullsFirst', 'AscNullsLast', 'DescNullsFirst', 'DescNullsLast'];
const orderBy = (count: number): string => `[${columns.slice(0, count).map((column, index) => `{ ${column}: ${directions[index % 4]} }`)}]`;
interface Page {
  readonly wideCollection: { readonly edges: readonly { readonly cursor: string; readonly node: { readonly id: number } }[] };
}

for (const count of [16, 17, 20])
  test(`pages by ${count} keys follow each other in both directions`, async () => {
    const read = async (page: string): Promise<Page['wideCollection']['edges']> =>
      ((await graph.ask(`{ wideCollection(orderBy: ${orderBy(count)}, ${page}) { edges { cursor node { id } } } }`)) as Page).wideCollection
        .edges;
    const ids = (edges: Page['wideCollection']['edges']): number[] => edges.map(({ node }) => node.id);
    const sql = `select id from wide order by ${columns
      .slice(0, count)
      .map((column, index) => `${column} ${['asc nulls first', 'asc nulls last', 'desc nulls first', 'desc nulls last'][index % 4]}`)}, id`;
    const all = (await graph.database.run(sql)).map(({ id }) => Number(id));
    const forward: number[] = [];
    for (let edges = await read('first: 7'); edges.length > 0; edges = await read(`first: 7, after: "${edges.at(-1)!.cursor}"`))
      forward.push(...ids(edges));
    assert.deepEqual(forward, all);
    const backward: number[] = [];
    for (let edges = await read('last: 7'); edges.length > 0; edges = await read(`last: 7, before: "${edges[0]!.cursor}"`))
      backward.unshift(...ids(edges));
    assert.deepEqual(backward, all);
  });

test('the statement for a cursor does not grow with the square of its values', async () => {
  const cursor = Buffer.from(JSON.stringify([...columns.map(() => 0), 1])).toString('base64');
  const query = `{ wideCollection(orderBy: ${orderBy(300)}, after: "${cursor}") { edges { node { id } } pageInfo { hasNextPage hasPreviousPage } } }`;
  const { statements } = await graph.graph.explain({ query }, { role: 'service_role' });
  const length = statements.reduce((sum, { text }) => sum + text.length, 0);
  assert.ok(length > 10_000 && length < 200_000, `${length} characters`);
  const { wideCollection } = (await graph.ask(query)) as Page;
  assert.equal(wideCollection.edges.length, 30);
});
