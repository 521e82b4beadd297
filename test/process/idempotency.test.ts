/** Idempotency keys over HTTP, with several workers: whichever process a request reaches, and whatever happens to that process, a mutation is done once. */
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, before, test } from 'node:test';
import { signKey } from '../../src/auth/sign-key.ts';
import { openPgDatabase } from '../../src/database/pg-database.ts';
import { applyExtension } from '../../src/extension/install-extension.ts';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts';
import { startTestDatabases, type TestDatabase, type TestDatabases } from '../support/test-databases.ts';
import { until } from '../support/until.ts';
import { makeFolder, type RunningCommand, removeFolder, startCommand } from './run-command.ts';

const secret = 'a secret that has more than 32 characters';
const insert = 'mutation ($note: String!) { insertIntoentryCollection(objects: [{note: $note}]) { records { id note } } }';

let home: string;
let databases: TestDatabases;
let database: TestDatabase;
let proxy: FaultProxy;
let service: RunningCommand;
let endpoint: URL;
let keys: Readonly<Record<'anon' | 'ada' | 'bob', string>>;
before(async () => {
  home = await makeFolder();
  databases = await startTestDatabases();
  database = await databases.create(`create table entry (id serial primary key, note text check (note <> 'refused'));
    grant all on all sequences in schema public to anon, authenticated;
    create function held(note text) returns int volatile language sql as
      $$ select pg_advisory_xact_lock_shared(1); insert into entry (note) values ($1) returning id $$;`);
  const admin = openPgDatabase(database.url.replace('authenticator', 'postgres'));
  await applyExtension(admin);
  await admin.close();
  const environment = { ROWGRAPH_JWT_SECRET: secret, ROWGRAPH_PORT: '0', ROWGRAPH_POOL_SIZE: '5', ROWGRAPH_IDEMPOTENCY_KEY_ROLES: '*' };
  proxy = await startFaultProxy(databases.port);
  const url = database.url.replace(`:${database.port}/`, `:${proxy.port}/`);
  service = startCommand(['serve', '--workers', '2', '--database-url', url, '--log-level', 'debug'], { home, environment });
  endpoint = new URL(/serves (\S+) from/.exec(await service.waitFor(/\n/))?.[1] ?? assert.fail());
  const sign = (sub: string): Promise<string> => signKey(secret, 'authenticated', '1h', { sub });
  keys = { anon: await signKey(secret, 'anon'), ada: await sign('ada'), bob: await sign('bob') };
});
after(async () => {
  await service.stop();
  await proxy.stop();
  await databases.close();
  await removeFolder(home);
});

interface Answer {
  readonly status: number | undefined;
  readonly isReplayed: boolean;
  readonly text: string;
}

const lost: Answer = { status: undefined, isReplayed: false, text: 'lost' };

/** On a connection of its own, so that the workers take turns. What a worker has not answered when it dies is lost. */
function send(key: string, variables: object, caller: keyof typeof keys = 'ada', query = insert, signal?: AbortSignal): Promise<Answer> {
  const headers = { 'content-type': 'application/json', apikey: keys[caller], 'idempotency-key': key };
  return new Promise((resolve) => {
    const sent = request(endpoint, { method: 'POST', headers, agent: false, signal }, async (response) => {
      let text = '';
      try {
        for await (const chunk of response) text += chunk;
      } catch {
        resolve(lost);
      }
      resolve({ status: response.statusCode, isReplayed: response.headers['idempotency-replayed'] === 'true', text });
    });
    sent.on('error', () => resolve(lost));
    sent.end(JSON.stringify({ query, variables }));
  });
}

const written = async (note: string): Promise<unknown> =>
  (await database.run(`select count(*)::int as n from entry where note = '${note}'`))[0]!.n;

test('fifty at once are one write and one response, whichever worker they reach', async () => {
  const answers = await Promise.all(Array.from({ length: 50 }, () => send('fifty', { note: 'fifty' })));
  assert.deepEqual(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size, 1, answers.map(({ text }) => text).join());
  assert.deepEqual([answers[0]?.status, answers.filter(({ isReplayed }) => !isReplayed).length], [200, 1]);
  assert.equal(await written('fifty'), 1);
});

