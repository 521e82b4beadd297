/** Nearest rows on PGlite, which has pgvector: the server of the other tests lacks it. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, type TestContext, test } from 'node:test';
import { parse, print, visit } from 'graphql';
import { openLibrary } from '../conformance/endpoint.ts';
import { readCases } from '../conformance/read-cases.ts';
import { testCases } from '../conformance/test-cases.ts';
import { readPageSteps } from '../support/page-steps.ts';
import { type PgliteGraph, startPgliteGraph } from '../support/pglite-graph.ts';

testCases('nearest rows on PGlite', { kind: 'pglite', openEndpoint: openLibrary, cases: readCases('vectors', import.meta.dirname) });
testCases('hybrid search on PGlite', { kind: 'pglite', openEndpoint: openLibrary, cases: readCases('hybrid', import.meta.dirname) });

let started: PgliteGraph;

const many = 2000;
const width = 8;

before(async () => {
  started = await startPgliteGraph(`
    create schema "Odd ""ones";
    create extension vector schema "Odd ""ones";
    grant usage on schema "Odd ""ones" to service_role;
    create table point (id int primary key, tenant int, e "Odd ""ones".vector(${width}), f "Odd ""ones".vector(${width}), owner text);
    comment on table point is '@graphql({"max_rows": 200, "totalCount": {"enabled": true}})';
    comment on schema public is '@graphql({"introspection": true})';
    alter table point enable row level security;
    create policy own on point to authenticated using (owner = 'mine');
    grant usage on schema "Odd ""ones" to authenticated;
    select setseed(0.25);
    insert into point select i, i % 100, v, v, case when i % 2 = 0 then 'mine' else 'theirs' end
    from generate_series(1, ${many}) i, lateral (select array_agg(r)::"Odd ""ones".vector v from (select random() + 0 * i as r from generate_series(1, ${width})) x) y;
    alter table point add words tsvector;
    update point set words = to_tsvector('english', 'number w' || id % 50);
    create index point_words on point using gin (words);
    create index on point using hnsw (e "Odd ""ones".vector_l2_ops);
    create index on point using ivfflat (f "Odd ""ones".vector_l2_ops) with (lists = 20);
    create table plain (id int primary key, e "Odd ""ones".vector(${width}));
    insert into plain select id, e from point;
    create index on plain using hnsw (e "Odd ""ones".vector_l2_ops);
    create table quiet (id int primary key, e "Odd ""ones".vector(2));
    comment on table quiet is '@graphql({"additions": {"vectors": false}})';
    analyze point;`);
});
after(() => started?.stop());

interface Found {
  readonly pointCollection: {
    readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string };
    readonly edges: readonly { readonly distance: number; readonly node: { readonly id: number } }[];
  };
}

const origin = Array.from({ length: width }, (_, index) => ((index * 3) % 10) / 10);

/** The ids and distances of up to so many pages, each of which must be full unless it is the last. */
async function readPages(column: string, size: number, most: number, filter = '', role = 'service_role') {
  const found: { id: number; distance: number }[] = [];
  let after = '';
  for (let page = 0; page < most; page += 1) {
    const query = `{ pointCollection(nearest: {${column}: {to: [${origin}], metric: L2}}, first: ${size} ${after} ${filter}) {
      pageInfo { hasNextPage endCursor } edges { distance node { id } } } }`;
    const { pointCollection } = (await started.ask(query, role)) as Found;
    const { hasNextPage, endCursor } = pointCollection.pageInfo;
    found.push(...pointCollection.edges.map(({ distance, node }) => ({ id: node.id, distance })));
    if (!hasNextPage) break;
    assert.equal(pointCollection.edges.length, size);
    after = `, after: "${endCursor}"`;
  }
  return found;
}

function assertInOrder(found: readonly { readonly id: number; readonly distance: number }[]): void {
  assert.equal(new Set(found.map(({ id }) => id)).size, found.length, 'each row once');
  const distances = found.map(({ distance }) => distance);
  assert.deepEqual(
    distances,
    distances.toSorted((one, other) => one - other),
  );
}

async function nearestIds(count: number, condition = 'true'): Promise<number[]> {
  const { rows } = await started.pglite.query<{ id: number }>(
    `select id from point where ${condition} order by (e operator("Odd ""ones".<->) '[${origin}]') + 0, id limit ${count}`,
  );
  return rows.map(({ id }) => id);
}

test('HNSW: pages are full, in order, and reach almost all rows', async () => {
  const found = await readPages('e', 100, 100);
  assertInOrder(found);
  assert.ok(found.length >= many * 0.99, String(found.length));
  const nearest = new Set(await nearestIds(100));
  assert.ok(found.slice(0, 100).filter(({ id }) => nearest.has(id)).length >= 95);
});

test('HNSW: a filter that few rows match leaves no page short', async () => {
  const found = await readPages('e', 15, 10, ', filter: {tenant: {eq: 7}}');
  assert.deepEqual(
    found.map(({ id }) => id),
    await nearestIds(many, 'tenant = 7'),
  );
});

