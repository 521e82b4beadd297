import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type PostgresServer, startPostgres } from '../../test/support/postgres.ts';
import { rolesSql } from '../../test/support/roles.ts';
import { textsOf } from '../../test/support/texts-of.ts';
import type { Batch, Database, Session } from './database.ts';
import { nodeStatements } from './node-settings.ts';
import { openPgDatabase } from './pg-database.ts';

let server: PostgresServer;
let database: Database;

before(async () => {
  server = await startPostgres();
  database = openPgDatabase(server.url, { poolSize: 1 });
  await database.query(`${rolesSql} create table entry (id int primary key, other int references entry deferrable initially deferred);
    grant all on entry to anon;`);
});
after(async () => {
  await database.close();
  await server.stop();
});

const session = (claims: string, hasNodes = true): Session => ({ role: 'anon', claims, searchPath: 'public', version: null, hasNodes });
const batch = (as: Session, ...texts: string[]): Batch => ({ session: as, statements: texts.map((text) => ({ text, parameters: [] })) });
const pid = 'select pg_backend_pid()';

const hostile = [
  '',
  "'",
  "\\'",
  "\\\\'; drop table entry; --",
  "'; select set_config('role', 'postgres', true); --",
  '"$1" $$ $tag$ /* -- \n\r\t\b\f\v',
  'é ü 日本 😀 \u0001 \u007f \u2028 \ufeff',
  '\u{d800} alone',
  'E\'\\u0027 \\x27 \\47 U&"\\0027"',
  'x'.repeat(100_000),
];

test('a value is sent as it is, and nothing of it is SQL', async () => {
  for (const standard of ['on', 'off']) {
    for (const value of hostile) {
      const requestSettings = [['request.path', value]] as const;
      const statements = [`set local standard_conforming_strings to ${standard}`, "select current_setting('request.path')"];
      const [, set] = nodeStatements({ ...session('{}'), requestSettings });
      assert.ok(set);
      const run: Batch = {
        session: null,
        statements: [{ text: 'begin', parameters: [] }, ...statements.slice(0, 1), set.text, ...statements.slice(1), 'commit'].map(
          (each) => (typeof each === 'string' ? { text: each, parameters: [] } : each),
        ),
      };
      const rows = textsOf(await database.run(run));
      assert.deepEqual(rows[3], [value.toWellFormed()]);
      assert.match(set.text, /^set local "request"\."path" to E'[ -&(-~]*'$/);
    }
  }
});

test('a setting holds for the transaction alone, whether or not it fails', async () => {
  const [[first]] = textsOf(await database.run(batch(session('{"sub": "1"}'), pid))) as [[string]];
  const claims = "select current_setting('request.jwt.claims')";
  assert.deepEqual(textsOf(await database.run(batch(session(`{"sub": "it's"}`), claims)))[0], [`{"sub": "it's"}`]);
  for (const failing of ['select 1 / 0', 'insert into entry values (1, 7)', 'no sql'])
    await assert.rejects(database.run(batch(session('{"sub": "2"}'), 'insert into entry values (2)', failing)), { name: 'DatabaseError' });
  const [[role], [left], [same]] = textsOf(
    await database.run({
      ...batch(session('{}')),
      session: null,
      statements: batch(session(''), 'select current_user', "select current_setting('request.jwt.claims', true)", pid).statements,
    }),
  ) as [[string], [string], [string]];
  assert.deepEqual([role, left ?? '', same], ['postgres', '', first]);
  assert.deepEqual(textsOf(await database.run(batch(session('{}'), 'select count(*) from entry')))[0], ['0']);
});

test('what a deferred constraint refuses at the end is an error', async () => {
  await assert.rejects(database.run(batch(session('{}'), 'insert into entry values (3, 4)')), { sqlstate: '23503' });
});
