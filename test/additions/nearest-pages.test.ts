/** Pages in the order of distances and of fusions have each row once, forward, backward and by offset, and as many as totalCount says. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type PgliteGraph, startPgliteGraph } from '../support/pglite-graph.ts';

let started: PgliteGraph;
before(async () => {
  started = await startPgliteGraph(`
    create extension vector;
    create extension pg_trgm;
    create table doc (id int primary key, kind int, title text, e vector(2), at point, up int references doc);
    comment on table doc is '@graphql({"max_rows": 500, "totalCount": {"enabled": true}, "search": {"columns": {"title": "A"}, "config": "english"}})';
    insert into doc select i, i % 5, case when i % 7 > 0 then repeat('cat ', i % 4) || 'w' || i % 10 end,
      case when i % 3 > 0 then ('[' || i % 6 || ',' || i % 4 || ']')::vector end, case when i % 4 > 0 then point(i % 5, i % 3) end, nullif(i / 2, 0)
    from generate_series(1, 300) i;
    create index on doc using hnsw (e vector_l2_ops);
    create index on doc using gist (at);
    create index on doc using gist (title gist_trgm_ops);
    set enable_seqscan = off;
    analyze doc;`);
});
after(() => started?.stop());

interface Page {
  readonly totalCount: number;
  readonly pageInfo: {
    readonly hasNextPage: boolean;
    readonly hasPreviousPage: boolean;
    readonly startCursor: string;
    readonly endCursor: string;
  };
  readonly edges: readonly { readonly node: { readonly id: number } }[];
}

async function readPage(rows: string, page: string): Promise<Page> {
  const query = `{ docCollection(${rows}, ${page}) { totalCount pageInfo { hasNextPage hasPreviousPage startCursor endCursor } edges { node { id } } } }`;
  return ((await started.ask(query)) as { docCollection: Page }).docCollection;
}

const idsOf = ({ edges }: Page): number[] => edges.map(({ node }) => node.id);

/** The ids of all pages, from the start or from the end. */
async function readAll(rows: string, direction: 'forward' | 'backward'): Promise<number[]> {
  const all: number[] = [];
  for (let from = ''; ; ) {
    if (direction === 'forward') {
      const page = await readPage(rows, `first: 37${from}`);
      all.push(...idsOf(page));
      if (!page.pageInfo.hasNextPage) return all;
      from = `, after: "${page.pageInfo.endCursor}"`;
    } else {
      const page = await readPage(rows, `last: 53${from}`);
      all.unshift(...idsOf(page));
      if (!page.pageInfo.hasPreviousPage) return all;
      from = `, before: "${page.pageInfo.startCursor}"`;
    }
  }
}

const row = btoa('["public", "doc", 5]');
const search = 'search: {text: "cat or w3"}';
const cases = {
  'vectors, with many ties': 'nearest: {e: {to: [1, 2], metric: L2}}',
  'vectors without an index, within a bound, by another order':
    'nearest: {e: {to: [1, 2], metric: L1}, within: 3}, orderBy: [{title: DescNullsFirst}]',
  'vectors from a row, with a filter': `nearest: {e: {nearestTo: "${row}", metric: L2}}, filter: {kind: {in: [1, 2, 3]}}`,
  'angles, with a search': `nearest: {e: {to: [1, 2]}}, ${search}`,
  'points, by an order of related rows': 'nearest: {at: {to: [1, 2]}}, orderBy: [{doc: {title: AscNullsFirst}}]',
  'points from a row, within a bound': `nearest: {at: {nearestTo: "${row}"}, within: 2}`,
  'texts, most of them as far': 'nearest: {title: {to: "cat w5"}}',
  'parts of texts, with a filter':
    'nearest: {title: {to: "w3", metric: WORD_SIMILARITY}}, filter: {kind: {neq: 0}}, orderBy: [{up: AscNullsLast}]',
  'a fusion with vectors': `nearest: {e: {to: [1, 2], metric: L2}}, ${search}, fuse: {}`,
  'a fusion with texts, in which nothing counts': `nearest: {title: {to: "cat"}}, ${search}, fuse: {searchWeight: 0, nearestWeight: 0}`,
  'a fusion with points, by depth and another order': `nearest: {at: {to: [0, 0]}}, ${search}, fuse: {k: 0, depth: 70}, orderBy: [{title: AscNullsLast}]`,
};

for (const [name, rows] of Object.entries(cases)) {
  test(name, async () => {
    const whole = await readPage(rows, 'first: 500');
    const ids = idsOf(whole);
    assert.ok(ids.length > 53, `only ${ids.length} rows`);
    assert.deepEqual([ids.length, new Set(ids).size], [whole.totalCount, whole.totalCount]);
    assert.deepEqual(await readAll(rows, 'forward'), ids);
    assert.deepEqual(await readAll(rows, 'backward'), ids);
    assert.deepEqual(idsOf(await readPage(rows, 'first: 10, offset: 5')), ids.slice(5, 15));
  });
}
