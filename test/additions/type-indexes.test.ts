/** That PostgreSQL finds rows by the index of a type for each of its operators. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestGraph, type TestGraph } from '../support/test-graph.ts';

const schemaSql = `
create extension ltree;
create table visit (id int primary key, took interval, address inet, topic ltree);
insert into visit select n, make_interval(mins => n), '10.0.0.0'::inet + n, ('a' || n % 50 || '.b' || n % 1000 || '.c' || n)::ltree from generate_series(1, 20000) as n;
create index visit_took on visit (took);
create index visit_address on visit using gist (address inet_ops);
create index visit_topic on visit using gist (topic);
analyze;`;

let started: TestGraph;
before(async () => {
  started = await startTestGraph(schemaSql);
});
after(() => started.stop());

const cases: readonly (readonly [filter: string, index: string])[] = [
  ['took: {between: ["10 minutes", "20 minutes"]}', 'visit_took'],
  ['took: {lt: "20 minutes"}', 'visit_took'],
  ['took: {in: ["20 minutes", "1 hour"]}', 'visit_took'],
  ['address: {containedBy: "10.0.7.0/28"}', 'visit_address'],
  ['address: {overlaps: "10.0.7.0/28"}', 'visit_address'],
  ['address: {contains: "10.0.7.9"}', 'visit_address'],
  ['topic: {descendantOf: "a7.b7"}', 'visit_topic'],
  ['topic: {ancestorOf: "a7.b7.c7.d"}', 'visit_topic'],
  ['topic: {matches: "a7.b7.*"}', 'visit_topic'],
  ['topic: {matchesAny: ["a7.b7.*", "a9.b9.*"]}', 'visit_topic'],
  ['topic: {matchesText: "a7 & b7 & c7"}', 'visit_topic'],
];

for (const [filter, index] of cases) {
  test(`{${filter}} uses ${index}`, async () => {
    const query = `{ visitCollection(filter: {${filter}}, first: 5, orderBy: [{id: AscNullsLast}]) { edges { node { id } } } }`;
    const { statements } = await started.graph.explain({ query }, { role: 'service_role' });
    assert.match(JSON.stringify(statements), new RegExp(`"index":"${index}"`));
  });
}
