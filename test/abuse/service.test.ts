/**
 * Attacks on `rowgraph serve` over a real PostgreSQL, each beside an ordinary user who reads and writes, one request after the other. Whatever comes, the
 * user gets every response, the right one, every write is there once, and when the attackers have gone nothing is left of what they began.
 */
import assert from 'node:assert/strict';
import { after, before, type TestContext, test } from 'node:test';
import pg from 'pg';
import { connectRaw, rawRequest } from '../http/raw-client.ts';
import { makeFolder, type RunningCommand, removeFolder, runCommand, startCommand } from '../process/run-command.ts';
import { RandomSource } from '../property/random-source.ts';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';
import { grantsSql, rolesSql } from '../support/roles.ts';
import { until } from '../support/until.ts';
import { abuseSchema, doublingFragments, fullPages, pageProduct } from './worst-documents.ts';

const schema = `
  create table entry (id bigint generated always as identity primary key, owner text, body text);
  insert into account select id, 'user' || id, 'User ' || id, 30, '{1}', now() from generate_series(1, 500) id;
  create function slow(seconds float8) returns text stable language sql as 'select ''slept'' from pg_sleep(seconds)';
  create function large(bytes int) returns text stable language sql as 'select repeat(''x'', bytes)';
`;
const environment = { ROWGRAPH_JWT_SECRET: 'a secret that has more than 32 characters', ROWGRAPH_PORT: '0' };
let home: string;
let server: PostgresServer;
let superuser: pg.Client;
let service: RunningCommand;
let url: URL;
let anonKey: string;
let userToken: string;

before(async () => {
  home = await makeFolder();
  server = await startPostgres();
  superuser = new pg.Client(server.url);
  await superuser.connect();
  await superuser.query(`${rolesSql} ${grantsSql} ${abuseSchema} ${schema} ${fullPages}`);
  const databaseUrl = server.url.replace('postgres@', 'authenticator@');
  // A machine that is busy with other things must not count as an attack.
  const patience = ['--max-event-loop-delay', '1h', '--queue-timeout', '1h', '--request-timeout', '1h'];
  service = startCommand(['serve', '--database-url', databaseUrl, ...patience], { home, environment });
  url = new URL(/http:\S+/.exec(await service.waitFor(/http:\S+\n/))?.[0] ?? '');
  const key = async (...flags: string[]): Promise<string> => (await runCommand(['keys', ...flags], { home, environment })).stdout.trim();
  [anonKey, userToken] = await Promise.all([key('--role', 'anon'), key('--role', 'authenticated', '--claims', '{"sub":"the user"}')]);
});
after(async () => {
  const { code, stderr } = await service.stop();
  await superuser.end();
  await server.stop();
  await removeFolder(home);
  assert.equal(code, 0, stderr);
});

type Counts = Record<string, number>;

function count(counts: Counts, outcome: string): void {
  counts[outcome] = (counts[outcome] ?? 0) + 1;
}

/** Sends a request as anon, unless headers say otherwise. Out: `ok`, a code, or `left` where the signal came first. */
async function send(body: object | string, options: { headers?: Record<string, string>; signal?: AbortSignal } = {}): Promise<string> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', apiKey: anonKey, ...options.headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
      ...(options.signal && { signal: options.signal }),
    });
    const text = await response.text();
    return /"code":"(\w+)"/.exec(text)?.[1] ?? (text.startsWith('{"data":{') ? 'ok' : text.slice(0, 200));
  } catch (error) {
    if (options.signal?.aborted) return 'left';
    throw error;
  }
}

interface User {
  sent: number;
  right: number;
  readonly wrong: string[];
}

/** An ordinary user, until told to stop; asks for a row and adds one in turn. */
async function beOrdinary(isOver: () => boolean, user: User): Promise<void> {
  const headers = { 'content-type': 'application/json', apiKey: anonKey, authorization: `Bearer ${userToken}` };
  while (!isOver()) {
    const number = user.sent++;
    const id = (number % 500) + 1;
    const isRead = number % 2 === 0;
    const query = isRead
      ? `{ accountByPk(id: ${id}) { email } }`
      : `mutation { insertIntoEntryCollection(objects: [{ owner: "user", body: "${number}" }]) { affectedCount } }`;
    const expected = isRead ? `{"accountByPk":{"email":"user${id}"}}` : '{"insertIntoEntryCollection":{"affectedCount":1}}';
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ query }) });
    const text = await response.text();
    if (text === `{"data":${expected}}`) user.right += 1;
    else user.wrong.push(`${response.status} ${text.slice(0, 200)}`);
  }
}

/** Attacks beside the user, until the attack is over and the user has been answered as often as they ask in calm. */
async function attackBesideUser(context: TestContext, attack: (counts: Counts) => Promise<void>): Promise<Counts> {
  await superuser.query('truncate entry');
  const counts: Counts = {};
  const user: User = { sent: 0, right: 0, wrong: [] };
  let isOver = false;
  const ordinary = beOrdinary(() => isOver && user.sent >= 20, user);
  await attack(counts);
  isOver = true;
  await ordinary;
  context.diagnostic(`attacker: ${JSON.stringify(counts)}; user: ${user.sent} sent, ${user.right} right, ${user.wrong.length} wrong`);
  assert.deepEqual([user.right, user.wrong], [user.sent, []]);
  const { rows } = await superuser.query<{ written: number }>('select count(distinct body)::int + count(*)::int as written from entry');
  assert.equal(rows[0]?.written, 2 * Math.floor(user.sent / 2), 'every write is there once');
  return counts;
}

