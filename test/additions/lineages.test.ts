/** Ancestors and descendants in random tables, with cycles: what an evaluator of its own finds, each row once, over pages in any order. What they cost. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestGraph, type TestGraph } from '../support/test-graph.ts';
import { walkPages } from '../support/walk-pages.ts';

/** The first ten refer to each other, in cycles; the others to earlier ones, and some to none. */
const parents = Array.from({ length: 70 }, (_, index) => {
  if (index < 10) return ((index * 3 + 1) % 10) + 1;
  return index % 11 === 3 ? null : ((index * 13) % Math.ceil(index / 2)) + 1;
});
const size = parents.length;

const schemaSql = `create table twig (id int primary key, parent_id int references twig deferrable initially deferred, weight int);
  comment on table twig is '@graphql({"totalCount": {"enabled": true}, "max_rows": 1000})'; create index on twig (parent_id);
  insert into twig values ${parents.map((parent, index) => `(${index + 1}, ${parent}, ${index % 4 === 0 ? null : index % 5})`).join()};`;

let graph: TestGraph;
before(async () => {
  graph = await startTestGraph(schemaSql);
});
after(() => graph.stop());

interface Found {
  readonly id: number;
  readonly depth: number;
}

/** The rows above or below one, by depth and id. */
function lineageOf(id: number, direction: 'ancestors' | 'descendants', maxDepth: number): Found[] {
  const found = new Map<number, number>([[id, 0]]);
  let level = [id];
  for (let depth = 1; depth <= maxDepth && level.length > 0; depth += 1) {
    const next = level.flatMap((from) => (direction === 'ancestors' ? (parents[from - 1] ?? []) : childrenOf(from)));
    level = next.filter((each) => !found.has(each));
    for (const each of level) found.set(each, depth);
  }
  found.delete(id);
  return Array.from(found, ([each, depth]) => ({ id: each, depth })).sort((one, other) => one.depth - other.depth || one.id - other.id);
}

function childrenOf(id: number): number[] {
  return parents.flatMap((parent, index) => (parent === id ? [index + 1] : []));
}

interface Connection {
  readonly totalCount: number;
  readonly edges: readonly {
    readonly cursor: string;
    readonly depth: number;
    readonly node: { readonly id: number; readonly weight: number | null };
  }[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly hasPreviousPage: boolean };
}

test('each row once, with its depth', async () => {
  const fields = '{ totalCount edges { depth node { id } } }';
  for (const maxDepth of [1, 3, 100]) {
    const data = await graph.ask(
      `{ twigCollection { edges { node { id ancestors(maxDepth: ${maxDepth}) ${fields} descendants(maxDepth: ${maxDepth}) ${fields} } } } }`,
    );
    const { twigCollection } = data as {
      twigCollection: { edges: { node: { id: number; ancestors: Connection; descendants: Connection } }[] };
    };
    assert.equal(twigCollection.edges.length, size);
    for (const { node } of twigCollection.edges) {
      for (const direction of ['ancestors', 'descendants'] as const) {
        const expected = lineageOf(node.id, direction, maxDepth);
        assert.deepEqual(
          node[direction].edges.map((edge) => ({ id: edge.node.id, depth: edge.depth })),
          expected,
          `${direction} of ${node.id}`,
        );
        assert.equal(node[direction].totalCount, expected.length);
      }
    }
  }
});

test('over pages, forward and backward, in any order', async () => {
  const [root] = Array.from({ length: size }, (_, index) => index + 1).sort(
    (one, other) => lineageOf(other, 'descendants', 100).length - lineageOf(one, 'descendants', 100).length,
  );
  const expected = lineageOf(root!, 'descendants', 100);
  assert.ok(expected.length > 15, `${expected.length} rows`);
  const orders = [
    '',
    '{depth: DescNullsLast}',
    '{weight: AscNullsFirst}',
    '{weight: DescNullsLast}, {depth: AscNullsLast}',
    '{twig: {weight: AscNullsLast}}',
  ];
  for (const order of orders) {
    const all = await pageOf(root!, order, 'first: 1000');
    assert.deepEqual(all.edges.map(({ node }) => node.id).sort(byNumber), expected.map(({ id }) => id).sort(byNumber));
    for (const isForward of [true, false]) {
      const walked = await walk(root!, order, isForward);
      assert.deepEqual(
        walked,
        all.edges.map(({ node }) => node.id),
        `${order} ${isForward}`,
      );
    }
  }
});

function byNumber(one: number, other: number): number {
  return one - other;
}

async function pageOf(id: number, order: string, page: string): Promise<Connection> {
  const fields = 'totalCount edges { cursor depth node { id weight } } pageInfo { hasNextPage hasPreviousPage }';
  const data = await graph.ask(`{ twigByPk(id: ${id}) { descendants(orderBy: [${order}], ${page}) { ${fields} } } }`);
  return (data as { twigByPk: { descendants: Connection } }).twigByPk.descendants;
}

async function walk(id: number, order: string, isForward: boolean): Promise<number[]> {
  const nodes = await walkPages((page) => pageOf(id, order, page), isForward, 4);
  return nodes.map((node) => node.id);
}

test('filters by lineages find what lineages are', async () => {
  for (const direction of ['ancestors', 'descendants'] as const) {
    const data = await graph.ask(`{ some: twigCollection(filter: {${direction}: {some: {id: {eq: 12}}}}) { edges { node { id } } }
      count: twigCollection(filter: {${direction}: {count: {gte: 3}, where: {weight: {gt: 1}}}}) { edges { node { id } } } }`);
    const { some, count } = data as Record<'some' | 'count', { edges: { node: { id: number } }[] }>;
    const all = Array.from({ length: size }, (_, index) => index + 1);
    const weightOf = (id: number) => ((id - 1) % 4 === 0 ? 0 : (id - 1) % 5);
    assert.deepEqual(
      some.edges.map(({ node }) => node.id),
      all.filter((id) => lineageOf(id, direction, 100).some((each) => each.id === 12)),
    );
    const heavy = all.filter((id) => lineageOf(id, direction, 100).filter((each) => weightOf(each.id) > 1).length >= 3);
    assert.deepEqual(
      count.edges.map(({ node }) => node.id),
      heavy,
    );
  }
});

test('levels count as rows, which maxDepth bounds', async () => {
  const cost = async (query: string, variables: Record<string, unknown> = {}) => {
    const { operations } = await graph.graph.cost({ query, variables }, { role: 'anon' });
    return operations.map(({ counts }) => [counts.subqueries, counts.estimatedRows])[0];
  };
  const of = (fields: string) =>
    `query${fields.includes('$n') ? ' ($n: Int)' : ''} { twigCollection(first: 2) { edges { node { ${fields} } } } }`;
  const page = '(first: 3, maxDepth: 4) { edges { depth } }';
  assert.deepEqual(await cost(of(`ancestors${page}`)), [3, 2 * (1 + 4 + 3)]);
  assert.deepEqual(await cost(of(`descendants${page}`)), [3, 2 * (1 + 4 * 10 + 3)]);
  assert.deepEqual(await cost(of('descendants(maxDepth: $n) { totalCount }'), { n: 7 }), [3, 2 * (1 + 7 * 10 + 10)]);
  assert.deepEqual(await cost(of('descendants(maxDepth: $n) { totalCount }'), { n: 700 }), [3, 2 * (1 + 100 * 10 + 10)]);
  assert.deepEqual(await cost('{ twigCollection(first: 2, filter: {descendants: {some: {}}}) { edges { cursor } } }'), [3, 2]);
});
