/**
 * Filters of JSON find rows by a GIN index, of either operator class, and by one of an expression for json; those of members of composites
 * and of shaped JSON by an index on the expression. What is missing is advised. Over a real PostgreSQL.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { adviceOf, indexesOf, type PlannedGraph, startPlannedGraph } from '../support/planned-graph.ts';

const schemaSql = `
create domain config as jsonb;
create table doc (id int primary key, body jsonb, paths jsonb, raw json, conf config, part jsonb);
insert into doc select i, d, d, d, d, d from generate_series(1, 20000) i,
  jsonb_build_object('n', i, 'k' || i % 1000, 1, 'in', jsonb_build_object('tags', jsonb_build_array('t' || i % 1000))) d;
create index body on doc using gin (body);
create index paths on doc using gin (paths jsonb_path_ops);
create index raw on doc using gin ((raw::jsonb));
create index conf on doc using gin (conf);
create index exact on doc using hash (body);
create type address as (city text, code varchar(9), zip int);
create type person as (name text, home address);
create table member (id int primary key, home address, who person, shaped jsonb, raw json, body jsonb, tags text[]);
comment on column member.shaped is '@graphql({"shape": {"type": "object", "properties": {"size": {"type": "integer"}, "in": {"type": "object", "properties": {"x": {"type": "string"}}}, "at": {"type": "string", "format": "date-time"}}}})';
insert into member select i, h, row('n' || i, h)::person, d, d::text::json, d, array['t' || i % 1000] from generate_series(1, 20000) i,
  lateral (select row('c' || i % 1000, 'z' || i, i)::address as h, jsonb_build_object('size', i, 'in', jsonb_build_object('x', 't' || i % 1000)) as d) v;
grant select on doc, member to anon;
`;

let graph: PlannedGraph;
before(async () => {
  graph = await startPlannedGraph(schemaSql);
});
after(() => graph?.stop());

const tags = '"{\\"in\\": {\\"tags\\": [\\"t7\\"]}}"';
const path = '{path: "$.in.tags[*] ? (@ == \\"t7\\")"}';
const served: readonly (readonly [index: string, filter: string])[] = [
  ['body', `body: {contains: ${tags}}`],
  ['body', 'body: {hasKey: "k7"}'],
  ['body', 'body: {hasAnyKey: ["k7", "k8"]}'],
  ['body', 'body: {hasAllKeys: ["k7", "in"]}'],
  ['body', `body: {matches: ${path}}`],
  ['exact', 'body: {eq: "{\\"n\\": 1}"}'],
  ['paths', `paths: {contains: ${tags}}`],
  ['paths', `paths: {matches: ${path}}`],
  ['raw', `raw: {contains: ${tags}}`],
  ['raw', 'raw: {hasKey: "k7"}'],
  ['raw', `raw: {matches: ${path}}`],
  ['conf', `conf: {contains: ${tags}}`],
  ['conf', 'conf: {hasKey: "k7"}'],
  ['conf', `conf: {matches: ${path}}`],
];

for (const [index, filter] of served) {
  test(`${index}: ${filter}`, async () => {
    const used = indexesOf(await graph.explain(`{ docCollection(filter: {${filter}}) { edges { node { id } } } }`));
    assert.deepEqual(
      used.filter((name) => name !== 'doc_pkey'),
      [index],
    );
  });
}

const advised: readonly (readonly [filter: string, keys: string])[] = [
  ['home: {city: {eq: "c7"}}', '(((home).city), id)'],
  ['home: {code: {eq: "z7"}}', '((((home).code)::text), id)'],
  ['who: {home: {city: {eq: "c7"}, zip: {gt: 5}}}', '(((who).home.city), ((who).home.zip))'],
  ['who: {name: {startsWith: "n77"}}', '(((who).name) text_pattern_ops)'],
  ['home: {zip: {is: NULL}}', '(((home).zip))'],
  ['shaped: {in: {x: {in: ["t7"]}}}', "(((shaped -> 'in'::text) ->> 'x'::text))"],
  ['tags: {contains: ["t7"]}', 'using gin (tags)'],
  ['body: {hasKey: "k7"}', 'using gin (body)'],
  [`raw: {matches: ${path}}`, 'using gin ((raw::jsonb))'],
];

const query = (filter: string): string => `{ memberCollection(filter: {${filter}}) { edges { node { id } } } }`;

for (const [filter, keys] of advised) {
  test(`advice for ${filter}, until there is an index that serves`, async () => {
    const sql = `create index concurrently on public.member ${keys};`;
    assert.deepEqual(adviceOf(await graph.explain(query(filter)), 'missing-index'), [sql]);
    await graph.database.run(sql);
    await graph.database.run('vacuum analyze member');
    const explanation = await graph.explain(query(filter));
    assert.deepEqual(adviceOf(explanation, 'missing-index'), []);
    assert.ok(indexesOf(explanation).some((name) => name !== 'member_pkey'));
  });
}

test('advice for numbers in JSON, on the expression by which they are read', async () => {
  const filter = 'shaped: {size: {eq: 7}}';
  const [sql, ...others] = adviceOf(await graph.explain(query(filter)), 'missing-index');
  assert.match(sql ?? '', /on public\.member \(\(CASE WHEN .* END\), id\);$/);
  assert.deepEqual(others, []);
  await graph.database.run(sql!);
  await graph.database.run('vacuum analyze member');
  const explanation = await graph.explain(query(filter));
  assert.deepEqual([adviceOf(explanation, 'missing-index'), indexesOf(explanation).length], [[], 1]);
});

test('advice for the order of members', async () => {
  const ordered = '{ memberCollection(first: 5, orderBy: [{home: {zip: DescNullsLast}}]) { edges { node { id } } } }';
  const [sql, ...others] = adviceOf(await graph.explain(ordered), 'sort-without-index');
  assert.equal(sql, 'create index concurrently on public.member (((home).zip) desc nulls last, id);');
  assert.deepEqual(others, []);
  await graph.database.run(sql);
  assert.deepEqual(adviceOf(await graph.explain(ordered), 'sort-without-index'), []);
});

test('none for what no index can be on: times are read by the time zone of the session', async () => {
  assert.deepEqual(adviceOf(await graph.explain(query('shaped: {at: {eq: "2026-01-01T00:00:00Z"}}')), 'missing-index'), []);
});
