/** That filters and distances of PostGIS use its indexes: only on a server that has the extension (ROWGRAPH_TEST_PG_BINDIR). */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestGraph, type TestGraph } from '../support/test-graph.ts';

const schemaSql = `
do $$ begin
  if exists (select from pg_available_extensions where name = 'postgis') then
    create extension postgis;
    create table city (id int primary key, place geometry(Point, 3857), spot geography(Point));
    insert into city select n, ST_Transform(ST_SetSRID(ST_MakePoint(n % 3600 / 10.0 - 180, n % 1700 / 10.0 - 85), 4326), 3857), ST_MakePoint(n % 3600 / 10.0 - 180, n % 1700 / 10.0 - 85)::geography
      from generate_series(1, 30000) as n;
    create index city_place on city using gist (place);
    create index city_spot on city using gist (spot);
    analyze;
  end if;
end $$;`;

let started: TestGraph;
let isInstalled = false;
before(async () => {
  started = await startTestGraph(schemaSql);
  isInstalled = (await started.database.run("select from pg_extension where extname = 'postgis'")).length > 0;
});
after(() => started.stop());

const point = '{type: "Point", coordinates: [13.4, 52.5]}';
const square = '{type: "Polygon", coordinates: [[[13, 52], [14, 52], [14, 53], [13, 53], [13, 52]]]}';
const cases: readonly (readonly [argument: string, index: string])[] = [
  [`filter: {place: {within: ${square}}}`, 'city_place'],
  [`filter: {place: {intersects: ${square}}}`, 'city_place'],
  [`filter: {place: {contains: ${point}}}`, 'city_place'],
  [`filter: {place: {dWithin: {from: ${point}, distance: 1000}}}`, 'city_place'],
  [`filter: {spot: {within: ${square}}}`, 'city_spot'],
  [`filter: {spot: {intersects: ${square}}}`, 'city_spot'],
  [`filter: {spot: {dWithin: {from: ${point}, distance: 1000}}}`, 'city_spot'],
  [`nearest: {place: {to: ${point}}}`, 'city_place'],
  [`nearest: {spot: {to: ${point}}}`, 'city_spot'],
];

for (const [argument, index] of cases) {
  test(`{${argument}} uses ${index}`, async (t) => {
    if (!isInstalled) return t.skip('the server has no PostGIS');
    // Older versions use the index only for an order by the distance alone.
    if (argument.startsWith('nearest') && started.database.version < 17) return t.skip('before PostgreSQL 17');
    const query = `{ cityCollection(${argument}, first: 5) { edges { node { id } } } }`;
    const { statements } = await started.graph.explain({ query }, { role: 'service_role' });
    assert.match(JSON.stringify(statements), new RegExp(`"index":"${index}"`));
  });
}

test('pages of the nearest are complete and in order', async (t) => {
  if (!isInstalled) return t.skip('the server has no PostGIS');
  const found: number[] = [];
  for (let after = ''; ; ) {
    const query = `{ cityCollection(nearest: {spot: {to: ${point}}, within: 1000000}, first: 30${after}) { edges { cursor distance node { id } } pageInfo { hasNextPage } } }`;
    const { cityCollection } = (await started.ask(query)) as { cityCollection: Page };
    const { edges, pageInfo } = cityCollection;
    found.push(...edges.map(({ node }) => node.id));
    assert.deepEqual(
      edges.map(({ distance }) => distance),
      edges.map(({ distance }) => distance).toSorted((one, other) => one - other),
    );
    if (!pageInfo.hasNextPage) break;
    after = `, after: "${edges.at(-1)!.cursor}"`;
  }
  const sql =
    "select id from city where spot <-> 'POINT(13.4 52.5)'::geography <= 1000000 order by spot <-> 'POINT(13.4 52.5)'::geography, id";
  assert.deepEqual(
    found,
    (await started.database.run(sql)).map(({ id }) => id),
  );
});

interface Page {
  readonly edges: readonly { readonly cursor: string; readonly distance: number; readonly node: { readonly id: number } }[];
  readonly pageInfo: { readonly hasNextPage: boolean };
}
