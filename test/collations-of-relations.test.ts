/**
 * Which rows a relation leads to: its columns may have different collations, and are compared by that of the referenced column, as
 * PostgreSQL's foreign keys do; and it may lead to one partition of the table that it refers to.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestGraph, type TestGraph } from './support/test-graph.ts';

let started: TestGraph;

const declared = (table: string) =>
  `comment on table ${table} is '@graphql({"foreign_keys": [{"local_columns": ["code"], "foreign_schema": "public", "foreign_table": "land", "foreign_columns": ["code"]}], "aggregate": {"enabled": true}, "totalCount": {"enabled": true}})';`;

before(async () => {
  started = await startTestGraph(`
    create collation german (provider = icu, locale = 'de');
    create collation caseless (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
    create table country (code text collate "C" primary key, name text);
    create table town (id int primary key, code text collate german references country);
    comment on table town is '@graphql({"aggregate": {"enabled": true}})';
    insert into country values ('x', 'X-land'), ('y', 'Y-land');
    insert into town values (1, 'x'), (2, 'x'), (3, 'y'), (4, null);
    create table usual (code text primary key, name text);
    create table german (id int primary key, code text collate german references usual);
    insert into usual values ('a', 'A'); insert into german values (1, 'a');
    create table land (code text collate caseless primary key, name text);
    create table city (id int primary key, code text);
    create table capital (id int primary key, code text unique);
    ${declared('city')} ${declared('capital')}
    insert into land values ('x', 'X-land'), ('y', 'Y-land');
    create table car (id int primary key, name text) partition by range (id);
    create table car_low partition of car for values from (0) to (10); create table car_high partition of car for values from (10) to (20);
    create table racer (id int primary key, car int not null references car (id));
    insert into car values (1, 'Ant'), (11, 'Bee'), (12, 'Cow'); insert into racer values (1, 1), (2, 11), (3, 11);
    insert into city values (1, 'x'), (2, 'X'), (3, 'X'), (4, 'z');
    insert into capital values (1, 'x'), (2, 'X');`);
});
after(() => started.stop());

async function ids(query: string): Promise<unknown> {
  const { rows } = (await started.ask(query)) as { rows: { edges: { node: { id: unknown } }[] } };
  return rows.edges.map(({ node }) => node.id);
}

test('rows are related across two collations, neither of which is the default', async () => {
  const towns = `{ rows: townCollection { edges { node { id: country { name } } } } }`;
  assert.deepEqual(await ids(towns), [{ name: 'X-land' }, { name: 'X-land' }, { name: 'Y-land' }, null]);
  const counts = `{ rows: countryCollection { edges { node { id: townCollection { aggregate { count } } } } } }`;
  assert.deepEqual(await ids(counts), [{ aggregate: { count: 2 } }, { aggregate: { count: 1 } }]);
  assert.deepEqual(await ids('{ rows: townCollection(filter: {country: {name: {eq: "X-land"}}}) { edges { node { id } } } }'), [1, 2]);
  assert.deepEqual(
    await ids('{ rows: townCollection(orderBy: [{country: {name: DescNullsFirst}}]) { edges { node { id } } } }'),
    [4, 3, 1, 2],
  );
  const byCount = '{ rows: countryCollection(orderBy: [{townCollection: {count: AscNullsLast}}]) { edges { node { id: code } } } }';
  assert.deepEqual(await ids(byCount), ['y', 'x']);
  const groups = '{ townCollection { groups(by: [{country: {name: VALUE}}]) { key { country { name } } count } } }';
  assert.deepEqual(await started.ask(groups), {
    townCollection: {
      groups: [
        { key: { country: { name: 'X-land' } }, count: 2 },
        { key: { country: { name: 'Y-land' } }, count: 1 },
        { key: { country: { name: null } }, count: 1 },
      ],
    },
  });
});

test('rows are related where only the referring column has a collation of its own', async () => {
  assert.deepEqual(await ids('{ rows: germanCollection { edges { node { id: usual { name } } } } }'), [{ name: 'A' }]);
  const { statements } = await started.graph.explain(
    { query: '{ germanCollection { edges { node { usual { name } } } } }' },
    { role: 'service_role' },
    { mode: 'sql' },
  );
  assert.match(statements[0]!.text, /"code" = t1\."code" collate pg_catalog\."default"/);
});

test('an order by a related aggregate returns each row once, whatever is equal on the other side', async () => {
  for (const filter of ['', 'filter: {code: {neq: "q"}}, ']) {
    for (const [direction, expected] of [
      ['DescNullsLast', ['x', 'y']],
      ['AscNullsLast', ['y', 'x']],
    ]) {
      const query = `{ rows: landCollection(${filter}orderBy: [{cityCollection: {count: ${direction}}}]) { edges { node { id: code } } } }`;
      assert.deepEqual(await ids(query), expected);
    }
  }
});

test('a unique column may have several values that are equal to one', async () => {
  const lands = '{ rows: landCollection(orderBy: [{capital: {id: AscNullsLast}}]) { edges { node { id: code } } } }';
  assert.deepEqual(await ids(lands), ['x', 'y']);
  const [first] = (await ids('{ rows: landCollection { edges { node { id: capital { code } } } } }')) as { code: string }[];
  assert.equal(first?.code.toLowerCase(), 'x');
});

test('nested updates reach the rows that queries show', async () => {
  const update = `mutation { updatelandCollection(set: {cityCollection: {update: [{set: {code: "y"}, filter: {id: {lt: 3}}, atMost: 5}]}}, filter: {code: {eq: "x"}}) { affectedCount } }`;
  const written = `mutation { updatecityCollection(set: {code: "x"}, filter: {id: {lt: 3}}, atMost: 5) { affectedCount } }`;
  await started.ask(update);
  assert.deepEqual(await ids('{ rows: landCollection { edges { node { id: cityCollection { totalCount } } } } }'), [
    { totalCount: 1 },
    { totalCount: 2 },
  ]);
  await started.ask(written);
});

test('rows are related to those of each partition', async () => {
  const { data, errors } = await started.graph.execute(
    {
      query: `{
        racerCollection { edges { node { id car_low { name } car_high { name } } } }
        car_highCollection(filter: {racerCollection: {count: {gte: 1}}}) { edges { node { name racerCollection { edges { node { id } } } } } }
      }`,
    },
    { role: 'service_role' },
  );
  assert.equal(errors, undefined);
  const racer = (id: number, low: string | null, high: string | null) => ({
    node: { id, car_low: low === null ? null : { name: low }, car_high: high === null ? null : { name: high } },
  });
  assert.deepEqual(data, {
    racerCollection: { edges: [racer(1, 'Ant', null), racer(2, null, 'Bee'), racer(3, null, 'Bee')] },
    car_highCollection: { edges: [{ node: { name: 'Bee', racerCollection: { edges: [{ node: { id: 2 } }, { node: { id: 3 } }] } } }] },
  });
  const sdl = await started.graph.sdl({ role: 'service_role' });
  assert.doesNotMatch(sdl, /input racer(Filter|OrderBy|InsertInput|UpdateInput) \{[^}]*car_(low|high):/);
  assert.match(sdl, /input car_highFilter \{[^}]*racerCollection: racerFilterToMany/);
});
