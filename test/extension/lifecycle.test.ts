/** The life of the extension in a database: how it comes, is updated and goes, under PostgreSQL's own commands and as plain SQL, and who may touch it. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { PGlite } from '@electric-sql/pglite';
import type { Database } from '../../src/database/database.ts';
import { openPgDatabase } from '../../src/database/pg-database.ts';
import { openPgliteDatabase } from '../../src/database/pglite-database.ts';
import { DatabaseError } from '../../src/errors/database-error.ts';
import { currentVersion, extensionFiles, extensionVersions } from '../../src/extension/extension-versions.ts';
import { applyExtension, installExtension, judgeExtension, readExtension, removeExtension } from '../../src/extension/install-extension.ts';
import { pgliteExtension } from '../../src/extension/pglite-extension.ts';
import { schemaVersionScript } from '../../src/extension/schema-version-scripts.ts';
import { readVersions } from '../../src/freshness/versions.ts';
import { createRowgraph } from '../../src/index.ts';
import { startPglite } from '../support/pglite.ts';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';
import { rolesSql } from '../support/roles.ts';

let server: PostgresServer;
let pglite: PGlite;
const databases: Database[] = [];

before(async () => {
  [server, pglite] = await Promise.all([startPostgres({ extensionFiles: extensionFiles() }), startPglite({ rowgraph: pgliteExtension })]);
  databases.push(openPgDatabase(server.url), openPgliteDatabase(pglite));
  for (const database of databases) await database.query(rolesSql);
});

after(async () => {
  for (const database of databases) await database.close();
  await pglite.close();
  await server.stop();
});

const failsWith = (sqlstate: string, message: RegExp) => (error: unknown) =>
  error instanceof DatabaseError && error.sqlstate === sqlstate && message.test(error.message);
const listed = "select default_version, installed_version, comment from pg_available_extensions where name = 'rowgraph'";
const comment = 'Schema version, idempotency keys and live queries for rowgraph';
const objects = `select count(*)::text from (select 1 from pg_namespace where nspname = 'rowgraph'
  union all select 1 from pg_event_trigger where evtname like 'rowgraph%' union all select 1 from pg_extension where extname = 'rowgraph') o`;

test('nothing of it is in an API, even if its schema is exposed to a superuser', async () => {
  const database = databases[1]!;
  await installExtension(database);
  await pglite.exec('create table public.own (id int primary key); set search_path = rowgraph, public');
  const graph = await createRowgraph({ database: pglite, schemas: ['rowgraph', 'public'], trustedRoles: ['postgres'] });
  const sdl = await graph.sdl({ role: 'postgres' });
  assert.match(sdl, /type own /);
  assert.doesNotMatch(sdl, /idempotency|schema_change|recent_change|claim_key|read_response|version[:(]/);
  const { errors } = await graph.resolve(pglite, { query: '{ idempotency_keyCollection { edges { node { key } } } }' });
  assert.match(errors?.[0]?.message ?? '', /^Cannot query field "idempotency_keyCollection"/);
  await graph.close();
  await pglite.exec('reset search_path; drop table public.own');
  await removeExtension(database);
});

for (const index of [0, 1]) {
  describe(['PostgreSQL', 'PGlite'][index]!, () => {
    test('create, drop and create again; nothing is left between', async () => {
      const database = databases[index]!;
      assert.deepEqual(await database.query(listed), [[currentVersion, null, comment]]);
      const versions = new Set<string | null>();
      for (let round = 0; round < 2; round++) {
        await database.query('create extension rowgraph');
        assert.deepEqual(await database.query(listed), [[currentVersion, currentVersion, comment]]);
        assert.deepEqual(await database.query('set role anon; select rowgraph.version(); reset role'), [[currentVersion]]);
        const { version, extension } = await readVersions(database);
        assert.equal(extension, currentVersion);
        versions.add(version);
        await database.query('create table public.moves (id int)');
        versions.add((await readVersions(database)).version);
        await database.query('drop table public.moves; drop extension rowgraph');
        assert.deepEqual(await database.query(objects), [['0']]);
        assert.deepEqual(await readVersions(database), { version: null, extension: null, changes: null });
      }
      assert.equal(versions.size, 4, 'no version comes again');
    });

    test('alter extension … update leads from each version to the current one, and so does whatever installs it', async () => {
      const database = databases[index]!;
      const older = extensionVersions.map(({ version }) => version).filter((version) => version !== currentVersion);
      for (const [old, update] of older.flatMap((version) => [
        [version, 'alter extension rowgraph update'] as const,
        [version, null] as const,
      ])) {
        await database.query(`create extension rowgraph version '${old}'`);
        assert.equal((await readVersions(database)).extension, old);
        assert.equal(judgeExtension(await readExtension(database)), 'outdated');
        const before = (await readVersions(database)).version;
        await (update === null ? applyExtension(database) : database.query(update));
        assert.deepEqual(await readExtension(database), {
          kind: 'extension',
          version: currentVersion,
          isOn: true,
          available: currentVersion,
        });
        assert.notEqual((await readVersions(database)).version, before, 'servers are told');
        await removeExtension(database);
        assert.deepEqual(await database.query(objects), [['0']]);
      }
    });

    test('where the files are there, it is installed as an extension; its triggers can be disabled, and are enabled again', async () => {
      const database = databases[index]!;
      await installExtension(database);
      await database.query('alter event trigger rowgraph_ddl disable');
      assert.deepEqual(await readVersions(database), { version: null, extension: null, changes: null });
      await installExtension(database);
      assert.deepEqual(await readExtension(database), {
        kind: 'extension',
        version: currentVersion,
        isOn: true,
        available: currentVersion,
      });
      await removeExtension(database);
    });

    test('as plain SQL, older installations are recognised and updated, and the extension does not take their place', async () => {
      const database = databases[index]!;
      await database.query(
        `${schemaVersionScript} comment on schema rowgraph is 'Keeps the schema version for rowgraph (0123456789abcdef)'`,
      );
      assert.deepEqual(await readExtension(database), { kind: 'plain', version: '1.0', isOn: true, available: currentVersion });
      assert.equal((await readVersions(database)).extension, '1.0');
      await applyExtension(database);
      assert.deepEqual(await readExtension(database), { kind: 'plain', version: currentVersion, isOn: true, available: currentVersion });
      await assert.rejects(database.query('create extension rowgraph'), /schema "?rowgraph"? is not a member of extension "rowgraph"/);
      await database.query(
        "create or replace function rowgraph.version() returns text language sql immutable as $$ select '1.10'::text $$",
      );
      await applyExtension(database);
      assert.deepEqual((await readExtension(database)).version, '1.10', 'a newer version stays');
      await removeExtension(database);
      assert.deepEqual(await database.query(objects), [['0']]);
    });

    test('what somebody else has made in a schema of this name is neither run nor taken over', async () => {
      const database = databases[index]!;
      await database.query(`create schema rowgraph authorization anon; set role anon;
        create table rowgraph.schema_change (weight bigint);
        create function rowgraph.version() returns text language plpgsql as $$ begin raise 'run as %', current_user; end $$;
        reset role`);
      assert.deepEqual(await readVersions(database), { version: null, extension: null, changes: null });
      assert.equal((await readExtension(database)).version, '1.0');
      await assert.rejects(applyExtension(database), failsWith('42501', /^the schema rowgraph belongs to another role/));
      await assert.rejects(database.query('create extension rowgraph'), failsWith('42501', /^the schema rowgraph belongs to another role/));
      await database.query('drop schema rowgraph cascade');
    });

    test('nobody but its owner reads the keys, whatever default privileges there are; every function has its search path', async () => {
      const database = databases[index]!;
      await database.query(
        `alter default privileges grant all on tables to anon, service_role; alter default privileges grant all on tables to public;
          alter default privileges grant all on sequences to anon, public`,
      );
      for (const install of [applyExtension, installExtension]) {
        await install(database);
        assert.deepEqual(
          await database.query(`select rolname from pg_roles, unnest(array['select', 'insert', 'update', 'delete', 'truncate', 'references', 'trigger']) p
            where has_table_privilege(oid, 'rowgraph.idempotency_key', p) and not rolsuper and rolname !~ '^pg_'`),
          [],
        );
        assert.deepEqual(
          await database.query(`select rolname, relname from pg_roles r, pg_class c, unnest(array['usage', 'select', 'update']) p
            where relkind = 'S' and relnamespace = 'rowgraph'::regnamespace and has_sequence_privilege(r.oid, c.oid, p) and not rolsuper and rolname !~ '^pg_'`),
          [],
        );
        assert.deepEqual(
          await database.query(`select rolname from pg_roles, unnest(array['insert', 'update', 'delete', 'truncate', 'references', 'trigger']) p
            , unnest(array['recent_change', 'live_setting', 'live_change']) t
            where has_table_privilege(oid, 'rowgraph.' || t, p) and not rolsuper and rolname !~ '^pg_'`),
          [],
        );
        for (const role of ['anon', 'service_role']) {
          const read = `set role ${role}; select * from rowgraph.idempotency_key`;
          await assert.rejects(database.query(read), failsWith('42501', /permission denied for table idempotency_key/));
        }
        const unpinned = `select proname from pg_proc where pronamespace = 'rowgraph'::regnamespace
          and not coalesce('search_path=pg_catalog, pg_temp' = any (proconfig), false)`;
        assert.deepEqual(await database.query(unpinned), []);
        await removeExtension(database);
      }
      await database.query(
        `alter default privileges revoke all on tables from anon, service_role; alter default privileges revoke all on tables from public;
          alter default privileges revoke all on sequences from anon, public`,
      );
    });
  });
}
