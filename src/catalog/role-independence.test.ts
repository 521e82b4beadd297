import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { PGlite } from '@electric-sql/pglite';
import { startPglite } from '../../test/support/pglite.ts';
import type { Database } from '../database/database.ts';
import { openPgliteDatabase } from '../database/pglite-database.ts';
import { readFingerprint } from '../freshness/fingerprint.ts';
import { loadCatalog } from './load-catalog.ts';

/** By table name, why queries on the table depend on the role. */
const dependent: Readonly<Record<string, string>> = {
  policed: 'create table policed (id int); alter table policed enable row level security',
  viewed: 'create view viewed as select 1 as id',
  far: 'create foreign table far (id int) server dumb_server',
  parent: 'create table parent (id int); create table heir () inherits (parent)',
  of_domain: 'create table of_domain (id hidden.code)',
  of_hidden_enum: 'create table of_hidden_enum (id hidden.mood)',
  of_hidden_enums: 'create table of_hidden_enums (id hidden.mood[])',
  of_row: 'create table of_row (id plain)',
  of_extension: 'create table of_extension (id citext)',
  of_information: 'create table of_information (id information_schema.sql_identifier)',
  checked: 'create table checked (id int check (hidden.is_right(id)))',
  checked_by_operator: 'create table checked_by_operator (id int check (id operator(hidden.===) id))',
  computed: 'create table computed (id int, twice int generated always as (id * 2) virtual)',
};

/** Changes that make all tables depend on the role, and how to undo them. */
const exceptions: Readonly<Record<string, readonly [make: string, undo: string]>> = {
  'a built-in function that not everybody may execute': [
    'revoke execute on function pg_catalog.lower(text) from public',
    'grant execute on function pg_catalog.lower(text) to public',
  ],
  'a user-defined function in pg_catalog': [
    "create function pg_catalog.concat(text, text) returns text language sql as 'select null::text'",
    'drop function pg_catalog.concat(text, text)',
  ],
  'an operator whose function is in SQL': [
    'create operator public.|| (function = hidden.join_texts, leftarg = text, rightarg = int)',
    'drop operator public.|| (text, int)',
  ],
  'a cast between built-in types': ['create cast (int as text) with function hidden.as_text(int)', 'drop cast (int as text)'],
  'a cast from an array of enums': [
    'create cast (mood[] as text[]) with function hidden.moods_as_texts(mood[])',
    'drop cast (mood[] as text[])',
  ],
  'a cast from an enum': ['create cast (mood as text) with function hidden.mood_as_text(mood)', 'drop cast (mood as text)'],
};

describe('role-independent tables', () => {
  let pglite: PGlite;
  let database: Database;
  const independentTables = async (): Promise<string[]> => {
    const { tables } = await loadCatalog(database, ['public']);
    return tables.filter(({ roleIndependent }) => roleIndependent).map(({ name }) => name);
  };
  const independent = ['plain', 'heir', 'material', 'parted', 'part', 'checked_by_built_in'];

  before(async () => {
    pglite = await startPglite();
    database = openPgliteDatabase(pglite);
    await pglite.exec(`
      create schema hidden; create extension citext schema hidden; set search_path = public, hidden;
      create domain hidden.code as text; create type hidden.mood as enum ('calm'); create type public.mood as enum ('calm');
      create function hidden.is_right(int) returns bool immutable language sql as 'select true';
      create function hidden.is_same(int, int) returns bool immutable language plpgsql as 'begin return $1 = $2; end';
      create operator hidden.=== (function = hidden.is_same, leftarg = int, rightarg = int);
      create function hidden.join_texts(text, int) returns text language sql as 'select $1';
      create function hidden.as_text(int) returns text language plpgsql as 'begin return 1; end';
      create function hidden.mood_as_text(mood) returns text language plpgsql as 'begin return 1; end';
      create function hidden.moods_as_texts(mood[]) returns text[] language plpgsql as 'begin return null; end';
      create foreign data wrapper dumb; create server dumb_server foreign data wrapper dumb;
      create table plain (id int primary key, moods public.mood[], mood public.mood default 'calm', at timestamptz default now(),
        extra jsonb, spans int4multirange, names name[], total numeric(14, 4), stored int generated always as (1) stored);
      create materialized view material as select hidden.is_right(1) as fine;
      create table parted (id int) partition by range (id); create table part partition of parted for values from (0) to (10);
      create table checked_by_built_in (id int check (id > 0 and length(id::text) < 5));
      ${Object.values(dependent).join(';\n')};
    `);
  });
  after(() => pglite.close());

  it('have no row level security and only plain types', async () => {
    assert.deepEqual((await independentTables()).sort(), independent.toSorted());
  });

  for (const [what, [make, undo]] of Object.entries(exceptions)) {
    it(`do not exist with ${what}, which changes the fingerprint`, async () => {
      const fingerprint = await readFingerprint(database, ['public']);
      await pglite.exec(make);
      assert.deepEqual(await independentTables(), []);
      assert.notEqual(await readFingerprint(database, ['public']), fingerprint);
      await pglite.exec(undo);
      assert.deepEqual((await independentTables()).sort(), independent.toSorted());
    });
  }

  it('exclude partitioned tables with a partition whose check constraint calls a function', async () => {
    await pglite.exec('alter table part add check (hidden.is_right(id))');
    assert.deepEqual((await independentTables()).sort(), independent.filter((name) => !name.startsWith('part')).sort());
    await pglite.exec('alter table part drop constraint part_id_check');
  });

  it('change the fingerprint when they get a check constraint', async () => {
    const fingerprint = await readFingerprint(database, ['public']);
    await pglite.exec('alter table plain add check (hidden.is_right(id))');
    assert.notEqual(await readFingerprint(database, ['public']), fingerprint);
    await pglite.exec('alter table plain drop constraint plain_id_check');
  });
});
