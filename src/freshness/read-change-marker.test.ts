import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Client } from 'pg';
import { type PostgresServer, startPostgres } from '../../test/support/postgres.ts';
import { until } from '../../test/support/until.ts';
import type { Database } from '../database/database.ts';
import { openPgDatabase } from '../database/pg-database.ts';
import { readChangeMarker, readRoles } from './fingerprint.ts';

describe('readChangeMarker', () => {
  let server: PostgresServer;
  let clients: Client[];
  let database: Database;

  before(async () => {
    // It would assign transaction ids.
    server = await startPostgres({ settings: { autovacuum: 'off' } });
    clients = [new Client(server.url), new Client(server.url)];
    for (const client of clients) await client.connect();
    database = openPgDatabase(server.url, { poolSize: 1 });
    await clients[0]!.query('create table known (id int)');
  });
  after(async () => {
    for (const client of clients) await client.end();
    await database.close();
    await server.stop();
  });

  const marker = async (): Promise<string> => (await readChangeMarker(database)) ?? assert.fail('there is no marker');

  it('stays the same while transactions only read', async () => {
    const start = await marker();
    for (const client of clients) await client.query('begin; select count(*) from known; commit');
    assert.equal(await marker(), start);
  });

  it('changes with whatever commits a change', async () => {
    const changes = [
      'alter table known add a int',
      'create role newcomer',
      'grant select on known to newcomer',
      "comment on table known is '@graphql({})'",
      "alter role newcomer set app.name = 'a'",
      'drop table known',
    ];
    let previous = await marker();
    for (const change of changes) {
      await clients[0]!.query(change);
      const next = await marker();
      assert.notEqual(next, previous, change);
      previous = next;
    }
  });

  it('changes with a commit, even if a transaction that began later has committed already', async () => {
    const [earlier, later] = clients as [Client, Client];
    await earlier.query('begin; create table slow (id int)');
    await later.query('create table quick (id int)');
    const start = await marker();
    await earlier.query('commit');
    assert.notEqual(await marker(), start);
  });

  const undone = [
    ['grant pg_monitor to member', 'revoke pg_monitor from member'],
    ['alter role member bypassrls', 'alter role member nobypassrls'],
    ['create policy p on guarded using (true)', 'drop policy p on guarded'],
    ['alter table heir inherit guarded', 'alter table heir no inherit guarded'],
    ['create function f(int) returns int language sql as $$ select 1 $$', 'drop function f(int)'],
  ];

  it('is not all: roles and other catalogs tell of what was undone before anybody looked', async (context) => {
    // Before, no statistics are asked.
    if (server.version < 15) return context.skip();
    await clients[0]!.query('create role member; create table guarded (id int); create table heir (id int)');
    for (const changes of undone) {
      // What a session has written is known when it has ended.
      const session = new Client(server.url);
      await session.connect();
      const before = await readRoles(database, null);
      for (const change of changes) await session.query(change);
      await session.end();
      await until(async () => (await readRoles(database, null)).writes !== before.writes);
      assert.equal((await readRoles(database, null)).hash, before.hash, changes[0]);
    }
  });

  it('is null if it would prove nothing, as on a standby', async () => {
    const standby = new Proxy(database, {
      get: (target, name) => {
        if (name !== 'query') return Reflect.get(target, name);
        return (text: string, ...rest: []) => target.query(text.replace('pg_catalog.pg_is_in_recovery()', 'true'), ...rest);
      },
    });
    assert.equal(await readChangeMarker(standby), null);
  });
});
