/** Callers who share connections: each is itself in every statement, whatever happened on the connection before. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Pool } from 'pg';
import type { Caller, ExecutionResult } from '../../src/engine/request.ts';
import { createRowgraph, type Rowgraph } from '../../src/index.ts';
import { RandomSource } from '../property/random-source.ts';
import { startTestDatabases, type TestDatabase, type TestDatabases } from '../support/test-databases.ts';
import { until } from '../support/until.ts';

const setup = `
  create schema app; grant usage on schema app to anon, authenticated, service_role;
  create function who() returns json volatile language sql as $$ select json_build_object('user', current_user, 'search_path', current_setting('search_path'),
    'claims', current_setting('request.jwt.claims')::json, 'session', session_user) $$;
  create function who_stable() returns json stable language sql as $$ select who() $$;
  create function die() returns bool language sql security definer as $$ select pg_terminate_backend(pg_backend_pid()) $$;
  create function fail(kind text) returns text volatile language plpgsql as $$ begin
    if kind = 'raise' then raise exception 'raised'; end if;
    if kind = 'number' then return 1 / 0; end if;
    if kind = 'die' then perform die(); perform pg_sleep(600); end if;
    return current_user || ' ' || current_setting('request.jwt.claims');
  end $$;
  -- A function that does what it should not: it changes the session and not only the transaction.
  create function stick() returns text volatile language sql as $$ select set_config('role', 'service_role', false)
    || set_config('request.jwt.claims', '{"sub": "stuck"}', false) || set_config('search_path', 'pg_catalog', false) $$;
  -- Labels that are wrong: both read the claims.
  create function subject() returns text immutable language sql as $$ select current_setting('request.jwt.claims')::json ->> 'sub' $$;
  create function is_own(owner text) returns bool stable language plpgsql as $$ begin return owner = subject(); end $$;
  create function tenant() returns text stable language sql as $$ select coalesce(current_setting('app.tenant', true), '') $$;
  create table entry (id int generated always as identity primary key, owner text default subject(), stamp text, body text);
  alter table entry enable row level security;
  create policy own on entry using (is_own(owner));
  create function stamp() returns trigger language plpgsql as $$ begin
    perform pg_advisory_lock(46), set_config('app.tenant', subject(), false); new.stamp := subject(); return new; end $$;
  insert into entry (owner, stamp) select 'user ' || n % 6, 'user ' || n % 6 from generate_series(1, 60) n;
  create trigger stamp before insert on entry for each row execute function stamp();
  create table note (id int primary key, owner text default current_setting('request.jwt.claims')::json ->> 'sub', body text);
  alter table note enable row level security;
  create policy own on note using (owner = current_setting('request.jwt.claims')::json ->> 'sub');
  insert into note select n, 'user ' || n % 6, 'body' from generate_series(1, 60) n;
  comment on table note is '@graphql({"totalCount": {"enabled": true}})';
  create role stranger nologin;
  grant usage on schema public to stranger;
`;

let databases: TestDatabases;
let database: TestDatabase;
let pool: Pool;
let graph: Rowgraph;

before(async () => {
  databases = await startTestDatabases();
  database = await databases.create(setup);
  pool = new Pool({ connectionString: database.url, max: 2 });
  pool.on('error', () => {});
  graph = await createRowgraph({ database: pool, schemas: ['public', 'app'] });
});
after(async () => {
  await graph.close();
  await pool.end();
  await databases.close();
});

const roles = ['anon', 'authenticated', 'service_role'];
const callerOf = (index: number): Caller => ({ role: roles[index % 3]!, claims: { sub: `user ${index % 6}`, nonce: index } });

/** The requests that callers send in turn, and the codes that each may fail with for what happens around it. */
const requests: readonly { readonly query: string; readonly codes: readonly (string | undefined)[] }[] = [
  { query: 'mutation { first: who second: who }', codes: [undefined] },
  { query: '{ who_stable }', codes: [undefined] },
  { query: 'mutation { who bad: fail(kind: "raise") }', codes: ['RAISED'] },
  { query: '{ noteCollection(first: 50) { totalCount edges { node { owner } } } who_stable }', codes: [undefined] },
  { query: 'mutation { who bad: fail(kind: "number") after: who }', codes: ['INVALID_VALUE'] },
  { query: 'mutation { calm: fail(kind: "none") who }', codes: [undefined] },
  {
    query: 'mutation { insertIntonoteCollection(objects: [{id: 1, body: "x"}]) { records { owner } } }',
    codes: ['CONSTRAINT_VIOLATION', 'PERMISSION_DENIED'],
  },
  { query: 'mutation { updatenoteCollection(set: {body: "y"}, atMost: 60) { affectedCount records { owner } } who }', codes: [undefined] },
  { query: '{ entryCollection(first: 30) { edges { node { owner stamp } } } subject tenant }', codes: [undefined] },
  {
    query: 'mutation { insertIntoentryCollection(objects: [{body: "x"}]) { records { owner stamp } } bad: fail(kind: "raise") }',
    codes: ['RAISED'],
  },
  { query: 'mutation { insertIntoentryCollection(objects: [{body: "x"}]) { records { owner stamp } } }', codes: [undefined] },
  { query: '{ nonsense }', codes: ['GRAPHQL_VALIDATION_FAILED'] },
];

