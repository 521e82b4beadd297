/** That PostgreSQL finds rows by the index of a type for each of its operators. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestGraph, type TestGraph } from '../support/test-graph.ts';

const schemaSql = `
create extension ltree;
create table visit (id int primary key, took interval, address inet, topic ltree, during tstzrange, busy datemultirange, hosts inet[], pauses interval[], notes jsonb[]);
comment on table visit is '@graphql({"totalCount": {"enabled": true}})';
insert into visit select n, make_interval(mins => n), '10.0.0.0'::inet + n, ('a' || n % 50 || '.b' || n % 1000 || '.c' || n)::ltree,
  tstzrange('2024-01-01 00:00Z'::timestamptz + make_interval(hours => n), '2024-01-01 00:00Z'::timestamptz + make_interval(hours => n + 1)),
  datemultirange(daterange('2000-01-01'::date + n, '2000-01-01'::date + n + 1)), array['10.0.0.0'::inet + n],
  array[make_interval(secs => n)], array[to_jsonb(n)] from generate_series(1, 20000) as n;
create index visit_took on visit (took);
create index visit_address on visit using gist (address inet_ops);
create index visit_topic on visit using gist (topic);
create index visit_during on visit using gist (during);
create index visit_busy on visit using gist (busy);
create index visit_start on visit (lower(during));
create index visit_hosts on visit using gin (hosts);
create index visit_pauses on visit using gin (pauses);
create index visit_notes on visit using gin (notes);
create table bare as select id, during, topic, address from visit;
alter table bare add primary key (id);
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
  ['during: {containsElement: "2025-01-01T00:30:00Z"}', 'visit_during'],
  ['during: {overlaps: {lower: "2025-01-01T00:00:00Z", upper: "2025-01-01T03:00:00Z"}}', 'visit_during'],
  ['during: {contains: {lower: "2025-01-01T00:10:00Z", upper: "2025-01-01T00:20:00Z"}}', 'visit_during'],
  ['during: {containedBy: {lower: "2025-01-01T00:00:00Z", upper: "2025-01-01T03:00:00Z"}}', 'visit_during'],
  ['during: {before: {lower: "2024-01-01T05:00:00Z"}}', 'visit_during'],
  ['during: {after: {upper: "2026-04-13T05:00:00Z"}}', 'visit_during'],
  ['during: {adjacentTo: {lower: "2025-01-01T00:00:00Z", upper: "2025-01-01T03:00:00Z"}}', 'visit_during'],
  ['during: {equalTo: {lower: "2025-01-01T00:00:00Z", upper: "2025-01-01T01:00:00Z"}}', 'visit_during'],
  ['during: {lower: {gte: "2025-01-01T00:00:00Z", lt: "2025-01-01T05:00:00Z"}}', 'visit_start'],
  ['hosts: {contains: ["10.0.7.9"]}', 'visit_hosts'],
  ['pauses: {overlaps: ["90 seconds", "2 minutes"]}', 'visit_pauses'],
  ['notes: {contains: ["77"]}', 'visit_notes'],
  ['busy: {containsElement: "2024-02-03"}', 'visit_busy'],
  ['busy: {overlaps: [{lower: "2024-02-03", upper: "2024-02-05"}, {lower: "2024-03-03", upper: "2024-03-05"}]}', 'visit_busy'],
];

for (const [filter, index] of cases) {
  test(`{${filter}} uses ${index}`, async () => {
    const query = `{ visitCollection(filter: {${filter}}) { totalCount } }`;
    const { statements } = await started.graph.explain({ query }, { role: 'service_role' });
    assert.match(JSON.stringify(statements), new RegExp(`"index":"${index}"`));
  });
}

test('the index is advised where it is missing, and not where it is there', async () => {
  const advised = async (filter: string) => {
    const { advice } = await started.graph.explain(
      { query: `{ bareCollection(filter: {${filter}}) { edges { node { id } } } }` },
      { role: 'service_role' },
    );
    return advice.map(({ sql }) => sql);
  };
  const gist = (key: string) => [`create index concurrently on public.bare using gist (${key});`];
  assert.deepEqual(await advised('during: {overlaps: {upper: "2024-01-02T00:00:00Z"}}'), gist('during'));
  assert.deepEqual(await advised('or: [{topic: {descendantOf: "a7.b7"}}, {id: {eq: 1}}]'), gist('topic'));
  assert.deepEqual(await advised('address: {containedBy: "10.0.7.0/28"}'), gist('address inet_ops'));
  await started.database.run('create index on bare using spgist (during); create index on bare using gist (address inet_ops)');
  assert.deepEqual(await advised('during: {containsElement: "2024-01-02T00:00:00Z"}, address: {containedBy: "10.0.7.0/28"}'), []);
});
