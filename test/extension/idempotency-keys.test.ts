/** Mutations with an idempotency key: one write however often they are sent, and the same bytes for each; on PostgreSQL and on PGlite. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { openPgDatabase } from '../../src/database/pg-database.ts';
import { openPgliteDatabase } from '../../src/database/pglite-database.ts';
import type { Caller, GraphQLRequest } from '../../src/engine/request.ts';
import { applyExtension, removeExtension } from '../../src/extension/install-extension.ts';
import { schemaVersionScript } from '../../src/extension/schema-version-script.ts';
import { createRowgraph, type Rowgraph } from '../../src/index.ts';
import { startPglite } from '../support/pglite.ts';
import { grantsSql, rolesSql } from '../support/roles.ts';
import { startTestDatabases, type TestDatabase, type TestDatabases } from '../support/test-databases.ts';

const setup = `
  create table entry (id serial primary key, note text unique deferrable initially deferred, owner text default nullif(current_setting('request.jwt.claims', true), '')::json ->> 'sub');
  create table hidden (id serial primary key, note text);
  alter table hidden enable row level security;
  grant all on all sequences in schema public to anon, authenticated;
  create function nothing() returns text volatile language sql as $$ select null::text $$;
  create function flag() returns boolean volatile language sql as $$ select true $$;
  create function lengthy() returns text volatile language sql as $$ select repeat('é 🐦', 9000) $$;
  create function ratio() returns float8 volatile language sql as $$ select 0.1::float8 $$;
  create function all_entries() returns setof entry volatile language sql as $$ select * from entry $$;
  create function skip() returns trigger language plpgsql as $$ begin return case new.note when 'skipped' then null else new end; end $$;
  create trigger skip before insert on entry for each row execute function skip();
  create function who() returns text volatile language sql as $$ select current_user::text $$;
`;
const insert =
  'mutation ($note: String) { insertIntoentryCollection(objects: [{note: $note}]) { records { id note owner } affectedCount } }';

/** What the tests need of a database, whichever it is. */
interface Place {
  readonly graph: Rowgraph;
  readonly database: Parameters<typeof applyExtension>[0];
  run(sql: string): Promise<Record<string, unknown>[]>;
  close(): Promise<unknown>;
}

let databases: TestDatabases;
let database: TestDatabase;
const places: Record<string, Place> = {};

before(async () => {
  databases = await startTestDatabases();
  database = await databases.create(setup);
  const admin = openPgDatabase(database.url.replace('authenticator', 'postgres'));
  await applyExtension(admin);
  const graph = await createRowgraph({ database: database.url, introspection: 'on' });
  places.PostgreSQL = { graph, database: admin, run: database.run, close: () => Promise.all([graph.close(), admin.close()]) };
  const pglite = await startPglite();
  await pglite.exec(rolesSql + grantsSql + setup);
  const embedded = await createRowgraph({ database: pglite, introspection: 'on', schemaTriggers: true });
  const run = async (sql: string) => (await pglite.exec(sql)).at(-1)!.rows as Record<string, unknown>[];
  places.PGlite = { graph: embedded, database: openPgliteDatabase(pglite), run, close: () => embedded.close().then(() => pglite.close()) };
});
after(async () => {
  for (const place of Object.values(places)) await place.close();
  await databases.close();
});

const anon: Caller = { role: 'anon', claims: { sub: 'ada' } };

interface Answer {
  readonly text: string;
  readonly code: string | null;
  readonly isReplayed: boolean;
}

async function send(graph: Rowgraph, request: GraphQLRequest, idempotencyKey?: string, caller = anon): Promise<Answer> {
  const { chunks, errorCode, isReplayed = false } = await graph.executeRaw(request, caller, { idempotencyKey });
  return { text: Buffer.concat(chunks).toString(), code: errorCode, isReplayed };
}

