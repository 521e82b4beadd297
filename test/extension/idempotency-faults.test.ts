/** Idempotency keys when things go wrong: lost connections, many at once, schema changes, and those who would read or forge what is kept. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import type { Client } from 'pg';
import { openPgDatabase } from '../../src/database/pg-database.ts';
import type { Caller } from '../../src/engine/request.ts';
import { applyExtension, removeExtension } from '../../src/extension/install-extension.ts';
import { createRowgraph, type Rowgraph } from '../../src/index.ts';
import { type CutPoint, type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts';
import { startTestDatabases, type TestDatabase, type TestDatabases } from '../support/test-databases.ts';

const setup = `
  create table entry (id serial primary key, note text);
  create table audit (as_role text, note text);
  create table switch (is_broken boolean);
  insert into switch values (false);
  grant all on all sequences in schema public to anon, authenticated;
  create function note_role() returns trigger language plpgsql as $$ begin
    insert into audit values (current_user, new.note); return new; end $$;
  create constraint trigger note_role after insert on entry deferrable initially deferred for each row execute function note_role();
  create function raise_state(state text) returns text volatile language plpgsql as $$ begin raise exception using errcode = state, message = 'own'; end $$;
  create function keep_own(key text) returns text volatile language plpgsql as $$ begin
    perform rowgraph.keep_response('anon', '', key, '{forged}', '{}'); return 'kept'; end $$;
  create function claim_other() returns text volatile language plpgsql as $$ begin
    perform rowgraph.claim_key('authenticated', '', 'x', '', '1 day'); return 'claimed'; end $$;
  create function read_other() returns text volatile language plpgsql as $$ begin return rowgraph.read_response('authenticated', '', 'x', ''); end $$;
  create role strict_anon nologin noinherit;
  alter role strict_anon set default_transaction_isolation = 'serializable';
  grant usage on schema public to strict_anon;
  grant all on entry, audit to strict_anon;
  grant all on all sequences in schema public to strict_anon;
  grant strict_anon to authenticator;
`;
const insert = 'mutation ($note: String) { insertIntoentryCollection(objects: [{note: $note}]) { records { id note } } }';
const anon: Caller = { role: 'anon', claims: { sub: 'ada' } };

let databases: TestDatabases;
let database: TestDatabase;
let proxy: FaultProxy;
let graph: Rowgraph;

before(async () => {
  databases = await startTestDatabases();
  database = await databases.create(setup);
  await withAdmin(applyExtension);
  proxy = await startFaultProxy(databases.port);
  graph = await createRowgraph({
    database: database.url.replace(`:${database.port}/`, `:${proxy.port}/`),
    poolSize: 4,
    idempotencyKeyRoles: { except: [] },
  });
});
beforeEach(() => database.run('truncate entry, audit'));
after(async () => {
  await graph.close();
  await proxy.stop();
  await databases.close();
});

async function withAdmin(work: typeof applyExtension): Promise<void> {
  const admin = openPgDatabase(database.url.replace('authenticator', 'postgres'));
  await work(admin).finally(() => admin.close());
}

interface Answer {
  readonly text: string;
  readonly code: string | null;
  readonly isReplayed: boolean;
}

async function send(note: string, idempotencyKey: string, caller = anon, query = insert): Promise<Answer> {
  const { chunks, errorCode, isReplayed = false } = await graph.executeRaw({ query, variables: { note } }, caller, { idempotencyKey });
  return { text: Buffer.concat(chunks).toString(), code: errorCode, isReplayed };
}

const notes = async (): Promise<unknown[]> => (await database.run('select note from entry order by id')).map(({ note }) => note);

test('after OUTCOME_UNKNOWN a client sends the same again: what was committed is answered, what was not runs', async () => {
  const points: Record<string, boolean> = {
    'before it': false,
    'in the middle': false,
    'before its Sync': false,
    'before the response': true,
    'in the response': true,
  };
  for (const [point, isCommitted] of Object.entries(points)) {
    for (const round of ['first', 'second']) {
      const note = `${point} ${round}`;
      const key = note.replaceAll(' ', '-');
      proxy.cutNext(note, point as CutPoint);
      const lost = await send(note, key);
      assert.equal(lost.code, 'OUTCOME_UNKNOWN');
      assert.match(lost.text, /Send it again with the same idempotency key\./);
      const kept = await database.run(`select response from rowgraph.idempotency_key where key = '${key}'`);
      assert.equal(kept.length, isCommitted ? 1 : 0);
      const again = await send(note, key);
      assert.deepEqual([again.code, again.isReplayed], [null, isCommitted], again.text);
      if (isCommitted) assert.equal(again.text, kept[0]!.response, 'the answer that was lost');
      assert.deepEqual(await send(note, key), { ...again, isReplayed: true });
    }
  }
  assert.deepEqual((await notes()).length, 10, 'each once');
});

test('fifty at once: one write, and one response for all', async () => {
  for (const caller of [anon, { role: 'strict_anon' }]) {
    const answers = await Promise.all(Array.from({ length: 50 }, () => send(`fifty ${caller.role}`, 'fifty', caller)));
    assert.deepEqual(new Set(answers.map(({ code, text }) => `${code} ${text}`)).size, 1, answers.map(({ text }) => text).join('\n'));
    assert.equal(answers[0]!.code, null);
    assert.equal(answers.filter(({ isReplayed }) => !isReplayed).length, 1);
  }
  assert.deepEqual(await notes(), ['fifty anon', 'fifty strict_anon']);
});

test('many keys at once, from several servers: a caller gets no more than its bound and what runs meanwhile', async () => {
  const poolSize = 4;
  const options = { poolSize, limits: { idempotencyBytes: 30 * 1124 }, idempotencyKeyRoles: ['anon'] };
  const servers = await Promise.all([1, 2].map(() => createRowgraph({ ...options, database: database.url })));
  const caller: Caller = { role: 'anon', claims: { sub: 'greedy' } };
  const codes = new Map<string | null, number>();
  const flood = servers.flatMap((server, which) =>
    Array.from({ length: 60 }, async (_, index) => {
      const request = { query: insert, variables: { note: `${'flood'.padEnd(40, '!')} ${index}` } };
      const { errorCode } = await server.executeRaw(request, caller, { idempotencyKey: `flood-${which}-${index}` });
      codes.set(errorCode, (codes.get(errorCode) ?? 0) + 1);
    }),
  );
  await Promise.all(flood);
  const { sum, count } = (
    await database.run(`select sum(1024 + octet_length(response))::int, count(*)::int
    from rowgraph.idempotency_key where key like 'flood-%'`)
  )[0] as { sum: number; count: number };
  assert.deepEqual([...codes.keys()].sort(), ['TOO_MANY_IDEMPOTENCY_KEYS', null]);
  assert.deepEqual([(await notes()).length, codes.get(null)], [count, count]);
  assert.ok(sum > 29 * 1124 && sum <= 30 * 1124 + servers.length * poolSize * 1200, `${sum} bytes of ${count} keys`);
  const last = await servers[0]!.executeRaw({ query: insert }, caller, { idempotencyKey: 'flood-last' });
  assert.equal(last.errorCode, 'TOO_MANY_IDEMPOTENCY_KEYS');
  await Promise.all(servers.map((server) => server.close()));
});

test('under a stricter isolation level, transactions that take keys of the same caller at once all commit, and expired keys go', async () => {
  for (const level of ['repeatable read', 'serializable']) {
    await database.run(`insert into rowgraph.idempotency_key (role, caller, key, request, response, transaction, expires_at)
      select 'anon', '', n::text, '', (select string_agg(md5(n::text || m), '') from generate_series(1, 60) m), pg_current_xact_id(), now()
      from generate_series(1, 200) n; select setval('rowgraph.idempotency_read_at', 1)`);
    const clients = await Promise.all([1, 2, 3].map(() => database.connect('authenticator')));
    for (const [index, client] of clients.entries()) {
      await client.query(`begin isolation level ${level}; set local rowgraph.key_bounds = '{100000,300000}'`);
      await client.query("select rowgraph.claim_key('anon', 'same', $1, '', '1 day')", [`${level}-${index}`]);
      await client.query("select rowgraph.keep_response('anon', 'same', $1, '{kept}', '{}')", [`${level}-${index}`]);
    }
    for (const client of clients) {
      await client.query('commit');
      await client.end();
    }
    const kept = await database.run(`select key from rowgraph.idempotency_key where key like '${level}-%'`);
    assert.equal(kept.length, 3);
    assert.deepEqual(await database.run('select key from rowgraph.idempotency_key where expires_at <= now()'), []);
  }
});

test('a duplicate waits for the first one, and runs if that is rolled back', async () => {
  const other = await database.connect();
  await other.query('begin; lock table entry in exclusive mode');
  const first = send('waits', 'waits');
  await database.untilLocked('insert into', 1);
  const second = send('waits', 'waits');
  await database.untilLocked('claim_key', 1);
  await database.run(
    "select pg_cancel_backend(pid) from pg_stat_activity where wait_event_type = 'Lock' and query like '%insert into%' and usename = 'authenticator'",
  );
  assert.equal((await first).code, 'TIMEOUT');
  await database.untilLocked('insert into', 1);
  await other.query('commit');
  assert.deepEqual([(await second).code, (await second).isReplayed], [null, false]);
  assert.deepEqual(await notes(), ['waits']);
});

test('deferred triggers run as the role of the caller, as they do without a key', async () => {
  await send('deferred', 'deferred');
  await graph.execute({ query: insert, variables: { note: 'plain' } }, anon);
  assert.deepEqual(await database.run('select * from audit'), [
    { as_role: 'anon', note: 'deferred' },
    { as_role: 'anon', note: 'plain' },
  ]);
});

test('states that functions of the user raise are theirs', async () => {
  for (const state of ['RG002', 'RG003', 'RG004', 'RG005', 'RG006']) {
    const { code, text } = await send('x', `state-${state}`, anon, `mutation { raiseState: raise_state(state: "${state}") }`);
    assert.deepEqual([code, JSON.parse(text).errors[0].message], ['RAISED', 'own']);
  }
});

test('what runs within a request can neither take nor read nor write keys', async () => {
  await send('mine', 'mine');
  const fields = ['keepOwn: keep_own(key: "mine")', 'claimOther: claim_other', 'readOther: read_other'];
  for (const key of [undefined, 'attack']) {
    for (const field of fields) {
      const { errorCode, chunks } = await graph.executeRaw({ query: `mutation { ${field} }` }, anon, { idempotencyKey: key });
      assert.equal(errorCode, 'PERMISSION_DENIED', `${field}: ${Buffer.concat(chunks)}`);
    }
  }
  assert.equal((await send('mine', 'mine')).isReplayed, true);
});

test('other logins have no access to what is kept, and the server only to that of the roles that it may become', async () => {
  await send('kept', 'kept');
  const [row] = await database.run("select role, caller, request from rowgraph.idempotency_key where key = 'kept'");
  const { role, caller, request } = row!;
  await database.run('create role mallory login; grant pg_read_all_data to mallory; create role unrelated');
  const calls: Record<string, unknown[]> = {
    'select rowgraph.read_response($1, $2, $3, $4)': [role, caller, 'kept', request],
    "select rowgraph.claim_key($1, $2, $3, $4, '1 day')": [role, caller, 'fresh', request],
    "select rowgraph.keep_response($1, $2, $3, '{forged}', '{}')": [role, caller, 'kept'],
    'select rowgraph.check_server($1)': [role],
    'select rowgraph.note_schema_change()': [],
    'select rowgraph.fold_schema_changes()': [],
    "update rowgraph.idempotency_key set response = 'forged'": [],
    'delete from rowgraph.idempotency_key': [],
    'insert into rowgraph.schema_change values (1)': [],
  };
  const refused = async (client: Client, text: string, values: unknown[]): Promise<void> => {
    const outcome = await client.query(text, values).then(
      () => 'allowed',
      ({ code }: { code: string }) => code,
    );
    assert.match(outcome, /^(42501|0A000)$/, text);
  };
  const mallory = await database.connect('mallory');
  for (const [text, values] of Object.entries(calls)) await refused(mallory, text, values);
  // It may read all data, but sees no row.
  assert.deepEqual((await mallory.query('select * from rowgraph.idempotency_key')).rows, []);
  const server = await database.connect('authenticator');
  await refused(server, "select rowgraph.claim_key('unrelated', '', 'x', '', '1 day')", []);
  await refused(server, "select rowgraph.read_response('postgres', '', 'x', '')", []);
  await server.query('set role anon');
  for (const [text, values] of Object.entries(calls)) await refused(server, text, values);
  await server.query('reset role');
  assert.equal((await server.query(Object.keys(calls)[0]!, Object.values(calls)[0])).rows.length, 1);
  await refused(server, "select rowgraph.keep_response($1, $2, $3, '{forged}', '{}')", [role, caller, 'kept']);
  assert.equal((await send('kept', 'kept')).isReplayed, true);
  await Promise.all([mallory.end(), server.end()]);
  await database.run('drop role mallory; drop role unrelated');
});

test('the extension is removed while a keyed mutation is prepared, and comes back: a refusal, then a run', async () => {
  assert.equal((await send('before', 'before')).code, null);
  await withAdmin(removeExtension);
  assert.equal((await send('removed', 'removed')).code, 'IDEMPOTENCY_NOT_SUPPORTED');
  await withAdmin(applyExtension);
  const back = await send('before', 'before');
  assert.deepEqual([back.code, back.isReplayed], [null, false], 'what was kept went with it');
  assert.deepEqual(await notes(), ['before', 'before']);
});

test('a transaction of the caller keeps no keys', async () => {
  const client = await database.connect();
  const { errors } = await graph.resolve(client, { query: insert, variables: { note: 'x' }, extensions: { idempotencyKey: 'x' } });
  assert.equal(errors?.[0]?.extensions.code, 'IDEMPOTENCY_NOT_SUPPORTED');
  assert.deepEqual(await notes(), []);
});