test('HNSW: a policy leaves no page short', async () => {
  const found = await readPages('e', 50, 3, '', 'authenticated');
  assertInOrder(found);
  assert.ok(found.length === 150 && found.every(({ id }) => id % 2 === 0));
});

test('IVFFlat: pages are full and in order, however few lists are read', async () => {
  assertInOrder(await readPages('f', 100, 4));
  const filtered = await readPages('f', 15, 10, ', filter: {tenant: {eq: 7}}');
  assertInOrder(filtered);
  assert.ok(filtered.length > 0);
});

test('the index is scanned for the first rows, and the settings of the scan end with the request', async () => {
  const query = `{ pointCollection(nearest: {e: {to: [${origin}], metric: L2}, within: 0.5}, first: 5) { edges { node { id } } } }`;
  const { statements } = await started.graph.explain({ query }, { role: 'service_role' });
  const plan = JSON.stringify(statements);
  assert.match(plan, /"index":"point_e_idx"/);
  await started.ask(query);
  const { rows } = await started.pglite.query<{ value: string | null }>(`select current_setting('hnsw.iterative_scan', true) as value`);
  assert.ok(['off', '', null].includes(rows[0]!.value), String(rows[0]!.value));
});

test('a short page of a whole table is full even if all rows that one scan finds have been deleted', async () => {
  const query = `{ plainCollection(nearest: {e: {to: [${origin}], metric: L2}}, first: 10) { edges { node { id } } } }`;
  const order = `order by e operator("Odd ""ones".<->) '[${origin}]'::"Odd ""ones".vector, id`;
  await started.pglite.query(`delete from plain where id in (select id from plain ${order} limit 100)`);
  const { rows } = await started.pglite.query<{ id: number }>(`select id from (select id, e from plain offset 0) plain ${order} limit 10`);
  const { statements } = await started.graph.explain({ query }, { role: 'service_role' });
  assert.match(JSON.stringify(statements), /"index":"plain_e_idx"/);
  const { plainCollection } = (await started.ask(query)) as { plainCollection: { edges: { node: { id: number } }[] } };
  assert.deepEqual(
    plainCollection.edges.map(({ node }) => node.id),
    rows.map(({ id }) => id),
  );
});

const fused = `search: {text: "w8"}, nearest: {e: {to: [${origin}], metric: L2}}, fuse: {depth: 30}`;

test('hybrid search: each order is read from its index', async () => {
  const query = `{ pointCollection(${fused}, first: 5) { edges { score node { id } } } }`;
  const { statements } = await started.graph.explain({ query }, { role: 'service_role' });
  const plan = JSON.stringify(statements);
  assert.match(plan, /"index":"point_e_idx"/);
  assert.match(plan, /"index":"point_words"/);
  const { operations } = await started.graph.cost({ query }, { role: 'service_role' });
  assert.equal(operations[0]?.counts.estimatedRows, 5 + 2 * 30);
});

test('hybrid search: pages have each row once, of those that a policy shows', async () => {
  const whole = `{ pointCollection(${fused}, first: 100) { totalCount edges { score node { id } } } }`;
  const all = (
    (await started.ask(whole, 'authenticated')) as { pointCollection: { totalCount: number; edges: { node: { id: number } }[] } }
  ).pointCollection;
  const paged: number[] = [];
  for (let after = ''; after !== 'end'; ) {
    const query = `{ pointCollection(${fused}, first: 7 ${after}) { pageInfo { hasNextPage endCursor } edges { distance node { id } } } }`;
    const { pointCollection } = (await started.ask(query, 'authenticated')) as Found;
    paged.push(...pointCollection.edges.map(({ node }) => node.id));
    after = pointCollection.pageInfo.hasNextPage ? `, after: "${pointCollection.pageInfo.endCursor}"` : 'end';
  }
  assert.deepEqual(
    paged,
    all.edges.map(({ node }) => node.id),
  );
  assert.equal(new Set(paged).size, all.totalCount);
  assert.ok(paged.length > 30 && paged.every((id) => id % 2 === 0));
});

test('an index is advised for a metric without one, if there are many rows', async () => {
  await started.pglite.exec(`create table big (id int primary key, e "Odd ""ones".vector(2), b bit(4));
    insert into big select i, '[1,2]', '1010' from generate_series(1, 12000) i; analyze big`);
  await started.graph.reload();
  const advised = async (nearest: string) => {
    const query = `{ bigCollection(nearest: {${nearest}}, first: 1) { edges { node { id } } } }`;
    return (await started.graph.explain({ query }, { role: 'service_role' })).advice.map(({ sql }) => sql);
  };
  assert.deepEqual(await advised('e: {to: [1, 2]}'), [
    'create index concurrently on public.big using hnsw (e "Odd ""ones".vector_cosine_ops);',
  ]);
  assert.deepEqual(await advised('b: {to: [1, 0, 1, 0]}'), [
    'create index concurrently on public.big using hnsw (b "Odd ""ones".bit_hamming_ops);',
  ]);
  await started.pglite.exec('create index on big using hnsw (b "Odd ""ones".bit_hamming_ops)');
  await started.graph.reload();
  assert.deepEqual(await advised('b: {to: [1, 0, 1, 0]}'), []);
});