/** All that a response says of who ran it. */
function assertOwn({ data }: ExecutionResult, { role, claims }: Caller): void {
  for (const [field, value] of Object.entries(data ?? {})) {
    if (/^(who|who_stable|first|second|after)$/.test(field)) {
      const expected = { user: role, search_path: '"public", "app"', claims: { ...claims, role }, session: 'authenticator' };
      assert.deepEqual(JSON.parse(value as string), expected, field);
    } else if (field === 'subject') assert.equal(value, claims?.sub);
    else if (field === 'tenant') assert.equal(value, '');
    else if (field === 'insertIntoentryCollection') assert.deepEqual(value, { records: [{ owner: claims?.sub, stamp: claims?.sub }] });
    else if (field === 'entryCollection' && role !== 'service_role') {
      const { edges } = value as { edges: { node: { owner: string; stamp: string } }[] };
      assert.ok(edges.length >= 10);
      assert.deepEqual(new Set(edges.flatMap(({ node }) => [node.owner, node.stamp])), new Set([claims?.sub]));
    } else if (field === 'calm') assert.equal(value, `${role} ${JSON.stringify({ ...claims, role })}`);
    else if (field === 'noteCollection' && role !== 'service_role') {
      const { totalCount, edges } = value as { totalCount: number; edges: { node: { owner: string } }[] };
      assert.deepEqual([totalCount, new Set(edges.map(({ node }) => node.owner))], [10, new Set([claims?.sub])]);
    } else if (field === 'updatenoteCollection') {
      const { affectedCount, records } = value as { affectedCount: number; records: { owner: string }[] };
      assert.equal(affectedCount, role === 'service_role' ? 60 : 10);
      if (role !== 'service_role') assert.deepEqual(new Set(records.map(({ owner }) => owner)), new Set([claims?.sub]));
    }
  }
}

/** Each connection of the pool, as the next user finds it. */
async function assertClean(): Promise<void> {
  const clients = await Promise.all([pool.connect(), pool.connect()]);
  const found = clients.map((client) =>
    client.query(
      "select current_user, session_user, pg_current_xact_id_if_assigned() as transaction, coalesce(current_setting('app.tenant', true), '') as tenant",
    ),
  );
  const results = await Promise.all(found).finally(() => clients.forEach((client) => void client.release()));
  for (const { rows } of results)
    assert.deepEqual(rows, [{ current_user: 'authenticator', session_user: 'authenticator', transaction: null, tenant: '' }]);
}

test('callers in turn and at the same time are themselves, after errors too', async () => {
  const outcomes = Array.from({ length: 300 }, async (_, index) => {
    const caller = callerOf(index);
    const { query, codes } = requests[(index * 7) % requests.length]!;
    const result = await graph.execute({ query }, caller);
    assert.ok(codes.includes(result.errors?.[0]?.extensions.code), `${query}: ${JSON.stringify(result)}`);
    assertOwn(result, caller);
  });
  await Promise.all(outcomes);
  await assertClean();
});

