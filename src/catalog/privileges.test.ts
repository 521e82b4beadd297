import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { PGlite } from '@electric-sql/pglite';
import { startPglite } from '../../test/support/pglite.ts';
import type { Database } from '../database/database.ts';
import { openPgliteDatabase } from '../database/pglite-database.ts';
import type { Catalog } from './catalog.ts';
import { loadCatalog } from './load-catalog.ts';
import { loadPrivileges } from './privileges.ts';

describe('loadPrivileges', () => {
  let pglite: PGlite;
  let database: Database;
  let catalog: Catalog;

  before(async () => {
    pglite = await startPglite();
    database = openPgliteDatabase(pglite);
    await pglite.exec(`
      create role reader; create role member in role reader; create role loner noinherit in role reader; create role "it's ""odd""" ;
      create schema closed;
      create table plain (id int, b int, c int); create table partial (id int, b int, c int); create table closed.far (id int); create table doomed (id int);
      create function open_one() returns int language sql as 'select 1'; create function shut_one() returns int language sql as 'select 1';
      revoke execute on function shut_one() from public;
      grant select, delete on plain to reader; grant select (id), insert (b), update (b, c) on partial to reader; grant insert (b) on plain to reader;
      grant select on doomed to reader;
    `);
    catalog = await loadCatalog(database, ['public', 'closed']);
  });
  after(() => pglite.close());

  const load = async (role: string) => {
    const privileges = await loadPrivileges(database, catalog, role);
    const table = (name: string) => privileges.tables.get(catalog.tables.find((candidate) => candidate.name === name)?.id ?? 0);
    const schemas = catalog.schemas.filter(({ id }) => privileges.schemas.has(id)).map(({ name }) => name);
    const functions = catalog.functions.filter(({ id }) => privileges.functions.has(id)).map(({ name }) => name);
    return { table, schemas, functions };
  };
  const nothing = { select: false, insert: false, update: false };

  it('reads privileges on tables, and on columns only if they have grants of their own', async () => {
    const { table } = await load('reader');
    assert.deepEqual(table('plain'), {
      select: true,
      insert: false,
      update: false,
      delete: true,
      columns: new Map([[2, { select: true, insert: true, update: false }]]),
    });
    assert.deepEqual(table('partial'), {
      ...nothing,
      delete: false,
      columns: new Map([
        [1, { ...nothing, select: true }],
        [2, { ...nothing, insert: true, update: true }],
        [3, { ...nothing, update: true }],
      ]),
    });
  });

  it('follows role membership as PostgreSQL does', async () => {
    assert.equal((await load('member')).table('plain')?.select, true);
    assert.equal((await load('loner')).table('plain')?.select, false);
  });

  it('reads privileges on schemas and functions', async () => {
    assert.deepEqual((await load('reader')).schemas, ['public']);
    assert.deepEqual((await load('reader')).functions, ['open_one']);
    assert.deepEqual((await load('postgres')).schemas, ['public', 'closed']);
    assert.deepEqual((await load('postgres')).functions, ['open_one', 'shut_one']);
    assert.deepEqual((await load(`it's "odd"`)).functions, ['open_one']);
  });

  it('counts dropped objects as no privilege', async () => {
    await pglite.exec('drop table doomed; drop function open_one()');
    const { table, functions } = await load('reader');
    assert.deepEqual(table('doomed'), { ...nothing, delete: false, columns: new Map() });
    assert.deepEqual(functions, []);
  });

  it('refuses a role that does not exist', async () => {
    await assert.rejects(loadPrivileges(database, catalog, 'nobody'), {
      code: 'UNAUTHENTICATED',
      message: 'role "nobody" does not exist',
    });
  });
});
