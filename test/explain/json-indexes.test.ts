/** Filters of JSON find rows by a GIN index, of either operator class, and by one of an expression for json. Over a real PostgreSQL. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { indexesOf, type PlannedGraph, startPlannedGraph } from '../support/planned-graph.ts';

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
grant select on doc to anon;
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
