/** A composite value is null only as a whole: one with null attributes is ordered, paged, filtered and identified like any other. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestGraph, type TestGraph } from './support/test-graph.ts';

let started: TestGraph;

before(async () => {
  started = await startTestGraph(`
    create type pair as (x int, y text);
    create domain whole as pair;
    create table part (id int primary key, name text);
    create table plain (id int primary key, d whole, r part);
    insert into plain values (1, row(1, 'a')::pair, row(1, 'a')), (2, row(2, null)::pair, row(2, null)), (3, null, null),
      (4, row(null, null)::pair, row(null, null)), (5, row(3, 'c')::pair, row(3, 'c'));
    create table indexed (like plain including all);
    insert into indexed select * from plain;
    create index on indexed (d); create index on indexed (r);
    create table keyed (k whole primary key, n int);
    insert into keyed values (row(1, null)::pair, 1), (row(null, null)::pair, 2);
    create table child (id int primary key, k whole references keyed);
    insert into child values (1, row(1, null)::pair), (2, null), (3, row(null, null)::pair);`);
});
after(() => started.stop());

interface Rows {
  readonly rows: { readonly edges: readonly { readonly cursor: string; readonly node: { readonly id: number } }[] };
}

async function read(table: string, options: string) {
  const { rows } = (await started.ask(`{ rows: ${table}Collection(${options}) { edges { cursor node { id } } } }`)) as Rows;
  return rows.edges.map(({ cursor, node }) => ({ cursor, id: node.id }));
}

const orders = {
  AscNullsFirst: [3, 1, 2, 5, 4],
  AscNullsLast: [1, 2, 5, 4, 3],
  DescNullsFirst: [3, 4, 5, 2, 1],
  DescNullsLast: [4, 5, 2, 1, 3],
};

for (const table of ['plain', 'indexed']) {
  for (const column of ['d', 'r']) {
    for (const [direction, expected] of Object.entries(orders)) {
      test(`pages of ${table} by ${column}, ${direction}`, async () => {
        const order = `orderBy: [{${column}: ${direction}}]`;
        assert.deepEqual(
          (await read(table, order)).map(({ id }) => id),
          expected,
        );
        const paged: number[] = [];
        for (let cursor = ''; paged.length <= expected.length; ) {
          const [row] = await read(table, `first: 1, ${order} ${cursor}`);
          if (!row) break;
          paged.push(row.id);
          cursor = `after: "${row.cursor}"`;
        }
        assert.deepEqual(paged, expected);
      });
    }
  }
}

test('filters', async () => {
  assert.deepEqual(
    (await read('plain', 'filter: {d: {is: NULL}}')).map(({ id }) => id),
    [3],
  );
  assert.deepEqual(
    (await read('plain', 'filter: {d: {is: NOT_NULL}}')).map(({ id }) => id),
    [1, 2, 4, 5],
  );
});

test('keys, and the rows that refer to them', async () => {
  assert.deepEqual(await started.ask('{ keyedCollection { edges { node { n childCollection { edges { node { id } } } } } } }'), {
    keyedCollection: {
      edges: [
        { node: { n: 1, childCollection: { edges: [{ node: { id: 1 } }] } } },
        { node: { n: 2, childCollection: { edges: [{ node: { id: 3 } }] } } },
      ],
    },
  });
  const counted = '{ rows: childCollection(orderBy: [{keyed: {childCollection: {count: AscNullsLast}}}]) { edges { node { id } } } }';
  assert.deepEqual(
    ((await started.ask(counted)) as Rows).rows.edges.map(({ node }) => node.id),
    [1, 3, 2],
  );
});