test('a function that changes the session does so for nobody else', async () => {
  const outcomes = Array.from({ length: 60 }, async (_, index) => {
    const caller = callerOf(index);
    const result = await graph.execute({ query: index % 3 === 0 ? 'mutation { stick }' : 'mutation { who who_two: who }' }, caller);
    assert.equal(result.errors, undefined);
    assertOwn(result, caller);
  });
  await Promise.all(outcomes);
  await assertClean();
});

test('backends that are cancelled and killed leave nothing to those after them', async () => {
  let isOver = false;
  const random = new RandomSource(17);
  const disturbance = (async () => {
    const others = "from pg_stat_activity where usename = 'authenticator' and datname = current_database()";
    for (let count = 0; !isOver; count++) {
      await database.run(
        `select ${count % 3 === 0 ? 'pg_terminate_backend' : 'pg_cancel_backend'}(pid) ${others} and state = 'active' order by random() limit 1`,
      );
      for (let turn = random.integer(0, 20); turn > 0; turn--) await new Promise(setImmediate);
    }
  })();
  const lost = ['DATABASE_UNAVAILABLE', 'TIMEOUT'];
  const codesOf = (query: string): string[] => (query.startsWith('mutation') ? [...lost, 'OUTCOME_UNKNOWN'] : lost);
  const counts = new Map<unknown, number>();
  const isDisturbed = (): boolean => codesOf('mutation').some((code) => counts.has(code));
  const runRound = async (round: number): Promise<void> => {
    const outcomes = Array.from({ length: 20 }, async (_, index) => {
      const caller = callerOf(index + round);
      const { query, codes } = requests[(index * 3 + round) % requests.length]!;
      const result = await graph.execute({ query }, caller);
      const code = result.errors?.[0]?.extensions.code;
      counts.set(code, (counts.get(code) ?? 0) + 1);
      assert.ok([...codes, ...codesOf(query)].includes(code!), `${query}: ${JSON.stringify(result)}`);
      assertOwn(result, caller);
    });
    await Promise.all(outcomes);
  };
  try {
    for (let round = 0; round < 12 || (counts.get(undefined) ?? 0) <= 50 || !isDisturbed(); round++) await runRound(round);
  } finally {
    isOver = true;
    await disturbance;
  }
  const ask = async (index: number): Promise<boolean> => {
    const own = await graph.execute({ query: 'mutation { who }' }, callerOf(index));
    assertOwn(own, callerOf(index));
    return own.errors === undefined;
  };
  // A signal that came too late for its request meets whoever is next.
  await until(async () => !(await Promise.all([0, 1, 2, 3].map(ask))).includes(false));
});

test('a backend that ends itself in the middle fails its own request only', async () => {
  const [dead, alive] = await Promise.all([
    graph.execute({ query: 'mutation { who fail(kind: "die") }' }, callerOf(0)),
    graph.execute({ query: 'mutation { calm: fail(kind: "none") }' }, callerOf(1)),
  ]);
  assert.equal(dead.errors?.[0]?.extensions.code, 'DATABASE_UNAVAILABLE');
  assertOwn(alive, callerOf(1));
  assert.equal(alive.errors, undefined);
});

test('claims are those of the call, though their object was used before', async () => {
  const claims = { sub: 'user 1' };
  const query = 'mutation { who }';
  assertOwn(await graph.execute({ query }, { role: 'anon', claims }), { role: 'anon', claims: { sub: 'user 1' } });
  assertOwn(await graph.execute({ query }, { role: 'authenticated', claims }), { role: 'authenticated', claims: { sub: 'user 1' } });
  claims.sub = 'user 2';
  assertOwn(await graph.execute({ query }, { role: 'anon', claims }), { role: 'anon', claims: { sub: 'user 2' } });
  const lying = { sub: 'x', role: 'service_role' };
  assertOwn(await graph.execute({ query }, { role: 'anon', claims: lying }), { role: 'anon', claims: { ...lying, role: 'anon' } });
});

test('a role that the login role may not assume is refused in clear words', async () => {
  for (const role of ['stranger', 'postgres', 'nobody_at_all', 'pg_read_all_data']) {
    const result = await graph.execute({ query: '{ who_stable }' }, { role });
    assert.equal(result.data ?? null, null);
    assert.equal(result.errors?.[0]?.extensions.code, 'UNAUTHENTICATED');
    assert.match(result.errors[0].message, new RegExp(`role "${role}"`));
  }
  await assertClean();
});
