/** PGlite, whose triggers notify the only session. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDatabase } from '../../../src/database/open-database.ts';
import { applyExtension } from '../../../src/extension/install-extension.ts';
import { installLiveAtOnce, uninstallLive } from '../../../src/extension/install-live.ts';
import type { Change } from '../../../src/live/changes/change-feed.ts';
import { openChangeFeed } from '../../../src/live/changes/open-change-feed.ts';
import { startPglite } from '../../support/pglite.ts';
import { until } from '../../support/until.ts';

test('the embedded database announces changes once that is set up, and is polled before and afterwards', async () => {
  const pglite = await startPglite();
  await pglite.exec(
    'create table owner (id int primary key); create table pet (id int primary key, owner int references owner on delete cascade)',
  );
  const { rows } = await pglite.query<{ id: number; relname: string }>(
    "select oid::int as id, relname from pg_class where relname in ('owner', 'pet')",
  );
  const nameOf = new Map(rows.map(({ id, relname }) => [id, relname]));
  const database = openDatabase(pglite, { observe: () => undefined });
  let changes: Change[] = [];
  const feed = await openChangeFeed(database, { mode: 'auto', observe: () => undefined }, async (change) => changes.push(change) > 0);
  const announced = async (sql: string): Promise<readonly unknown[]> => {
    changes = [];
    await pglite.exec(sql);
    await until(() => changes.length > 0);
    return [
      ...new Set(changes.flatMap((change) => (change.kind === 'tables' ? [...change.tables].map((id) => nameOf.get(id)) : [change.kind]))),
    ].sort();
  };
  assert.equal(feed.status.mode, 'poll');
  feed.pollUncovered(true);
  assert.deepEqual(await announced('insert into owner values (1)'), ['uncovered']);
  await until(() => changes.some(({ kind }) => kind === 'uncovered'));
  feed.pollUncovered(false);

  await applyExtension(database);
  await installLiveAtOnce(database, 'notify');
  feed.noteSchemaChange();
  await until(() => feed.status.mode === 'notify');
  assert.deepEqual(
    rows.filter(({ id }) => !feed.covers(id)),
    [],
  );
  assert.deepEqual(await announced('insert into owner values (2); insert into pet values (1, 2)'), ['owner', 'pet']);
  assert.deepEqual(await announced('delete from owner where id = 2'), ['owner', 'pet']);
  assert.deepEqual(await announced('begin; insert into owner values (3); rollback; insert into pet values (2, 1)'), ['pet']);
  await pglite.exec('create table later (id int primary key)');
  const [later] = (await pglite.query<{ id: number }>("select 'later'::regclass::oid::int as id")).rows;
  feed.noteSchemaChange();
  await until(() => feed.covers(later?.id ?? 0));

  await uninstallLive(database);
  feed.noteSchemaChange();
  await until(() => feed.status.mode === 'poll');
  await feed.close();
  await database.close();
  await pglite.close();
});
