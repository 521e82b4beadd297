/** Filters of JSON find rows by a GIN index, of either operator class, and by one of an expression for json. Over a real PostgreSQL. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createRowgraph, type DatabasePlanNode, type Rowgraph } from '../../src/index.ts';
import { startTestDatabases, type TestDatabase, type TestDatabases } from '../support/test-databases.ts';

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

let databases: TestDatabases;
let database: TestDatabase;
let graph: Rowgraph;
before(async () => {
  databases = await startTestDatabases();
  database = await databases.create(schemaSql);
  await database.run('vacuum analyze');
  graph = await createRowgraph({ database: database.url });
});
after(async () => {
  await graph.close();
  await databases.close();
});

const nodesOf = (node: DatabasePlanNode): DatabasePlanNode[] => [node, ...node.children.flatMap(nodesOf)];

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
    const query = `{ docCollection(filter: {${filter}}) { edges { node { id } } } }`;
    const { statements } = await graph.explain({ query }, { role: 'anon' }, { mode: 'plan' });
    const used = statements.flatMap(({ databasePlan }) => (databasePlan ? nodesOf(databasePlan.root) : [])).map((node) => node.index);
    assert.deepEqual(
      used.filter((name) => name !== null && name !== 'doc_pkey'),
      [index],
    );
  });
}