/** Resolves when nothing of an attack runs in PostgreSQL any more. */
async function untilIdle(): Promise<void> {
  const running = "select from pg_stat_activity where usename = 'authenticator' and state = 'active' and query like '%slow%'";
  await until(async () => (await superuser.query(running)).rowCount === 0);
}

const times = <Result>(length: number, make: (index: number) => Promise<Result>): Promise<Result[]> =>
  Promise.all(Array.from({ length }, (_, index) => make(index)));

test('a hundred browsers with one anonymous key behind one address are served in full', async () => {
  const counts: Counts = {};
  const page = { query: '{ accountCollection(first: 10) { edges { node { id email } } } }' };
  const byKey = (id: number): object => ({ query: 'query ($id: Int!) { accountByPk(id: $id) { email } }', variables: { id } });
  // Each loads a page: six requests at a time, and then six more.
  await times(100, async (browser) => {
    for (let round = 0; round < 2; round++)
      await times(6, async (index) => count(counts, await send(index === 0 ? page : byKey(((browser * 6 + index) % 500) + 1))));
  });
  assert.deepEqual(counts, { ok: 1200 });
});

test('keys and schemes that are nothing', async (context) => {
  const counts = await attackBesideUser(context, async (counts) => {
    const headers = { apiKey: 'x', authorization: 'Basic x' };
    await times(50, async () => count(counts, await send({ query: '{ __typename }' }, { headers })));
  });
  assert.deepEqual(counts, { UNAUTHENTICATED: 50 });
});

test('documents that expand, page sizes that multiply, bodies that nest', async (context) => {
  const deep = `{"query":"{ a }","variables":{"x":${'['.repeat(250_000)}${']'.repeat(250_000)}}}`;
  const counts = await attackBesideUser(context, async (counts) => {
    const bodies = [doublingFragments(20), doublingFragments(14), pageProduct(1000, 4), deep, '['.repeat(500_000)];
    for (let round = 0; round < 3; round++) await times(bodies.length, async (index) => count(counts, await send(bodies[index]!)));
  });
  assert.deepEqual(counts, { TOO_MANY_FIELDS: 6, TOO_MANY_ESTIMATED_ROWS: 3, TOO_DEEP: 6 });
});

test('a hundred slow queries at a time, whose client then goes away', async (context) => {
  const counts = await attackBesideUser(context, async (counts) => {
    const gone = new AbortController();
    const asked = times(100, async () => count(counts, await send({ query: '{ slow(seconds: 60) }' }, { signal: gone.signal })));
    // They hold all connections that they get before they go.
    const holding = "select from pg_stat_activity where usename = 'authenticator' and state = 'active' and query like '%slow%'";
    await until(async () => ((await superuser.query(holding)).rowCount ?? 0) >= 8);
    for (let index = 0; index < 20; index++) count(counts, await send({ query: '{ __typename }' }));
    gone.abort();
    await asked;
  });
  assert.deepEqual(counts, { ok: 20, left: 100 });
  await untilIdle();
});

test('hang-ups in every phase', async (context) => {
  const random = new RandomSource(13);
  const counts = await attackBesideUser(context, async (counts) => {
    for (let round = 0; round < 8; round++) {
      await times(20, async () => {
        const query = random.pick([
          '{ slow(seconds: 60) }',
          '{ large(bytes: 3000000) }',
          '{ accountCollection { edges { node { id email } } } }',
        ]);
        const { socket } = await connectRaw(
          Number(url.port),
          rawRequest(anonKey, { body: JSON.stringify({ query }), lines: ['accept-encoding: br'] }),
        );
        // After some turns of the event loop: before, while or after it is worked on.
        for (let turn = random.integer(0, 60); turn > 0; turn--) await new Promise(setImmediate);
        if (random.chance(0.5)) socket.resetAndDestroy();
        else socket.destroy();
        count(counts, 'left');
      });
    }
  });
  assert.deepEqual(counts, { left: 160 });
  await untilIdle();
});

test('two thousand requests on one connection, and clients that read nothing', async (context) => {
  const counts = await attackBesideUser(context, async (counts) => {
    // Together they stay within the half of the bytes that an address may have, as the user is at the same one.
    const lazy = await times(12, () =>
      connectRaw(Number(url.port), rawRequest(anonKey, { body: '{"query":"{ large(bytes: 8000000) }"}' })),
    );
    for (const { socket } of lazy) socket.pause();
    const eager = await connectRaw(Number(url.port), rawRequest(anonKey).repeat(2_000));
    for (const { status } of await eager.closed()) count(counts, `${status}`);
    for (const { socket } of lazy) socket.destroy();
  });
  assert.ok((counts[200] ?? 0) <= 20, 'the connection is closed');
});

test('nothing was a defect', async () => {
  const metrics = await (await fetch(new URL('/metrics', url))).text();
  assert.match(metrics, /^rowgraph_defects_total 0$/m);
});
