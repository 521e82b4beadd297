/** Mutations with an idempotency key: one write however often they are sent, and the same bytes for each; on PostgreSQL and on PGlite. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { openPgDatabase } from '../../src/database/pg-database.ts';
import { openPgliteDatabase } from '../../src/database/pglite-database.ts';
import type { Caller, GraphQLRequest } from '../../src/engine/request.ts';
import { idempotencyKeyScript } from '../../src/extension/idempotency-key-scripts.ts';
import { applyExtension, removeExtension } from '../../src/extension/install-extension.ts';
import { schemaVersionScript } from '../../src/extension/schema-version-scripts.ts';
import { createRowgraph, type Rowgraph, type RowgraphOptions } from '../../src/index.ts';
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

const idempotencyKeyRoles = ['anon', 'authenticated'];

/** What the tests need of a database, whichever it is. */
interface Place {
  readonly graph: Rowgraph;
  readonly database: Parameters<typeof applyExtension>[0];
  /** Another graph over it. */
  open(options: Omit<RowgraphOptions, 'database'>): Promise<Rowgraph>;
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
  const graph = await createRowgraph({ database: database.url, idempotencyKeyRoles });
  places.PostgreSQL = {
    graph,
    database: admin,
    open: (options) => createRowgraph({ ...options, database: database.url }),
    run: database.run,
    close: () => Promise.all([graph.close(), admin.close()]),
  };
  const pglite = await startPglite();
  await pglite.exec(rolesSql + grantsSql + setup);
  const embedded = await createRowgraph({ database: pglite, idempotencyKeyRoles, schemaTriggers: true });
  const run = async (sql: string) => (await pglite.exec(sql)).at(-1)!.rows as Record<string, unknown>[];
  places.PGlite = {
    graph: embedded,
    database: openPgliteDatabase(pglite),
    open: (options) => createRowgraph({ ...options, database: pglite }),
    run,
    close: () => embedded.close().then(() => pglite.close()),
  };
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

    test('by default anonymous callers have no keys; other roles may be named', async () => {
      const mayUse: Record<string, { options: Pick<RowgraphOptions, 'idempotencyKeyRoles'>; roles: readonly string[] }> = {
        default: { options: {}, roles: ['authenticated', 'service_role'] },
        none: { options: { idempotencyKeyRoles: [] }, roles: [] },
        one: { options: { idempotencyKeyRoles: ['anon'] }, roles: ['anon'] },
        'all but one': { options: { idempotencyKeyRoles: { except: ['authenticated'] } }, roles: ['anon', 'service_role'] },
      };
      for (const [which, { options, roles }] of Object.entries(mayUse)) {
        const own = await places[name]!.open(options);
        for (const role of ['anon', 'authenticated', 'service_role']) {
          const note = `${which} ${role}`;
          const request = { query: insert, variables: { note } };
          const before = await keys();
          const { code, text } = await send(own, request, note.replaceAll(' ', '-'), { role });
          const isAllowed = roles.includes(role);
          assert.deepEqual([code, await count(note)], isAllowed ? [null, 1] : ['IDEMPOTENCY_NOT_SUPPORTED', 0], `${note}: ${text}`);
          if (!isAllowed)
            assert.match(text, new RegExp(`The role \\\\"${role}\\\\" may not use idempotency keys\\. Send the mutation without one`));
          if (!isAllowed) assert.equal(await keys(), before);
          const plain = await send(own, { query: '{ __typename }' }, 'x', { role });
          assert.equal(plain.code, null, 'queries ignore keys');
        }
        await own.close();
      }
    });

    /** A mutation whose response has so many bytes, because clients choose aliases; it leaves a row of that owner. */
    const withResponseOf = (bytes: number): GraphQLRequest => {
      const alias = 'a'.repeat(bytes - '{"data":{"":{"affectedCount":1}}}'.length);
      return { query: `mutation { ${alias}: insertIntoentryCollection(objects: [{owner: "${bytes} bytes"}]) { affectedCount } }` };
    };
    const written = async (bytes: number): Promise<unknown> =>
      (await run(`select count(*)::int as n from entry where owner = '${bytes} bytes'`))[0]!.n;

    test('the keys of a caller are bounded in bytes: then new ones are refused and nothing runs, but none is forgotten', async () => {
      await run('delete from rowgraph.idempotency_key');
      // A key takes 1024 bytes and its response: fourteen of these fit.
      const limits = { idempotencyBytes: 14 * 1424 };
      const own = await places[name]!.open({ limits, roleLimits: { service_role: 'off' } });
      const [mallory, ada]: Caller[] = ['mallory', 'ada'].map((sub) => ({ role: 'authenticated', claims: { sub } }));
      const request = withResponseOf(400);
      const answers: Answer[] = [];
      for (let index = 0; index < 20; index++) answers.push(await send(own, request, `bounded-${index}`, mallory));
      assert.deepEqual(
        answers.map(({ code }) => code),
        [...Array(14).fill(null), ...Array(6).fill('TOO_MANY_IDEMPOTENCY_KEYS')],
      );
      const [error] = JSON.parse(answers.at(-1)!.text).errors;
      assert.match(
        error.message,
        /take more than 19,936 bytes\. Nothing ran\. Wait until older keys expire, or send the mutation without a key/,
      );
      assert.deepEqual(error.extensions, { code: 'TOO_MANY_IDEMPOTENCY_KEYS', limit: 'idempotencyBytes', maximum: 19_936 });
      assert.equal(await written(400), 14);
      for (let index = 0; index < 14; index++)
        assert.deepEqual(await send(own, request, `bounded-${index}`, mallory), { ...answers[index]!, isReplayed: true });
      assert.equal((await send(own, { ...request, variables: { x: 1 } }, 'bounded-3', mallory)).code, 'IDEMPOTENCY_KEY_REUSED');
      assert.equal((await send(own, request, undefined, mallory)).code, null, 'without a key');
      for (const caller of [ada!, { role: 'service_role', claims: { sub: 'mallory' } }])
        assert.equal((await send(own, request, 'bounded', caller)).code, null, 'another caller');
      for (let index = 0; index < 20; index++)
        assert.equal((await send(own, request, `unbounded-${index}`, { role: 'service_role' })).code, null, 'a role without limits');
      await run("update rowgraph.idempotency_key set expires_at = now() where key in ('bounded-1', 'bounded-2')");
      for (const code of [null, null, 'TOO_MANY_IDEMPOTENCY_KEYS'])
        assert.equal((await send(own, request, `later-${code}-${await keys()}`, mallory)).code, code);
      await own.close();
    });

