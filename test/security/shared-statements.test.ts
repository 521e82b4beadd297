/**
 * Roles of equal privileges share prepared statements: each gets what PostgreSQL gives it, and what would not be checked again is not shared. All roles use
 * one connection, on which PostgreSQL keeps the first plan of each statement.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { PGlite } from '@electric-sql/pglite';
import { createRowgraph, type Rowgraph } from '../../src/index.ts';
import { startPglite } from '../support/pglite.ts';
import { grantsSql, rolesSql } from '../support/roles.ts';
import { startTestDatabases } from '../support/test-databases.ts';

/** Both may read everything. `rich` may also use a schema and call functions that are not exposed. */
const makeRoles = `
  create role reader; create role rich in role reader; create role poor in role reader; create role eastern in role reader;
  grant rich, poor, eastern to authenticator;
  alter role eastern set timezone = 'Etc/GMT-5';
`;

const schema = `
  grant usage on schema public to reader;
  alter default privileges in schema public grant select on tables to reader;
  alter default privileges in schema public grant execute on functions to reader;
  create schema hidden; revoke usage on schema hidden from public;
  create type mood as enum ('calm', 'wild');
  create table plain (id int primary key, owner text not null, mood mood not null, made_at timestamptz not null);
  insert into plain values (1, 'rich', 'calm', '2020-01-01 00:00Z'), (2, 'poor', 'wild', '2020-01-01 00:00Z');
  create table part_of_plain (id int primary key, plain_id int references plain (id));
  insert into part_of_plain values (1, 1), (2, 2);

  create table own (id int primary key, owner text not null);
  insert into own values (1, 'rich'), (2, 'poor'), (3, 'eastern');
  alter table own enable row level security;
  create policy own on own using (owner = current_user);

  create schema code; grant usage on schema code to public;
  create function code.inlined(id int) returns int stable language sql as 'select id + 1';
  create function code.folded() returns text immutable language sql as $$ select 'secret'::text $$;
  revoke execute on function code.inlined, code.folded from public;
  create function code.myself() returns text immutable language plpgsql as 'begin return current_user; end';
  create view inlined as select id, code.inlined(id) as next from plain;
  create view folded as select id, code.folded() as secret from plain;
  create view mine as select id, owner from plain where owner = code.myself();
  comment on view inlined is '@graphql({"primary_key_columns": ["id"]})';
  comment on view folded is '@graphql({"primary_key_columns": ["id"]})';
  comment on view mine is '@graphql({"primary_key_columns": ["id"]})';

  create type hidden.mood as enum ('calm', 'wild');
  create table hidden_type (id int primary key, mood hidden.mood not null);
  insert into hidden_type values (1, 'calm');

  create function code.midnight() returns timestamptz immutable language plpgsql as $$ begin return make_timestamptz(2020, 1, 1, 0, 0, 0); end $$;
  create view since as select id, code.midnight() as midnight from plain;
  comment on view since is '@graphql({"primary_key_columns": ["id"]})';

  create domain code.short as text check (value <> code.folded());
  create table of_domain (id int primary key, short code.short);
  create table signed (id int primary key, author text default code.myself());
  grant insert on signed to reader;
  create function statements() returns json stable security definer language sql as $$
    select json_agg(json_build_array(generic_plans, custom_plans)) from pg_prepared_statements where statement like '%"part_of_plain"%' $$;
  create function prepared(part text) returns int stable security definer language sql as $$
    select count(*)::int from pg_prepared_statements where strpos(statement, part) > 0 $$;
  revoke execute on function statements, prepared from public, reader;
  grant execute on function statements, prepared to service_role;
  -- Which types a role may name is part of its API, so it differs from the others.
  grant usage on schema hidden to eastern;
  grant execute on function code.inlined, code.folded to rich;
`;

interface Target {
  readonly graph: Rowgraph;
  run(sql: string): Promise<unknown>;
  close(): Promise<void>;
}

async function openPostgres(): Promise<Target> {
  const databases = await startTestDatabases();
  const superuser = await databases.create(makeRoles + schema);
  const { run, url } = superuser;
  await run('alter role authenticator set plan_cache_mode = force_generic_plan');
  const graph = await createRowgraph({ database: url, poolSize: 1 });
  const close = async (): Promise<void> => {
    await graph.close();
    await databases.close();
  };
  return { graph, run, close };
}

async function openPglite(): Promise<Target> {
  const pglite: PGlite = await startPglite();
  await pglite.exec(rolesSql + grantsSql + makeRoles + schema);
  await pglite.exec('set plan_cache_mode = force_generic_plan');
  const graph = await createRowgraph({ database: pglite });
  const close = async (): Promise<void> => {
    await graph.close();
    await pglite.close();
  };
  return { graph, run: (sql) => pglite.exec(sql), close };
}