test('two mutations that race for a key: one is done, the other refused each time', async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => send('race', { note: `race ${index % 2}` })));
  assert.equal(((await written('race 0')) as number) + ((await written('race 1')) as number), 1);
  assert.deepEqual(answers.map(({ status }) => status).sort(), [...Array(10).fill(200), ...Array(10).fill(422)]);
});

test('the key of another caller is another key, and what failed is done when it is sent again', async () => {
  for (const caller of ['ada', 'bob', 'anon'] as const) assert.equal((await send('shared', { note: 'shared' }, caller)).isReplayed, false);
  assert.equal(await written('shared'), 3);
  assert.match((await send('mended', { note: 'refused' })).text, /CONSTRAINT_VIOLATION/);
  assert.deepEqual((await send('mended', { note: 'mended' })).isReplayed, false);
  assert.equal(await written('mended'), 1);
});

test('a worker dies while they run: sent again, each is done once', async () => {
  const gate = await database.connect();
  await gate.query('select pg_advisory_lock(1)');
  const held = (key: number): Promise<Answer> =>
    send(`held-${key}`, { note: `held ${key}` }, 'ada', 'mutation ($note: String!) { held(note: $note) }');
  const first = [1, 2, 3, 4].map(held);
  await database.untilLocked('held', 4);
  const [victim = 0] = await workers();
  process.kill(victim, 'SIGKILL');
  await gate.query('select pg_advisory_unlock(1)');
  const answers = await Promise.all(first);
  await until(async () => (await Promise.all([1, 2, 3, 4].map(held))).every(({ status }) => status === 200));
  for (const key of [1, 2, 3, 4]) assert.equal(await written(`held ${key}`), 1, `${key}: ${answers[key - 1]?.text}`);
});

/** The processes that have served so far, by what they have logged. */
async function workers(): Promise<number[]> {
  const log = await service.waitFor(/("msg":"serving"[\s\S]*){2}/, 'stderr');
  return log.split('\n').flatMap((line) => (line.includes('"msg":"serving"') ? [JSON.parse(line).pid as number] : []));
}

const losses: Record<string, (hangUp: () => void) => Promise<void>> = {
  'its client hangs up': async (hangUp) => hangUp(),
  'its worker dies': async () => {
    for (const worker of await workers()) {
      try {
        process.kill(worker, 'SIGKILL');
      } catch {
        // It has died already.
      }
    }
  },
};
for (const [name, lose] of Object.entries(losses)) {
  test(`an answer that is lost between commit and reply, because ${name}: sent again, the mutation has run once and the answer is the first one`, async () => {
    const [key] = name.split(' ').slice(-1);
    const again = () => send(`lost-${key}`, { note: `lost ${key}` });
    const client = new AbortController();
    let cut = (): void => {};
    proxy.cutNext(`lost ${key}`, 'before the response', new Promise<void>((resolve) => (cut = resolve)));
    const first = send(`lost-${key}`, { note: `lost ${key}` }, 'ada', insert, client.signal);
    await until(async () => (await written(`lost ${key}`)) === 1);
    const [kept] = await database.run(`select response from rowgraph.idempotency_key where key = 'lost-${key}'`);
    await lose(() => client.abort());
    assert.deepEqual(await first, lost);
    const answers: Answer[] = [];
    await until(async () => answers.push(await again()) > 0 && answers.at(-1)?.status === 200);
    assert.deepEqual(answers.at(-1), { status: 200, isReplayed: true, text: kept?.['response'] });
    assert.match(String(kept?.['response']), new RegExp(`\\{"id":\\d+,"note":"lost ${key}"\\}`));
    cut();
    assert.deepEqual(await again(), answers.at(-1));
    assert.equal(await written(`lost ${key}`), 1);
  });
}