    test('a response that is too long to be stored undoes its mutation', async () => {
      await run('delete from rowgraph.idempotency_key');
      const own = await places[name]!.open({ limits: { idempotencyBytes: 16 * 500 } });
      const caller: Caller = { role: 'authenticated', claims: { sub: 'eve' } };
      for (let round = 0; round < 2; round++) {
        const { code, text } = await send(own, withResponseOf(501), 'long', caller);
        assert.equal(code, 'RESPONSE_TOO_LARGE', text);
        assert.match(text, /so the mutation was undone\. Select less, or send it without a key\./);
      }
      assert.deepEqual([await written(501), await keys()], [0, 0]);
      const short = withResponseOf(500);
      const first = await send(own, short, 'long', caller);
      assert.deepEqual([first.code, first.isReplayed], [null, false], 'the key is free');
      assert.equal((await send(own, withResponseOf(501), undefined, caller)).code, null, 'without a key');
      await own.close();
    });

    test('all keys together are bounded, whatever the file of the table has grown to', async () => {
      await run('delete from rowgraph.idempotency_key');
      const own = await places[name]!.open({ idempotencyStorage: 400_000 });
      const caller: Caller = { role: 'authenticated', claims: { sub: 'ada' } };
      // What was read counts for five seconds.
      const count = () => run("select setval('rowgraph.idempotency_read_at', 1)");
      const countNoMore = () => run("select setval('rowgraph.idempotency_read_at', extract(epoch from now())::bigint + 3600)");
      const request = withResponseOf(80);
      await count();
      const first = await send(own, request, 'total-first', caller);
      assert.equal(first.code, null);
      await run(`insert into rowgraph.idempotency_key (role, caller, key, request, response, transaction, expires_at)
        select 'other', '', n::text, '', (select string_agg(md5(n::text || m), '') from generate_series(1, 60) m), pg_current_xact_id(), now() + interval '1 day'
        from generate_series(1, 200) n`);
      await count();
      for (const key of ['total-1', 'total-2']) {
        const { code, text } = await send(own, request, key, caller);
        assert.equal(code, 'IDEMPOTENCY_STORAGE_FULL', text);
      }
      assert.deepEqual(await send(own, request, 'total-first', caller), { ...first, isReplayed: true });
      assert.equal(await written(80), 1);
      assert.equal((await send(own, request, undefined, caller)).code, null, 'without a key');
      const unbounded = await places[name]!.open({ idempotencyStorage: Infinity });
      assert.equal((await send(unbounded, request, 'total-unbounded', caller)).code, null);
      await unbounded.close();
      await countNoMore();
      await run("update rowgraph.idempotency_key set expires_at = now() where role = 'other'");
      assert.equal((await send(own, request, 'total-3', caller)).code, 'IDEMPOTENCY_STORAGE_FULL', 'as it was last read');
      await count();
      assert.equal((await send(own, request, 'total-3', caller)).code, null);
      assert.deepEqual(await run('select key from rowgraph.idempotency_key where expires_at <= now()'), [], 'all at once');
      await own.close();
    });

    test('an update of the extension forgets no key; before it, keys have no bounds', async () => {
      const { database: admin, open } = places[name]!;
      await removeExtension(admin);
      await run(schemaVersionScript + idempotencyKeyScript);
      const own = await open({ limits: { idempotencyBytes: 5 * 1200 } });
      const caller: Caller = { role: 'authenticated', claims: { sub: 'old' } };
      const request = withResponseOf(90);
      const answers = [];
      for (let index = 0; index < 6; index++) answers.push(await send(own, request, `old-${index}`, caller));
      assert.deepEqual(
        answers.map(({ code }) => code),
        Array(6).fill(null),
      );
      await applyExtension(admin);
      await own.reload();
      for (let index = 0; index < 6; index++)
        assert.deepEqual(await send(own, request, `old-${index}`, caller), { ...answers[index]!, isReplayed: true });
      assert.equal((await send(own, request, 'new', caller)).code, 'TOO_MANY_IDEMPOTENCY_KEYS');
      assert.equal(await written(90), 6);
      await own.close();
    });

    test('without the extension, or with an older one, a key is refused', async () => {
      const { database: admin } = places[name]!;
      await removeExtension(admin);
      await graph().reload();
      const request = { query: insert, variables: { note: 'unsupported' } };
      const { code, text } = await send(graph(), request, 'unsupported');
      assert.equal(code, 'IDEMPOTENCY_NOT_SUPPORTED');
      assert.match(text, /docs\/schema-changes\.md/);
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
