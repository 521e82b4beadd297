import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { PGlite } from '@electric-sql/pglite';
import { startPglite } from '../../test/support/pglite.ts';
import { rolesSql } from '../../test/support/roles.ts';
import { Deadline } from '../budget/deadline.ts';
import { DatabaseError } from '../errors/database-error.ts';
import type { Batch, Database, Session } from './database.ts';
import { openPgliteDatabase } from './pglite-database.ts';

let pglite: PGlite;
let database: Database;

before(async () => {
  pglite = await startPglite();
  database = openPgliteDatabase(pglite, { statementCacheSize: 6, queueTimeoutMillis: 3_600_000 });
  await database.query(`${rolesSql}
    create table entry (id int primary key, other int references entry deferrable initially deferred);
    grant all on entry to anon, authenticated`);
});

after(() => pglite.close());

const session = (role = 'anon', claims = '{}'): Session => ({ role, claims, searchPath: 'public', version: null });
const batch = (texts: readonly string[], as = session()): Batch => ({
  session: as,
  statements: texts.map((text) => ({ text, parameters: [] })),
});
const failure =
  (sqlstate: string | null) =>
  (error: unknown): boolean =>
    error instanceof DatabaseError && error.sqlstate === sqlstate;
const whoAmI = "select current_user::text, current_setting('request.jwt.claims'), current_setting('search_path')";

test('a response that is too large is rejected; the error of a mutation says that it was committed', async () => {
  const large = (text: string, template?: object): Batch => ({ ...batch([text]), maxBytes: 1000, ...(template && { template }) });
  const outcome = (message: RegExp) => ({ name: 'DatabaseError', reason: 'response-too-large', message });
  assert.equal((await database.run(large(`select repeat('x', 1000)`, {}))).length, 1);
  await assert.rejects(database.run(large(`select repeat('x', 1001)`, {})), outcome(/Ask for fewer rows or fields\.$/));
  await assert.rejects(database.run(large(`insert into entry values (77) returning repeat('x', 1001)`)), outcome(/was committed/));
  assert.deepEqual(await database.query('delete from entry returning id'), [['77']]);
});

test('a batch returns the first row of each statement as text, run as the caller', async () => {
  const statements = [
    { text: whoAmI, parameters: [] },
    { text: 'select $1::text, $2::int, true, null, $3::json from generate_series(1, 3)', parameters: ['ä"€😀', '7', '{"a": 1}'] },
    { text: 'select 1 where false', parameters: [] },
  ];
  assert.deepEqual(await database.run({ session: session('anon', '{"sub":"x"}'), statements }), [
    ['anon', '{"sub":"x"}', 'public'],
    ['ä"€😀', '7', 't', null, '{"a": 1}'],
    [],
  ]);
  assert.deepEqual(await database.query("select current_user::text, current_setting('request.jwt.claims', true)"), [['postgres', '']]);
});

test('a batch is all or nothing, and never runs as the role of another', async () => {
  const failing = [
    'select 1/0',
    'select * from nowhere',
    'select "',
    'select rolpassword from pg_authid',
    'insert into entry values (5, 99)',
  ];
  const runs = Array.from({ length: 200 }, async (_, index) => {
    const caller = session(index % 2 ? 'anon' : 'authenticated', `{"sub":"${index}"}`);
    if (index % 3 === 1) {
      const texts = [`insert into entry values (${index})`, failing[index % failing.length]!, whoAmI];
      await assert.rejects(database.run(batch(texts, caller)), DatabaseError);
    } else if (index % 5 === 3) assert.deepEqual(await database.query('select current_user::text'), [['postgres']]);
    else {
      const results = await database.run(batch([whoAmI, `select ${index % 9}`, whoAmI], caller));
      assert.deepEqual([results[0], results[2]], Array(2).fill([caller.role, caller.claims, 'public']));
    }
  });
  await Promise.all(runs);
  assert.deepEqual(await database.query('select * from entry'), []);
});

test('a batch that cannot be encoded leaves nothing behind for later ones', async () => {
  const poison = new Proxy(new String('x'), {
    get() {
      throw new Error('no such value');
    },
  }) as unknown as string;
  const again = 'select current_user::text, $1::text';
  const of = (role: string, value: string): Batch => ({ session: session(role), statements: [{ text: again, parameters: [value] }] });
  const [{ misses: before = 0 } = {}] = database.readCaches();
  await assert.rejects(database.run(of('authenticated', poison)), /no such value/);
  for (const role of ['anon', 'authenticated', 'authenticated']) assert.deepEqual(await database.run(of(role, 'y')), [[role, 'y']]);
  // At most: the session statement, one statement per role, and one more because the one that was never sent is prepared again.
  assert.ok(database.readCaches()[0]!.misses - before <= 4);
});

