import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { PGlite } from '@electric-sql/pglite';
import { startPglite } from '../../../test/support/pglite.ts';
import { CommandError } from '../command-error.ts';
import { Progress } from '../output/terminal.ts';
import { loadSql } from './load-sql.ts';

let pglite: PGlite;
before(async () => {
  pglite = await startPglite();
});
after(() => pglite.close());

test('loading a long file reports progress', async () => {
  const states: string[] = [];
  const progress = new Progress(() => {});
  progress.step = async (_label, work, { describeState } = {}) => {
    const result = await work();
    states.push(describeState?.() ?? '');
    return result;
  };
  await loadSql(pglite, [{ name: 'two.sql', text: 'select 1; select 2;' }], progress);
  assert.deepEqual(states, ['2 of 2 statements']);
});

test('an error names the file and the line', async () => {
  const fails = async (text: string, line: RegExp): Promise<void> => {
    const isExpected = (error: unknown): boolean => error instanceof CommandError && error.exitCode === 1 && line.test(error.message);
    await assert.rejects(loadSql(pglite, [{ name: 'wrong.sql', text }], new Progress(() => {})), isExpected);
  };
  await fails('create table a (id int);\n\n-- é 𝄞\ncreate table b (\n  id itn\n);', /^wrong\.sql:5: type "itn" does not exist$/);
  await fails(
    'create table c (id int primary key);\ninsert into c\nvalues (1), (1);',
    /^wrong\.sql:2: duplicate key .* Key \(id\)=\(1\) already exists/,
  );
  await fails("select 1;\nselect 'open;", /^wrong\.sql:2: a quote ' is not closed$/);
  await fails('begin;\ncreate table d ();', /^wrong\.sql: a transaction is still open/);
});

test('a schema or a role that is there already is not created again, in a transaction or outside', async () => {
  const text = 'create schema s; create role r; begin; create schema s; create role r nologin; create user r; create table s.t (); commit;';
  await loadSql(pglite, [{ name: 'twice.sql', text }], new Progress(() => {}));
  await loadSql(pglite, [{ name: 'again.sql', text: 'create role r login; drop table s.t;' }], new Progress(() => {}));
});
