/**
 * The SQL for Citus, whose catalogs PostgreSQL only pretends to have here: some of it as files in `citus/`, written anew by
 * `npm run golden`; all of it gives the same answers on PostgreSQL as the SQL for PostgreSQL. `test/contracts/citus.test.ts` asks Citus.
 */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { createRowgraph, type Rowgraph } from '../../src/index.ts';
import { answerTo, appRequests, appRoles, appSchema, appSql, callerOf, pretendedPlacements, requestOf } from '../contracts/citus/app.ts';
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
let plain: Rowgraph;
let sharded: Rowgraph;

async function open(name: string, setup: string): Promise<Rowgraph> {
  const { url } = await databases.create(`${name === 'plain' ? appRoles : ''} ${setup}`);
  return createRowgraph({ database: url.replace('authenticator', 'app_server'), schemas: [appSchema] });
}

before(async () => {
  databases = await startTestDatabases();
  plain = await open('plain', appSql());
  sharded = await open('sharded', appSql(pretendedPlacements()));
});
after(async () => {
  await plain.close();
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

test('every request has the same answer', async () => {
  for (const request of appRequests) {
    const [expected, actual] = [await answerTo(plain, request), await answerTo(sharded, request)];
    assert.deepEqual(actual, expected, request.name);
    assert.notEqual(expected.errors?.[0]?.extensions?.code, 'GRAPHQL_VALIDATION_FAILED', request.name);
  }
});
