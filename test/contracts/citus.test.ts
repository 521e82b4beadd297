/**
 * The requests of a multi-tenant app have the same answers whatever keeps its rows: PostgreSQL, PostgreSQL with the SQL for Citus, and Citus,
 * if `ROWGRAPH_TEST_CITUS_URL` names a database of a coordinator, as a superuser. The schema `shop` there is made anew.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Client } from 'pg';
import { createRowgraph, type Rowgraph } from '../../src/index.ts';
import { startTestDatabases, type TestDatabases } from '../support/test-databases.ts';
import {
  answerTo,
  appRequests,
  appRoles,
  appSchema,
  appSql,
  callerOf,
  citusDistribution,
  loginRole,
  pretendedPlacements,
  requestOf,
} from './citus/app.ts';

const citusUrl = process.env.ROWGRAPH_TEST_CITUS_URL;
const skip = citusUrl === undefined && 'ROWGRAPH_TEST_CITUS_URL is not set';

let databases: TestDatabases;
const opened: Rowgraph[] = [];
let plain: Rowgraph;

function open(url: string): Promise<Rowgraph> {
  const login = new URL(url);
  login.username = loginRole;
  login.password = '';
  return createRowgraph({ database: login.href, schemas: [appSchema] }).then((graph) => {
    opened.push(graph);
    return graph;
  });
}

before(async () => {
  databases = await startTestDatabases();
  plain = await open((await databases.create(appRoles + appSql())).url);
});
after(async () => {
  for (const graph of opened) await graph.close();
  await databases.close();
});

test('SQL for Citus has the same answers on PostgreSQL', async () => {
  const sharded = await open((await databases.create(appSql(pretendedPlacements()))).url);
  for (const request of appRequests) {
    const [expected, actual] = [await answerTo(plain, request), await answerTo(sharded, request)];
    const code = actual.errors?.[0]?.extensions.code;
    assert.notEqual(code, 'GRAPHQL_VALIDATION_FAILED', request.name);
    // What Citus would answer wrongly is refused before.
    if (code !== 'NOT_DISTRIBUTABLE') assert.deepEqual(actual, expected, request.name);
  }
});

test('Citus has the same answers, or says why not; one task answers what is about one tenant', { skip }, async () => {
  const admin = new Client(citusUrl);
  await admin.connect();
  try {
    await createRoles(admin);
    // Citus sends the text of a statement on. Lines that continue one are indented.
    for (const statement of appSql(citusDistribution).split(/;\n+(?=\S)/)) await admin.query(statement);
    // Writes have changed the rows of the first.
    const again = await open((await databases.create(appSql())).url);
    const citus = await open(citusUrl!);
    const differing: string[] = [];
    for (const request of appRequests) {
      if (request.ofTenant) await checkTasks(admin, citus, request);
      const [expected, actual] = [await answerTo(again, request), await answerTo(citus, request)];
      if (request.refusal !== undefined) assert.equal(actual.errors?.[0]?.extensions.code, request.refusal, request.name);
      else if (!isSame(actual, expected)) differing.push(`${request.name}: ${JSON.stringify(actual)} for ${JSON.stringify(expected)}`);
    }
    assert.deepEqual(differing, []);
  } finally {
    await admin.end();
  }
});

function isSame(actual: unknown, expected: unknown): boolean {
  try {
    assert.deepEqual(actual, expected);
    return true;
  } catch {
    return false;
  }
}

async function createRoles(admin: Client): Promise<void> {
  for (const statement of appRoles.split(';').filter((each) => each.trim() !== '')) {
    await admin.query(statement).catch((error: { code?: string }) => {
      // The role has been there since the last time.
      if (error.code !== '42710') throw error;
    });
  }
}

/** A single task on one shard, and no result that goes through the coordinator. */
async function checkTasks(admin: Client, citus: Rowgraph, request: (typeof appRequests)[number]): Promise<void> {
  const { statements } = await citus.explain(requestOf(request), callerOf(request), { mode: 'sql' });
  for (const { text, parameters } of statements) {
    await admin.query('begin');
    await admin.query(`set local role ${callerOf(request).role}`);
    const { rows } = await admin.query<{ 'QUERY PLAN': string }>(`explain ${text}`, [...parameters]);
    await admin.query('rollback');
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    assert.deepEqual(plan.match(/Task Count: \d+|Distributed Subplan/g), ['Task Count: 1'], `${request.name}: ${plan}`);
  }
}