for (const name of ['PostgreSQL', 'PGlite']) {
  describe(name, () => {
    const graph = (): Rowgraph => places[name]!.graph;
    const run = (sql: string): Promise<Record<string, unknown>[]> => places[name]!.run(sql);
    const count = async (note: string): Promise<unknown> =>
      (await run(`select count(*)::int as n from entry where note = '${note}'`))[0]!.n;
    const keys = async (): Promise<unknown> => (await run('select count(*)::int as n from rowgraph.idempotency_key'))[0]!.n;

    test('a repeat gets the bytes of the first response, whatever is selected, and writes nothing', async () => {
      const documents = [
        insert,
        'mutation ($note: String) { __typename first: insertIntoentryCollection(objects: [{note: $note}, {note: "ü \\" \\\\ {é} 🐦"}]) { records { note } __typename } flag ratio nothing }',
        'mutation ($note: String) { insertIntoentryCollection(objects: [{note: $note}]) { affectedCount } allEntries: all_entries { edges { node { note } cursor } pageInfo { hasNextPage } } }',
        'mutation { insertIntoentryCollection(objects: [{note: "skipped"}]) { affectedCount records { note } } nothing }',
        'mutation { updateentryCollection(set: {owner: "x"}, filter: {note: {eq: "none"}}) { affectedCount records { note } } who }',
        'mutation ($note: String) { insertIntoentryCollection(objects: [{note: $note}]) { affectedCount } lengthy }',
        'mutation { deleteFromentryCollection(filter: {note: {like: "ü%"}}, atMost: 10) { affectedCount __typename } }',
      ];
      for (const [index, query] of documents.entries()) {
        const request = { query, variables: query.includes('$note') ? { note: `bytes ${index}` } : {} };
        const plain = query.includes('insert') ? null : await send(graph(), request);
        const first = await send(graph(), request, `bytes-${index}`);
        assert.deepEqual([first.code, first.isReplayed], [null, false], first.text);
        if (plain !== null && !query.includes('delete')) assert.equal(first.text, plain.text, 'as without a key');
        for (let round = 0; round < 2; round++)
          assert.deepEqual(await send(graph(), request, `bytes-${index}`), { ...first, isReplayed: true });
        if (query.includes('$note')) assert.equal(await count(`bytes ${index}`), 1);
      }
    });

    test('the key may come in the request; in both places it must be the same; queries ignore it', async () => {
      const request = { query: insert, variables: { note: 'in request' }, extensions: { idempotencyKey: '"in-request"' } };
      const first = await send(graph(), request);
      assert.deepEqual(await send(graph(), request, 'in-request'), { ...first, isReplayed: true });
      assert.equal((await send(graph(), request, 'other')).code, 'BAD_REQUEST');
      const before = await keys();
      for (const key of ['x', 'not, a key', '']) {
        const query = {
          query: '{ entryCollection(filter: {note: {eq: "in request"}}) { edges { node { note } } } }',
          extensions: { idempotencyKey: key },
        };
        assert.equal((await send(graph(), query, key)).code, null);
      }
      assert.equal((await send(graph(), { query: 'mutation { __typename }' }, 'only-typename')).code, null);
      assert.equal(await keys(), before);
    });

    test('another document, other variables or another operation under the same key are refused, and nothing runs', async () => {
      const request = { query: insert, variables: { note: 'same' } };
      await send(graph(), request, 'same');
      const others = [
        { ...request, variables: { note: 'other' } },
        { ...request, query: `${insert} ` },
        { ...request, variables: {} },
      ];
      for (const other of others) {
        const { code, text } = await send(graph(), other, 'same');
        assert.equal(code, 'IDEMPOTENCY_KEY_REUSED', text);
      }
      assert.equal(await count('other'), 0);
    });

    test('keys are of a caller: role and subject; tokens of the same subject are one caller', async () => {
      const request = { query: insert, variables: { note: null } };
      const callers: Caller[] = [
        { role: 'anon' },
        { role: 'anon', claims: { sub: 'ada' } },
        { role: 'anon', claims: { sub: 'bob' } },
        { role: 'anon', claims: { sub: 'ada', iss: 'elsewhere' } },
        { role: 'anon', claims: { sub: '77' } },
        { role: 'anon', claims: { sub: '77', iss: '7' } },
        { role: 'anon', claims: { sub: '777' } },
        { role: 'anon', claims: { sub: '', email: 'ada@example.com' } },
        { role: 'anon', claims: { sub: '', email: 'bob@example.com' } },
        { role: 'anon', claims: { sub: [77] } },
        { role: 'anon', claims: { sub: [78] } },
        { role: 'authenticated', claims: { sub: 'ada' } },
        { role: 'anon', claims: { email: 'ada@example.com' } },
        { role: 'anon', claims: { email: 'bob@example.com' } },
      ];
      const answers = new Set<string>();
      for (const caller of callers) {
        const first = await send(graph(), request, 'of-caller', caller);
        assert.deepEqual([first.code, first.isReplayed], [null, false]);
        answers.add(first.text);
        const later = { ...caller, claims: { ...caller.claims, exp: 99, iat: 5, nbf: 5, jti: 'x' } };
        assert.deepEqual(await send(graph(), request, 'of-caller', later), { ...first, isReplayed: true });
        const asNumbers = Object.entries(caller.claims ?? {}).map(([name, value]) => [
          name,
          typeof value === 'string' && /^7+$/.test(value) ? Number(value) : value,
        ]);
        const numeric = { ...caller, claims: Object.fromEntries(asNumbers) };
        assert.deepEqual(await send(graph(), request, 'of-caller', numeric), { ...first, isReplayed: true });
      }
      assert.equal(answers.size, callers.length);
    });

    test('what fails stores nothing, so that sending it again runs it: in the middle, at the commit, by a policy, by a limit', async () => {
      const failing = [
        {
          query: 'mutation { insertIntoentryCollection(objects: [{note: "twice"}, {note: "twice"}]) { affectedCount } }',
          code: 'CONSTRAINT_VIOLATION',
        },
        {
          query:
            'mutation { insertIntoentryCollection(objects: [{note: "undone"}]) { affectedCount } insertIntohiddenCollection(objects: [{note: "x"}]) { affectedCount } }',
          code: 'PERMISSION_DENIED',
        },
        {
          query:
            'mutation { insertIntoentryCollection(objects: [{note: "undone"}]) { affectedCount } deleteFromentryCollection(atMost: 1) { affectedCount } }',
          code: 'TOO_MANY_ROWS',
        },
      ];
      await run("insert into entry (note) values ('filler 1'), ('filler 2')");
      const before = await keys();
      for (const [index, { query, code }] of failing.entries()) {
        for (let round = 0; round < 2; round++) assert.equal((await send(graph(), { query }, `failing-${index}`)).code, code);
      }
      assert.equal(await count('undone'), 0);
      assert.equal(await keys(), before);
      await run('create policy all_rows on hidden using (true)');
      const { code } = await send(graph(), { query: failing[1]!.query }, 'failing-1');
      assert.equal(code, null);
      assert.equal(await count('undone'), 1);
      await run('drop policy all_rows on hidden');
    });

    test('what is not a key is refused before anything runs', async () => {
      const wrong = [
        '',
        '""',
        ' ',
        'a b',
        'a,b',
        'a, a',
        'ä',
        'a\0b',
        'a\nb',
        '\x7f',
        'x'.repeat(256),
        'x'.repeat(10_000),
        '"open',
        '"a"b"',
      ];
      const values: unknown[] = [...wrong, 1, true, {}, ['a'], { toString: 'a' }];
      for (const key of values) {
        const request = { query: insert, variables: { note: 'wrong' }, extensions: { idempotencyKey: key } };
        const { code, text } = await send(graph(), request);
        assert.equal(code, 'BAD_REQUEST', `${JSON.stringify(key)}: ${text}`);
      }
    });

    test('a key expires, is taken again then, and goes; a few at a time', async () => {
      const request = { query: insert, variables: { note: null } };
      const first = await send(graph(), request, 'expiring');
      await run("update rowgraph.idempotency_key set expires_at = now() - interval '1 second'");
      await run(`insert into rowgraph.idempotency_key (role, caller, key, request, transaction, expires_at)
        select 'anon', '', n::text, '', pg_current_xact_id(), now() - interval '1 day' from generate_series(1, 25) n`);
      const before = Number(await keys());
      const second = await send(graph(), request, 'expiring');
      assert.deepEqual([second.code, second.isReplayed], [null, false]);
      assert.notEqual(second.text, first.text, 'it ran again');
      assert.equal(await keys(), before - 10);
      for (let round = 0; round < 8; round++) await send(graph(), { query: 'mutation { nothing }' }, `round-${round}`);
      assert.deepEqual(await run('select from rowgraph.idempotency_key where expires_at < now()'), []);
    });

    test('without the extension, or with an older one, a key is refused', async () => {
      const { database: admin } = places[name]!;
      await removeExtension(admin);
      await graph().reload();
      const request = { query: insert, variables: { note: 'unsupported' } };
      const { code, text } = await send(graph(), request, 'unsupported');
      assert.equal(code, 'IDEMPOTENCY_NOT_SUPPORTED');
      assert.match(text, /docs\/extension\.md/);
      await run(schemaVersionScript);
      await graph().reload();
      assert.equal((await send(graph(), request, 'unsupported')).code, 'IDEMPOTENCY_NOT_SUPPORTED');
      assert.equal(await count('unsupported'), 0);
      assert.equal((await send(graph(), request)).code, null);
      await applyExtension(admin);
      assert.equal((await send(graph(), { query: 'mutation { nothing }' }, 'supported')).code, null, 'without a reload');
    });
  });
}
