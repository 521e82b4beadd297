/**
 * Tables with child tables: their rows include those of the children, which the parent's indexes do not cover, so a key may occur more than
 * once.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestGraph, type TestGraph } from './support/test-graph.ts';

let started: TestGraph;

before(async () => {
  started = await startTestGraph(`
    create table city (id int primary key, name text not null);
    create table mayor (id int primary key, city_id int not null references city);
    insert into city values (1, 'Ulm'), (2, 'Bonn');
    insert into mayor values (1, 2);`);
});
after(() => started.stop());

const named = '{ cityCollection(filter: {id: {eq: 2}}) { edges { node { name } } } }';
const ruled = '{ mayorCollection(filter: {id: {eq: 1}}) { edges { node { city { name } } } } }';

const ask = (query: string): Promise<unknown> => started.ask(query, 'anon');

test('a key that a filter names is read as one row', async () => {
  assert.doesNotMatch(
    JSON.stringify((await started.graph.explain({ query: named }, { role: 'anon' }, { mode: 'sql' })).statements),
    /string_agg|order by|limit/,
  );
  assert.deepEqual(await ask(named), { cityCollection: { edges: [{ node: { name: 'Bonn' } }] } });
  assert.deepEqual(await ask(named.replace('2', '3')), { cityCollection: { edges: [] } });
  const alias = (id: number) =>
    `{ __typename it: cityCollection(filter: {id: {eq: ${id}}}) { is: __typename e: edges { node { id } } edges { node { name } } } }`;
  const around = { __typename: 'Query', it: { is: 'cityConnection', e: [{ node: { id: 2 } }], edges: [{ node: { name: 'Bonn' } }] } };
  assert.deepEqual(await ask(alias(2)), around);
  assert.deepEqual(await ask(alias(3)), { ...around, it: { ...around.it, e: [], edges: [] } });
});

test('with a child that has the same key both rows are there, also right after it was made', async () => {
  await ask(ruled);
  await started.database.run(`create table capital () inherits (city); insert into capital values (2, 'Bonn, the capital')`);
  assert.deepEqual(await ask(named), { cityCollection: { edges: [{ node: { name: 'Bonn' } }, { node: { name: 'Bonn, the capital' } }] } });
  assert.match(JSON.stringify((await started.graph.explain({ query: named }, { role: 'anon' }, { mode: 'sql' })).statements), /order by/);
  const { mayorCollection } = (await ask(ruled)) as { mayorCollection: { edges: { node: { city: { name: string } } }[] } };
  assert.match(mayorCollection.edges[0]!.node.city.name, /^Bonn/);
});

test('what rows of children need not have is nullable', async () => {
  await started.database.run(`
    create table rank (id int primary key);
    create table officer (id int primary key, rank_id int not null references rank, note text not null no inherit, name text not null);
    create table consul () inherits (officer);
    create table proconsul () inherits (consul);
    create table senator (id int primary key, rank_id int not null references rank);
    insert into proconsul (id, rank_id, name) values (1, 99, 'Gaius');`);
  const { officerCollection } = (await ask(
    '{ officerCollection { edges { node { id name note rank { id } } } } senatorCollection { edges { node { id } } } }',
  )) as { officerCollection: unknown };
  assert.deepEqual(officerCollection, { edges: [{ node: { id: 1, name: 'Gaius', note: null, rank: null } }] });
  const sdl = await started.graph.sdl({ role: 'anon' });
  const typeOf = (table: string) => new RegExp(`^type ${table} [^}]*`, 'm').exec(sdl)![0];
  // The table itself refuses a null, which would disconnect them.
  assert.doesNotMatch(/^input officerUpdateToMany[^}]*/m.exec(sdl)![0], /disconnect/);
  assert.match(typeOf('officer'), /\n {2}rank: rank\n/);
  assert.match(typeOf('officer'), /\n {2}note: String\n/);
  assert.match(typeOf('officer'), /\n {2}name: String!\n/);
  assert.match(typeOf('senator'), /\n {2}rank: rank!\n/);
});
