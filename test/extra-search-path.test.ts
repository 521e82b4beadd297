/**
 * Schemas that are on the search path but not exposed: the operators and functions of extensions that are installed in a schema of their
 * own are found there.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRowgraph } from '../src/index.ts';
import { startPglite } from './support/pglite.ts';

test('a column with a type of such a schema is compared as that type', async (context) => {
  const pglite = await startPglite();
  context.after(() => pglite.close());
  await pglite.exec(`
    create role anon;
    create schema extensions;
    grant usage on schema extensions to public;
    create extension citext with schema extensions;
    create table extensions.internal (id int primary key);
    grant select on extensions.internal to anon;
    create table account (id int primary key, email extensions.citext not null);
    grant select on account to anon;
    insert into account values (1, 'ada@example.org');
  `);
  const graph = await createRowgraph({ database: pglite, extraSearchPath: ['extensions', 'nowhere'] });
  context.after(() => graph.close());
  const query = '{ accountCollection(filter: {email: {eq: "ADA@example.org"}}) { edges { node { id } } } }';
  assert.deepEqual(await graph.execute({ query }, { role: 'anon' }), { data: { accountCollection: { edges: [{ node: { id: 1 } }] } } });
  assert.doesNotMatch(await graph.sdl(), /internal/, 'it is not exposed');
  const missing = async () =>
    (await graph.doctor()).findings.flatMap(({ code, severity, name }) => (code === 'missing-search-path' ? [`${severity} ${name}`] : []));
  assert.deepEqual(await missing(), ['info nowhere']);
  await pglite.exec('create schema nowhere');
  assert.deepEqual(await missing(), []);
});
