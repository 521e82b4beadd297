/**
 * What PostgreSQL checks of a prepared statement that one role has parsed and planned when another runs it. The first half is what `catalog/role-dependence.ts`
 * builds upon; the second half is why so much is left out there.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Client } from 'pg';
import { startTestDatabases, type TestDatabases } from '../support/test-databases.ts';

let databases: TestDatabases;
let client: Client;

const setup = `
  create schema hidden; grant usage on schema hidden to anon;
  create table hidden.thing (id int primary key, owner text);
  insert into hidden.thing values (1, 'anon'), (2, 'authenticated');
  create table thing (id int primary key, owner text, made_at timestamptz default '2020-01-01');
  insert into thing values (1, 'anon'), (2, 'authenticated');
  revoke all on thing, hidden.thing from public, anon, authenticated;
  grant select on thing, hidden.thing to anon, authenticated;
  create table guarded (id int primary key, owner text);
  insert into guarded values (1, 'anon'), (2, 'authenticated');
  alter table guarded enable row level security;
  create policy own on guarded using (owner = current_user);
  create function inlined(id int) returns int stable language sql as 'select id + 1';
  create function constant() returns text immutable language sql as 'select ''secret''::text';
  create function called(id int) returns int stable language plpgsql as 'begin return id; end';
  create function myself() returns text immutable language plpgsql as 'begin return current_user; end';
  revoke execute on function inlined, constant, called from public, anon, authenticated;
  grant execute on function inlined, constant, called to anon;
`;

before(async () => {
  databases = await startTestDatabases();
  const database = await databases.create(setup);
  client = await database.connect();
  await client.query('set plan_cache_mode = force_generic_plan');
});
after(() => databases.close());

/** What a role gets from a statement that is prepared: its first value, or the SQLSTATE. */
async function runAs(role: string, statement: string, settings = ''): Promise<unknown> {
  await client.query(`begin; set local role ${role}; ${settings}`);
  try {
    const { rows } = await client.query({ text: `execute ${statement}`, rowMode: 'array' });
    return rows[0]?.[0] ?? null;
  } catch (error) {
    return (error as { code: string }).code;
  } finally {
    await client.query('rollback');
  }
}

let count = 0;

/** Prepares a statement as a role, and has it planned. */
async function prepareAs(role: string, query: string, settings = ''): Promise<string> {
  const name = `s${++count}`;
  await client.query(`begin; set local role ${role}; ${settings}; prepare ${name} as ${query}`);
  await client.query(`execute ${name}; commit`);
  return name;
}

test('privileges on tables and columns are checked whenever a statement runs', async () => {
  const name = await prepareAs('anon', 'select (select max(owner) from thing)');
  assert.equal(await runAs('authenticated', name), 'authenticated');
  await client.query('revoke select on thing from authenticated');
  assert.equal(await runAs('authenticated', name), '42501');
  await client.query('grant select (id) on thing to authenticated');
  assert.equal(await runAs('authenticated', name), '42501');
  assert.equal(await runAs('anon', name), 'authenticated');
  await client.query('revoke select (id) on thing from authenticated; grant select on thing to authenticated');
});

test('a plan that is shared is made once, however often roles alternate', async () => {
  const name = await prepareAs('anon', 'select id from thing where id = 1');
  for (let turn = 0; turn < 10; turn += 1) assert.equal(await runAs(turn % 2 ? 'anon' : 'authenticated', name), 1);
  const { rows } = await client.query(`select generic_plans::int, custom_plans::int from pg_prepared_statements where name = '${name}'`);
  assert.deepEqual(rows, [{ generic_plans: 11, custom_plans: 0 }]);
});

test('the schemas that a role may use are part of its search path, and another search path parses a statement anew', async () => {
  const path = 'set local search_path = hidden, public';
  const name = await prepareAs('anon', 'select max(owner) from hidden.thing', path);
  assert.equal(await runAs('authenticated', name, path), '42501');
  await client.query('grant usage on schema hidden to authenticated');
  assert.equal(await runAs('authenticated', name, path), 'authenticated');
  await client.query('revoke usage on schema hidden from authenticated');
  assert.equal(await runAs('authenticated', name, path), '42501');
  assert.equal(await runAs('anon', name, path), 'authenticated');
});

test('EXECUTE of a function that is neither inlined nor immutable is checked whenever a statement runs', async () => {
  const name = await prepareAs('anon', 'select called(1)');
  assert.deepEqual([await runAs('authenticated', name), await runAs('anon', name)], ['42501', 1]);
});

test('row security that is switched on is heeded by statements that were prepared before', async () => {
  await client.query(
    'create table open (id int, owner text); insert into open select * from guarded; grant select on open to anon, authenticated',
  );
  const name = await prepareAs('anon', 'select string_agg(owner, $$,$$) from (select owner from open) t');
  await client.query('alter table open enable row level security; create policy own on open using (owner = current_user)');
  assert.deepEqual(
    [await runAs('anon', name), await runAs('authenticated', name), await runAs('anon', name)],
    ['anon', 'authenticated', 'anon'],
  );
});

test('USAGE on a schema outside of the search path is checked only when a statement is parsed', async () => {
  const name = await prepareAs('anon', 'select max(owner) from hidden.thing');
  assert.equal(await runAs('authenticated', name), 'authenticated');
});

test('EXECUTE of a function that is inlined, or folded into a constant, is checked only when a statement is planned', async () => {
  assert.equal(await runAs('authenticated', await prepareAs('anon', 'select inlined(id) from thing order by id')), 2);
  assert.equal(await runAs('authenticated', await prepareAs('anon', 'select constant()')), 'secret');
});

test('a function that is labelled immutable but reads the role is evaluated for the role that plans', async () => {
  const name = await prepareAs('anon', 'select myself()');
  assert.equal(await runAs('authenticated', name), 'anon');
});

test('a constant is read with the settings of the role that parses', async () => {
  const name = await prepareAs(
    'anon',
    "select '2020-01-01 00:00'::timestamptz = '2020-01-01 00:00+05'",
    "set local timezone = 'Etc/GMT-5'",
  );
  assert.equal(await runAs('authenticated', name), true);
});
