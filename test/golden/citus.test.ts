/**
 * Holds the SQL for Citus, whose catalogs PostgreSQL only pretends to have here, to the files in `citus/`; `npm run golden` writes them anew.
 * `test/contracts/citus.test.ts` compares answers.
 */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { createRowgraph, type Rowgraph } from '../../src/index.ts';
import { appRequests, appRoles, appSchema, appSql, callerOf, pretendedPlacements, requestOf } from '../contracts/citus/app.ts';
import { startTestDatabases, type TestDatabases } from '../support/test-databases.ts';
import { separator } from './compile-to-sql.ts';

const folder = path.join(import.meta.dirname, 'citus');
const updates = process.argv.includes('--update') || process.env.UPDATE_GOLDEN === '1';

const shown = ['three levels', 'lookup with relations', 'a filter by related rows', 'order by a related row', 'groups by a relation'];
const shownOverAll = ['a page over all shards with relations'];
const written = [
  'update one',
  'insert many of two tenants',
  'insert one and read relations',
  'delete with relations',
  'nested insert of two tenants',
];

let databases: TestDatabases;
let sharded: Rowgraph;

before(async () => {
  databases = await startTestDatabases();
  const { url } = await databases.create(appRoles + appSql(pretendedPlacements()));
  sharded = await createRowgraph({ database: url.replace('authenticator', 'app_server'), schemas: [appSchema] });
});
after(async () => {
  await sharded.close();
  await databases.close();
});

for (const name of [...shown, ...shownOverAll, ...written]) {
  test(name, async () => {
    const request = appRequests.find((each) => each.name === name);
    assert.ok(request);
    const { statements } = await sharded.explain(requestOf(request), callerOf(request), { mode: 'sql' });
    const sql = `${statements
      .map(({ text }) => text + separator)
      .join('')
      .trimEnd()}\n`;
    const file = path.join(folder, `${name.replaceAll(' ', '-')}.sql`);
    if (updates) {
      mkdirSync(folder, { recursive: true });
      writeFileSync(file, sql);
    } else assert.equal(sql, readFileSync(file, 'utf8'));
  });
}
