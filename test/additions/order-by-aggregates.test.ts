/** Rows in the order of aggregates of their related rows, for columns of every kind: in the order of PostgreSQL, and page by page as in one. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type PgliteGraph, startPgliteGraph } from '../support/pglite-graph.ts';

const setup = `
  comment on schema public is '@graphql({"inflect_names": true})';
  create table box(id int primary key);
  create table item(id int primary key, box_id int references box, small int, big bigint, price numeric, ratio real, weight float8, paid boolean,
    code "char", label name, day date, words text);
  comment on table item is '@graphql({"aggregate": {"enabled": true}})';
  insert into box select generate_series(1, 12);
  insert into item select n, n % 11 + 1, n * 7 % 5, 9007199254740993 + n * 3 % 4, n * 0.1, n * 5 % 7 * 0.1, n * 3 % 4 * 0.1, n % 3 > 0, chr(97 + n * 5 % 7)::"char",
    'label ' || n * 7 % 10, date '2024-01-01' + n * 5 % 8, 'word ' || n * 3 % 8
    from generate_series(1, 40) n;
`;

/** Each function with the columns that it takes, and how PostgreSQL writes it. */
const functions: readonly (readonly [name: string, columns: readonly string[], sqlOf: (column: string) => string])[] = [
  ['sum', ['small', 'big', 'price'], (column) => `sum(${column})`],
  ['sum', ['ratio', 'weight'], (column) => `sum(${column}::numeric)`],
  ['avg', ['small', 'big', 'price'], (column) => `avg(${column})`],
  ['avg', ['ratio', 'weight'], (column) => `avg(${column}::numeric)`],
  ['min', ['small', 'weight', 'day', 'words'], (column) => `min(${column})`],
  ['max', ['small', 'weight', 'day', 'words'], (column) => `max(${column})`],
  ['min', ['code', 'label'], (column) => `min(${column}::text)`],
  ['max', ['code', 'label'], (column) => `max(${column}::text)`],
  ['min', ['paid'], (column) => `bool_and(${column})`],
  ['max', ['paid'], (column) => `bool_or(${column})`],
];

let service: PgliteGraph;
before(async () => {
  service = await startPgliteGraph(setup);
});
after(() => service.stop());

interface Page {
  readonly boxCollection: { readonly edges: readonly { readonly cursor: string; readonly node: { readonly id: number } }[] };
}

async function readPage(order: string, size: string): Promise<Page['boxCollection']['edges']> {
  const data = await service.ask(`{ boxCollection(orderBy: [{itemCollection: ${order}}], ${size}) { edges { cursor node { id } } } }`);
  return (data as Page).boxCollection.edges;
}

for (const [name, columns, sqlOf] of functions)
  for (const column of columns)
    test(`${name} of ${column}`, async () => {
      for (const [direction, sql] of [
        ['AscNullsFirst', 'asc nulls first'],
        ['DescNullsLast', 'desc nulls last'],
      ] as const) {
        const order = `{${name}: {${column}: ${direction}}}`;
        const { rows } = await service.pglite.query<{ id: number }>(
          `select id from box order by (select ${sqlOf(column)} from item where box_id = box.id) ${sql}, id`,
        );
        const ids = rows.map(({ id }) => id);
        assert.deepEqual(
          (await readPage(order, 'first: 30')).map(({ node }) => node.id),
          ids,
        );
        const walked: number[] = [];
        let edges = await readPage(order, 'first: 1');
        for (; edges[0] !== undefined; edges = await readPage(order, `first: 1, after: "${edges[0].cursor}"`))
          walked.push(edges[0].node.id);
        assert.deepEqual(walked, ids);
      }
    });
