/** Composite types, and JSON with a shape: filters by attributes use indexes, inputs keep to the limits, and how they are written does not change the SQL. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestGraph, type TestGraph } from '../support/test-graph.ts';

let started: TestGraph;
before(async () => {
  started = await startTestGraph(
    `create type spot as (x int, y int);
    create type trip as (name text, stops spot[], home spot);
    create table owner (id int primary key, name text);
    create table place (id int primary key, at spot, trip trip, facts jsonb, owner owner);
    comment on column place.facts is '@graphql({"shape": {"type": "object", "properties": {"city": {"type": "string"}, "at": {"type": "object", "properties": {"zip": {"type": "string"}}}}}})';
    insert into place select i, row(i, i % 10)::spot, row('t' || i, array[row(i, 1)::spot], row(i, 2)::spot)::trip,
      jsonb_build_object('city', 'c' || i, 'at', jsonb_build_object('zip', i::text)), row(i, 'o' || i)::owner from generate_series(1, 5000) i;
    create index place_owner on place (((owner).name));
    create index place_x on place (((at).x));
    create index place_city on place ((facts ->> 'city'));
    create index place_zip on place (((facts -> 'at') ->> 'zip'));
    create index place_home on place ((((trip).home).x));
    create index place_name on place (((trip).name) text_pattern_ops);
    create function total(spots spot[]) returns bigint language sql immutable as $$ select sum((s).x) from unnest(spots) s $$;
    analyze place;`,
    { limits: { listElements: 50, depth: 12, inputSize: 2000 } },
  );
});
after(() => started.stop());

const indexed: readonly (readonly [filter: string, index: string])[] = [
  ['{at: {x: {eq: 7}}}', 'place_x'],
  ['{at: {x: {in: [7, 8]}}}', 'place_x'],
  ['{at: {x: {between: [7, 9]}, y: {eq: 8}}}', 'place_x'],
  ['{at: {or: [{x: {eq: 7}}, {x: {eq: 9}}]}}', 'place_x'],
  ['{trip: {home: {x: {lt: 5}}}}', 'place_home'],
  ['{trip: {name: {eq: "t9"}}}', 'place_name'],
  ['{owner: {name: {in: ["o7", "o9"]}}}', 'place_owner'],
  ['{facts: {city: {eq: "c9"}}}', 'place_city'],
  ['{facts: {at: {zip: {in: ["9", "8"]}}}}', 'place_zip'],
];
for (const [filter, index] of indexed) {
  test(`an index is used: ${filter}`, async () => {
    const { statements } = await started.graph.explain(
      { query: `{ placeCollection(filter: ${filter}) { edges { node { id } } } }` },
      { role: 'service_role' },
    );
    assert.match(JSON.stringify(statements), new RegExp(`"${index}"`));
  });
}

const codeOf = async (query: string, variables: Record<string, unknown>) => {
  const { errors } = await started.graph.execute({ query, variables }, { role: 'anon' });
  return errors?.[0]?.extensions?.code;
};
const spots = (count: number) => Array.from({ length: count }, (_, index) => ({ x: index }));

test('the elements of arrays count, in variables and in the document', async () => {
  const inVariable = 'query($l: [spotInput]!) { total(spots: $l) }';
  assert.equal(await codeOf(inVariable, { l: spots(50) }), undefined);
  assert.equal(await codeOf(inVariable, { l: spots(51) }), 'TOO_MANY_ELEMENTS');
  const literal = (count: number) => `{ total(spots: [${spots(count).map(({ x }) => `{x: ${x}}`)}]) }`;
  assert.equal(await codeOf(literal(50), {}), undefined);
  assert.equal(await codeOf(literal(51), {}), 'TOO_MANY_ELEMENTS');
  const nested = 'mutation($t: tripInput) { updateplaceCollection(set: {trip: $t}, filter: {id: {eq: 1}}) { affectedCount } }';
  assert.equal(await codeOf(nested, { t: { stops: spots(51) } }), 'TOO_MANY_ELEMENTS');
  assert.equal(await codeOf(nested, { t: { name: 'x'.repeat(2001) } }), 'INPUT_TOO_LARGE');
});

test('members of other shapes are one statement', async () => {
  const query = 'mutation($t: tripInput) { updateplaceCollection(set: {trip: $t}, filter: {id: {eq: 1}}) { affectedCount } }';
  const textOf = async (trip: unknown) => {
    const { statements } = await started.graph.explain({ query, variables: { t: trip } }, { role: 'service_role' });
    return statements.map(({ text }) => text);
  };
  const first = await textOf({ name: 'a' });
  assert.deepEqual(await textOf({ stops: [{ x: 1 }, null], home: {} }), first);
  assert.deepEqual(await textOf(null), await textOf(null));
  assert.match(first.join(), /public.trip/);
});

test('what is no value of the type is refused, and names that records have from JavaScript are none', async () => {
  const query = 'query($l: [spotInput]!) { total(spots: $l) }';
  for (const sent of [
    [1],
    ['(1,2)'],
    [[{ x: 1 }]],
    [{ x: { y: 1 } }],
    [{ constructor: 1 }],
    [{ ['__proto__']: { x: 1 }, toString: 1 }],
    7,
  ]) {
    assert.equal(await codeOf(query, { l: sent }), 'BAD_USER_INPUT', JSON.stringify(sent));
  }
});

test('no text of a client ends a value', async () => {
  const name = `a","b)"'\\"),(x{}';--\n`;
  const query =
    'mutation($t: tripInput) { updateplaceCollection(set: {trip: $t}, filter: {id: {eq: 2}}) { records { trip { name home { x } } } } }';
  const { data } = await started.graph.execute({ query, variables: { t: { name, home: { x: 3 } } } }, { role: 'service_role' });
  assert.deepEqual(data, { updateplaceCollection: { records: [{ trip: { name, home: { x: 3 } } }] } });
});