test('a deferred constraint that fails at commit fails the batch', async () => {
  await assert.rejects(database.run(batch(['insert into entry values (1, 2)', 'select 1'])), failure('23503'));
  assert.deepEqual(await database.query('select * from entry'), []);
});

test('prepared statements are prepared again after somebody discards them', async () => {
  await database.run(batch(['select 1']));
  await pglite.exec('discard all');
  assert.deepEqual(await database.run(batch(['select 1'])), [['1']]);
});

test("a transaction of the PGlite's own is waited for", async () => {
  let seen: unknown;
  await pglite.transaction(async (transaction) => {
    await transaction.exec('set local role authenticated; insert into entry values (1)');
    const running = database.run(batch([whoAmI, 'select count(*) from entry'])).then((results) => (seen = results));
    await transaction.exec('delete from entry');
    assert.equal(seen, undefined);
    void running;
  });
  await database.query('select 1');
  assert.deepEqual(seen, [['anon', '{}', 'public'], ['0']]);
});

test('a transaction that stays open is waited for, but not forever', async () => {
  await pglite.exec('begin');
  const waiting = database.run(batch([whoAmI]));
  await pglite.exec('commit');
  assert.equal((await waiting).length, 1);
  const impatient = openPgliteDatabase(pglite, { queueTimeoutMillis: 20 });
  await pglite.exec('begin');
  await assert.rejects(impatient.run(batch([whoAmI])), failure('53300'));
  await pglite.exec('rollback');
});

test("the wait for a transaction of the PGlite's own ends with the deadline or the queue timeout, and nothing runs later", async () => {
  const insert = { ...batch(['insert into entry values (42)']), deadline: new Deadline(3_600_000) };
  const impatient = openPgliteDatabase(pglite, { queueTimeoutMillis: 20 });
  await pglite.transaction(async (transaction) => {
    await transaction.exec('select 1');
    const waiting = assert.rejects(database.run(insert), { name: 'DatabaseError', reason: 'timeout' });
    insert.deadline.stop('expired');
    await waiting;
    await assert.rejects(impatient.run(batch(['insert into entry values (43)'])), failure('53300'));
  });
  assert.deepEqual(await database.query('select id from entry where id in (42, 43)'), []);
});

test('query takes a script without parameters, or a single statement with parameters', async () => {
  assert.deepEqual(await database.query('select 1, null; select 2, true'), [
    ['1', null],
    ['2', 't'],
  ]);
  assert.deepEqual(await database.query('select $1::int + 1, $2::text', ['4', null]), [['5', null]]);
  await assert.rejects(database.query('select 1; select 1/0'), failure('22012'));
});

test('listen reports notifications, including those of batches', async () => {
  const heard: (string | null)[] = [];
  const stop = await database.listen('some_channel', (payload) => void heard.push(payload));
  await database.query("notify some_channel, 'one'");
  await database.run(batch(["select pg_notify('some_channel', 'two')"]));
  await database.query('select 1');
  assert.deepEqual(heard, ['one', 'two']);
  await stop();
  await database.query("notify some_channel, 'three'");
  assert.deepEqual(heard, ['one', 'two']);
});

test('a closed database refuses what comes and what waits, and leaves the PGlite open', async () => {
  const closing = openPgliteDatabase(pglite);
  await pglite.exec('begin');
  const waiting = closing.run(batch([whoAmI]));
  await closing.close();
  const isClosed = { message: 'The database is closed', sqlstate: null };
  await assert.rejects(waiting, isClosed);
  await pglite.exec('rollback');
  await assert.rejects(closing.run(batch([whoAmI])), isClosed);
  await assert.rejects(closing.query('select 1'), isClosed);
  await assert.rejects(
    closing.tryOut(session(), 1000, (run) => run('select 1')),
    isClosed,
  );
  assert.deepEqual(await database.query('select 1'), [['1']]);
});

test('a PGlite that was closed is told', async () => {
  const closed = await startPglite();
  await closed.close();
  const over = openPgliteDatabase(closed);
  await assert.rejects(over.run(batch([whoAmI])), failure(null));
  await assert.rejects(over.query('select 1'), failure(null));
});

test('it measures batches, and has no statistics of a pool', async () => {
  const count = (): number => database.readStatistics().batchSeconds.counts.reduce((sum, each) => sum + each);
  const before = count();
  await database.run(batch(['select 1']));
  assert.deepEqual([count(), database.readStatistics().pool], [before + 1, null]);
});