for (const [name, open] of Object.entries({ PostgreSQL: openPostgres, PGlite: openPglite })) {
  describe(`on ${name}`, () => {
    let target: Target;
    before(async () => {
      target = await open();
    });
    after(() => target.close());

    /** What a role gets: the data, or the code of the first error. */
    async function ask(role: string, query: string): Promise<unknown> {
      const { data, errors } = await target.graph.execute({ query }, { role });
      return errors?.[0]?.extensions.code ?? data;
    }

    /** Each role asks after each other one, the first first, so that none is served by what another has left. */
    async function assertEach(query: string, expected: Readonly<Record<string, unknown>>): Promise<void> {
      const roles = Object.keys(expected);
      for (const role of [...roles, ...roles.toReversed(), ...roles])
        assert.deepEqual(await ask(role, query), expected[role], `${role}: ${query}`);
    }

    const ids = (field: string, ...values: number[]): unknown => ({ [field]: { edges: values.map((id) => ({ node: { id } })) } });
    /** How many statements that contain a text are prepared. */
    const prepared = async (part: string): Promise<number> => {
      const query = 'query ($part: String!) { prepared(part: $part) }';
      return (await target.graph.execute({ query, variables: { part } }, { role: 'service_role' })).data?.prepared as number;
    };

    test('a query of plain tables is prepared and planned once for all of them, with or without relations and filters', async () => {
      const query = `{ part_of_plainCollection(orderBy: {id: AscNullsLast}, filter: {id: {gt: 1}}) { edges { node { id plain { owner mood } } } } }`;
      const answer = { part_of_plainCollection: { edges: [{ node: { id: 2, plain: { owner: 'poor', mood: 'wild' } } }] } };
      await ask('rich', query);
      await assertEach(query, { rich: answer, poor: answer });
      assert.equal(await prepared('"part_of_plain"'), 1);
      const plans = (await target.graph.execute({ query: '{ statements }' }, { role: 'service_role' })).data?.statements;
      assert.deepEqual(plans, '[[7, 0]]');
    });

    test('a role with settings of its own has its own', async () => {
      const query = '{ plainCollection { edges { node { made_at } } } }';
      const madeAt = (text: string): unknown => ({ plainCollection: { edges: [text, text].map((made_at) => ({ node: { made_at } })) } });
      const utc = madeAt('2020-01-01T00:00:00+00:00');
      await assertEach(query, { rich: utc, eastern: madeAt('2020-01-01T05:00:00+05:00'), poor: utc });
      assert.equal(await prepared('"made_at"'), 2);
    });

    test('row security', () =>
      assertEach('{ ownCollection { edges { node { id } } } }', { rich: ids('ownCollection', 1), poor: ids('ownCollection', 2) }));

    test('a view that calls a function which PostgreSQL inlines, or makes a constant of', async () => {
      const inlined = { inlinedCollection: { edges: [{ node: { next: 2 } }, { node: { next: 3 } }] } };
      await assertEach('{ inlinedCollection { edges { node { next } } } }', { rich: inlined, poor: 'PERMISSION_DENIED' });
      const folded = { foldedCollection: { edges: [{ node: { secret: 'secret' } }] } };
      await assertEach('{ foldedCollection(first: 1) { edges { node { secret } } } }', { rich: folded, poor: 'PERMISSION_DENIED' });
    });

    test('a function that is labelled immutable but reads the role', () =>
      assertEach('{ mineCollection { edges { node { id } } } }', { rich: ids('mineCollection', 1), poor: ids('mineCollection', 2) }));

    test('a type of a schema that one role may not use', () =>
      assertEach('{ hidden_typeCollection(filter: {mood: {eq: "calm"}}) { edges { node { id } } } }', {
        eastern: ids('hidden_typeCollection', 1),
        poor: ids('hidden_typeCollection', 1),
      }));

    test('a constant that depends on the time zone', () => {
      const midnight = (zone: string): unknown => ({ sinceCollection: { edges: [{ node: { midnight: `2020-01-01T00:00:00${zone}` } }] } });
      return assertEach('{ sinceCollection(first: 1) { edges { node { midnight } } } }', {
        rich: midnight('+00:00'),
        eastern: midnight('+05:00'),
      });
    });

    test('a default that is labelled immutable but reads the role', async () => {
      for (const [id, role] of ['rich', 'poor', 'rich', 'poor'].entries()) {
        const query = `mutation { insertIntosignedCollection(objects: [{id: ${id}}]) { records { author } } }`;
        assert.deepEqual(await ask(role, query), { insertIntosignedCollection: { records: [{ author: role }] } });
      }
    });

    test('what is granted and revoked while statements are prepared holds at once', async () => {
      const query = '{ plainCollection(filter: {id: {eq: 1}}) { edges { node { id } } } }';
      const one = ids('plainCollection', 1);
      const mayNot = async (): Promise<void> => {
        const answer = await ask('poor', query);
        assert.ok(answer === 'PERMISSION_DENIED' || answer === 'GRAPHQL_VALIDATION_FAILED', String(answer));
        assert.deepEqual(await ask('rich', query), one);
      };
      await assertEach(query, { rich: one, poor: one });
      const changes = [
        ['revoke reader from poor', 'grant reader to poor'],
        [
          'revoke usage on schema public from public, reader; grant usage on schema public to rich',
          'grant usage on schema public to public',
        ],
        [
          'revoke select on plain from reader; grant select on plain to rich; grant select (owner) on plain to poor',
          'grant select on plain to reader; revoke select on plain from rich; revoke select (owner) on plain from poor',
        ],
      ];
      for (const [revoke, grant] of changes) {
        await target.run(revoke!);
        // Some of them may share a write.
        await Promise.all(Array.from({ length: 20 }, mayNot));
        await target.run(grant!);
        await target.graph.reload();
        await assertEach(query, { rich: one, poor: one });
      }
    });

    test('row security that is switched on holds at once', async () => {
      const query = '{ plainCollection { edges { node { id } } } }';
      await assertEach(query, { rich: ids('plainCollection', 1, 2), poor: ids('plainCollection', 1, 2) });
      // Now, because the watch of the schema may notice the change before `reload` does.
      const before = await prepared('"plain"');
      await target.run('alter table plain enable row level security; create policy own on plain using (owner = current_user)');
      await assertEach(query, { rich: ids('plainCollection', 1), poor: ids('plainCollection', 2) });
      await target.graph.reload();
      await assertEach(query, { rich: ids('plainCollection', 1), poor: ids('plainCollection', 2) });
      assert.equal(await prepared('"plain"'), before + 2);
    });
  });
}
