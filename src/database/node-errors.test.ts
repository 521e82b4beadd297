import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toApiError } from '../errors/from-postgres.ts';
import { toBatchError } from './session-statement.ts';

const session = { role: 'anon', claims: '{}', searchPath: 'public', version: null, hasNodes: true };

/** The error in the API for what PostgreSQL reports. */
function answerTo(message: string, fields: object): Record<string, unknown> {
  const reported = Object.assign(new Error(message), { severity: 'ERROR', code: 'XX000', routine: 'ReportResultError', ...fields });
  const { code, message: shown, details } = toApiError(toBatchError(reported, { session, statements: [] }, 9));
  return { code, message: shown, ...details };
}

test('an error of a node has the names of tables and constraints, and the fields that Citus leaves out', () => {
  assert.deepEqual(
    answerTo('insert or update on table "task_102413" violates foreign key constraint "task_project_fkey_102413"', {
      code: '23503',
      detail: 'Key (tenant_id, project_id)=(4, 1) is not present in table "project_102381".',
    }),
    {
      code: 'CONSTRAINT_VIOLATION',
      message: 'insert or update on table "task" violates foreign key constraint "task_project_fkey"',
      sqlstate: '23503',
      constraint: 'task_project_fkey',
      table: 'task',
      detail: 'Key (tenant_id, project_id)=(4, 1) is not present in table "project".',
    },
  );
  const empty = answerTo('null value in column "title" of relation "task_102413" violates not-null constraint', { code: '23502' });
  assert.deepEqual(
    [empty.message, empty.table, empty.column],
    ['null value in column "title" of relation "task" violates not-null constraint', 'task', 'title'],
  );
  // A check has one name on all shards, and smaller numbers are no ids of shards.
  const checked = answerTo('new row for relation "log_2024_102413" violates check constraint "log_check_202401"', { code: '23514' });
  assert.equal(checked.message, 'new row for relation "log_2024" violates check constraint "log_check_202401"');
  assert.equal(answerTo('duplicate key value violates unique constraint "log_100007"', { code: '23505' }).constraint, 'log_100007');
});

test('errors of the coordinator stay as they are', () => {
  const own = answerTo('duplicate key value violates unique constraint "log_202401"', { code: '23505', routine: '_bt_check_unique' });
  assert.equal(own.message, 'duplicate key value violates unique constraint "log_202401"');
});

test('a role that may not log in is named; a node that is away is not taken for one', () => {
  const failed = 'connection to the remote node locked@127.0.0.1:5611 failed with the following error:';
  const of = (reason: string) => answerTo(`${failed} ${reason}`, { code: '08006', routine: 'ReportConnectionError' });
  const refused = of('FATAL:  role "locked" is not permitted to log in');
  assert.equal(refused.code, 'PERMISSION_DENIED');
  assert.match(String(refused.message), /"locked" log in.*LOGIN/);
  assert.equal(of('Connection refused').code, 'DATABASE_UNAVAILABLE');
});

test('what Citus cannot plan has a code of its own', () => {
  const refused = answerTo('complex joins are only supported when all distributed tables are co-located', { code: '0A000', routine: 'X' });
  assert.equal(refused.code, 'NOT_DISTRIBUTABLE');
  assert.match(String(refused.hint), /docs\/citus\.md/);
});

test('an error of a shard of the coordinator has the names of the table, if the request touches it', () => {
  const reported = (message: string, fields: object) =>
    Object.assign(new Error(message), { severity: 'ERROR', code: '23505', routine: '_bt_check_unique', ...fields });
  const batch = { session, statements: [], touches: ['public.task', 'public.log_202401'] };
  const ofShard = toBatchError(
    reported('duplicate key value violates unique constraint "task_pkey_102413"', { table: 'task_102413', constraint: 'task_pkey_102413' }),
    batch,
    9,
  );
  assert.deepEqual(
    [ofShard.message, ofShard.table, ofShard.constraint],
    ['duplicate key value violates unique constraint "task_pkey"', 'task', 'task_pkey'],
  );
  const ofPolicy = toBatchError(
    reported('new row violates row-level security policy for table "task_102413"', { code: '42501' }),
    batch,
    9,
  );
  assert.equal(ofPolicy.message, 'new row violates row-level security policy for table "task"');
  const ofTable = toBatchError(
    reported('duplicate key … "log_202401_pkey"', { table: 'log_202401', constraint: 'log_202401_pkey' }),
    batch,
    9,
  );
  assert.deepEqual([ofTable.table, ofTable.constraint], ['log_202401', 'log_202401_pkey']);
});