test('a row that a policy hides has no neighbors', async () => {
  const near = (id: number) =>
    `{ pointCollection(nearest: {e: {nearestTo: "${btoa(`["public", "point", ${id}]`)}", metric: L2}}, first: 3) { totalCount edges { node { id } } } }`;
  const hidden = (await started.ask(near(1), 'authenticated')) as { pointCollection: { totalCount: number } };
  assert.equal(hidden.pointCollection.totalCount, 0);
  const shown = (await started.ask(near(2), 'authenticated')) as { pointCollection: { totalCount: number } };
  assert.equal(shown.pointCollection.totalCount, many / 2 - 1);
});

test('a role that may not use the schema of pgvector, a table that is switched off, and the dialect have none of it', async () => {
  assert.match(await started.graph.sdl({ role: 'service_role' }), /input pointNearest/);
  assert.doesNotMatch(await started.graph.sdl({ role: 'anon' }), /Nearest|distance/);
  assert.doesNotMatch(await started.graph.sdl({ role: 'service_role' }), /quietNearest/);
});

async function runPage(context: TestContext, name: string): Promise<PgliteGraph> {
  const page = await readFile(new URL(`../../docs/${name}`, import.meta.url), 'utf8');
  const documented = await startPgliteGraph('');
  context.after(() => documented.stop());
  for (const step of readPageSteps(page)) {
    if (step.kind === 'sql') {
      await documented.pglite.exec(step.text);
      await documented.graph.reload();
    } else if (step.kind === 'types') {
      const bare = (sdl: string) => visit(parse(sdl), { StringValue: (_node, key) => (key === 'description' ? null : undefined) });
      const real = print(bare(await documented.graph.sdl({ role: 'service_role' })));
      for (const definition of bare(step.text).definitions) assert.ok(real.includes(print(definition)), print(definition));
    } else {
      assert.equal(JSON.stringify({ data: await documented.ask(step.query) }), JSON.stringify(JSON.parse(step.answer)));
    }
  }
  return documented;
}

test('every example of docs/vectors.md has the answer that is shown', async (context) => {
  await runPage(context, 'vectors.md');
});

/** What docs/from-postgrest.md says cannot be said. */
const unsaid = [
  '{ filmCollection(filter: {year: {isdistinct: 2003}}) { totalCount } }',
  '{ filmCollection(filter: {year: {distinctFrom: 2003}}) { totalCount } }',
  '{ filmCollection { edges { node { tags(path: ["0"]) } } } }',
  '{ directorCollection(filter: {filmCollection: {max: {year: {gt: 2000}}}}) { edges { node { id } } } }',
  '{ filmCollection(search: {text: "big", mode: TSQUERY}) { totalCount } }',
];

test('every example of docs/from-postgrest.md has the answer that is shown, and what it says cannot be said is refused', async (context) => {
  const { graph } = await runPage(context, 'from-postgrest.md');
  for (const query of unsaid) {
    const { errors } = await graph.execute({ query }, { role: 'service_role' });
    assert.equal(errors?.[0]?.extensions?.code, 'GRAPHQL_VALIDATION_FAILED', query);
  }
});

test('the doctor tells of vectors without an index, and of those that none can be on', async () => {
  await started.pglite.exec(
    `create table bare (id int primary key, "E" "Odd ""ones".vector(3), any_size "Odd ""ones".vector, wide "Odd ""ones".vector(3072), b bit(9))`,
  );
  await started.graph.reload();
  const { findings } = await started.graph.doctor({ role: 'service_role' });
  const slow = findings.filter(({ code, name }) => code === 'unindexed-distance' && /\.(bare|point)\./.test(name));
  assert.deepEqual(
    slow.map(({ name, remedy }) => [name, remedy]),
    [
      ['public.bare.E', 'create index on public.bare using hnsw ("E" "Odd ""ones".vector_cosine_ops);'],
      ['public.bare.any_size', null],
      ['public.bare.b', 'create index on public.bare using hnsw (b "Odd ""ones".bit_hamming_ops);'],
      ['public.bare.wide', null],
    ],
  );
  for (const { remedy } of slow) if (remedy) await started.pglite.exec(remedy);
  await started.graph.reload();
  const left = (await started.graph.doctor({ role: 'service_role' })).findings.filter(({ remedy }) => remedy?.includes('using hnsw'));
  assert.deepEqual(
    left.filter(({ name }) => name.startsWith('public.bare')),
    [],
  );
});
