/** `rowgraph dev` from its start to Ctrl-C: what it prints works, the user's SQL is loaded, and the data is kept. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, stat, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { promisify, stripVTControlCharacters } from 'node:util';
import pg from 'pg';
import { saveSnapshot } from '../../src/cli/dev/open-pglite.ts';
import { makeFolder, type Outcome, removeFolder, runCommand } from './run-command.ts';
import { type Answer, ask, askBackend, type Printed, startDev } from './start-dev.ts';

const run = promisify(execFile);

let home: string;
/** How the first start of the example ended. */
let first: Outcome;
/** The second one. */
let example: Printed;
/** With the user's SQL, for others than this machine, too. */
let own: Printed;
const ownSql = {
  'shop.sql': 'create table soft_drink (id int primary key, name text);\ncopy soft_drink from stdin;\n1\tTea\n\\.\n',
  'more.sql': "create extension citext;\ninsert into soft_drink select n, 'Coffee'::citext from generate_series(2, 200) n;",
  'closed.sql': 'create table secret (id int primary key);\nrevoke all on secret from anon, authenticated;',
};
before(async () => {
  home = await makeFolder();
  for (const [name, text] of Object.entries(ownSql)) await writeSql(name, text);
  first = await (await startDev(home)).command.stop();
  [example, own] = await Promise.all([startDev(home), startDev(home, '--host', '0.0.0.0', '--sql', ...Object.keys(ownSql))]);
});
after(async () => {
  await Promise.all([example?.command.stop(), own?.command.stop()]);
  await removeFolder(home);
});

/** What a shell makes of the printed line; where there is no curl, the request that it stands for. */
async function paste(line: string): Promise<Answer> {
  try {
    return JSON.parse((await run('sh', ['-c', line])).stdout) as Answer;
  } catch (error) {
    if (!/curl: (command )?not found/.test(String(error))) throw error;
    const [, url, key, body] = /^curl --silent (\S+) -H 'apiKey: (\S+)' .* -d '(.+)'$/.exec(line) ?? [];
    const headers = { apiKey: key ?? '', 'content-type': 'application/json' };
    return (await (await fetch(url ?? '', { method: 'POST', headers, body: body ?? '' })).json()) as Answer;
  }
}

const writeSql = async (name: string, text: string): Promise<string> => {
  await writeFile(path.join(home, name), text);
  return name;
};

test('the first start initialises and says so, a later one does not; the printed line returns data', async () => {
  assert.deepEqual([first.code, /Initializing the embedded database/.test(first.stderr)], [0, true]);
  assert.doesNotMatch(await example.command.waitFor(/^/, 'stderr'), /Initializing the embedded database/);
  const { data, errors } = await paste(example.curl);
  assert.equal(errors, undefined);
  const collection = data?.speciesCollection as { edges: unknown[] } | undefined;
  assert.deepEqual(collection?.edges[0], { node: { name: 'Arctic Tern', scientificName: 'Sterna paradisaea' } });
});

test('everything that is printed is there', async () => {
  const printed = example;
  const { facts } = printed;
  const graphiql = await fetch(facts['GraphiQL URL'] ?? '');
  assert.equal(graphiql.status, 200);
  assert.ok((await graphiql.text()).includes(facts['anon key'] ?? 'none'), 'the anon key is filled in');
  assert.equal((await fetch(new URL('/', facts['GraphiQL URL']))).url, facts['GraphiQL URL'], 'the root leads to GraphiQL');
  assert.equal(stripVTControlCharacters(printed.text), printed.text, 'what is piped has no colours');
  const schema = await ask(printed, '{ __schema { queryType { name } } }');
  assert.deepEqual(schema.data, { __schema: { queryType: { name: 'Query' } } });

  const profiles = '{ memberProfileCollection(first: 1) { edges { node { email } } } }';
  assert.match((await ask(printed, profiles)).errors?.[0]?.message ?? '', /memberProfileCollection/);
  assert.equal((await ask(printed, profiles, 'service_role key')).errors, undefined);

  const keys = await runCommand(
    [
      'keys',
      '--jwt-secret',
      facts['JWT secret'] ?? '',
      '--role',
      'authenticated',
      '--claims',
      '{"sub":"00000000-0000-4000-8000-000000000001"}',
    ],
    { home },
  );
  const member = { ...printed, facts: { ...facts, member: keys.stdout.trim() } };
  const own = await ask(member, '{ memberProfileCollection { edges { node { email } } } }', 'member');
  assert.deepEqual(own.data, { memberProfileCollection: { edges: [{ node: { email: 'ada@birdclub.example' } }] } });
  const written = await ask(
    member,
    'mutation { reportSighting(speciesCode: "ALCATT", siteId: 5, birds: 2) { birds species { name } } }',
    'member',
  );
  assert.deepEqual(written.data, { reportSighting: { birds: 2, species: { name: 'Common Kingfisher' } } });
});

test('the page signs for whom the developer wants to be, explains, and examines; from elsewhere it does not', async () => {
  const printed = example;
  const ada = { id: '00000000-0000-4000-8000-000000000001', label: 'Ada Brandt' };
  const { answer: callers } = await askBackend(printed, 'callers', {});
  const { roles, users } = callers as { roles: string[]; users: unknown[] };
  assert.deepEqual([roles, users[0]], [['anon', 'authenticated', 'service_role'], ada]);

  const caller = { role: 'authenticated', claims: { sub: ada.id, role: 'service_role', exp: 1 } };
  const { token } = (await askBackend(printed, 'sign', caller)).answer as { token: string };
  const signed = { ...printed, facts: { ...printed.facts, signed: token } };
  const ofAda = await ask(signed, '{ memberProfileCollection { edges { node { email } } } }', 'signed');
  assert.deepEqual(ofAda.data, { memberProfileCollection: { edges: [{ node: { email: 'ada@birdclub.example' } }] } });
  for (const role of ['postgres', 'authenticator', 'pg_read_all_data', '__proto__', 'nobody'])
    for (const name of ['sign', 'explain', 'doctor']) {
      const { status, answer } = await askBackend(printed, name, { role, query: '{ __typename }' });
      assert.deepEqual(
        [status, JSON.stringify(answer).includes('one of anon, authenticated, service_role')],
        [400, true],
        `${name} ${role}`,
      );
    }

  const report = 'mutation { reportSighting(speciesCode: "ALCATT", siteId: 5, birds: 77) { birds } }';
  const { answer } = await askBackend(printed, 'explain', { ...caller, query: report, mode: 'analyze' });
  const { operation, statements } = answer as { operation: unknown; statements: { databasePlan: { executionMillis: number } }[] };
  assert.deepEqual(operation, { name: null, kind: 'mutation' });
  assert.ok(statements[0]!.databasePlan.executionMillis > 0);
  const kept = await ask(signed, '{ sightingCollection(filter: {birds: {eq: 77}}) { edges { node { birds } } } }', 'signed');
  assert.deepEqual(kept.data, { sightingCollection: { edges: [] } }, 'it was rolled back');
  const invalid = await askBackend(printed, 'explain', { role: 'anon', query: '{ a b }' });
  assert.deepEqual([invalid.status, (invalid.answer as { errors: unknown[] }).errors.length], [400, 2]);
  assert.equal(((await askBackend(printed, 'doctor', { role: 'anon' })).answer as { role: string }).role, 'anon');

  assert.equal((await askBackend(own, 'sign', { role: 'anon' })).status, 404);
});

test('psql and the like reach the database, and what they change is served at once', async () => {
  const printed = example;
  const client = new pg.Client(printed.facts['DB URL'] ?? '');
  await client.connect();
  await client.query('create table feather (id int primary key, colour text)');
  await client.query('insert into feather values ($1, $2)', [1, 'blue']);
  const query = '{ featherCollection { edges { node { colour } } } }';
  assert.deepEqual((await ask(printed, query)).data, { featherCollection: { edges: [{ node: { colour: 'blue' } }] } });

  const triggers = await client.query("select from pg_event_trigger where evtname like 'rowgraph%' and evtenabled <> 'D'");
  assert.equal(triggers.rowCount, 5, 'the database tells of DDL by itself');

  await client.query('begin');
  await client.query("update feather set colour = 'red'");
  const during = ask(printed, query);
  await client.query('rollback');
  assert.deepEqual((await during).data, { featherCollection: { edges: [{ node: { colour: 'blue' } }] } });
  await assert.rejects(client.query('copy feather from stdin'), /copy from stdin does not work in the embedded database/);
  await client.end();
});

test('--sql loads files of the user’s instead, and the printed line asks for their data', async () => {
  const { data } = await paste(own.curl);
  const edges = [
    { id: 1, name: 'Tea' },
    { id: 2, name: 'Coffee' },
    { id: 3, name: 'Coffee' },
  ].map((node) => ({ node }));
  assert.deepEqual(data, { soft_drinkCollection: { edges } });
});

test('what comments decide is printed: what they say, or the SQL that would say it, which works', async () => {
  assert.match(example.text, /^ {2}names: +inflected: account_holder becomes AccountHolder\n {2}page size: +100 rows at most/m);
  assert.match(example.text, /Set by comments in the database:\n\n {2}comment on schema public is '@graphql\(/);

  assert.match(own.text, /^ {2}names: +as in the database: .*\n {2}page size: +30 rows at most, even with first: 1000$/m);
  const statements = own.text.match(/^ {2}comment on .+;$/gm) ?? [];
  assert.equal(statements.length, 2);
  const client = new pg.Client(own.facts['DB URL'] ?? '');
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
  const { data } = await ask(own, '{ softDrinkCollection(first: 1000) { totalCount aggregate { max { id } } edges { cursor } } }');
  const collection = data?.softDrinkCollection as { totalCount: number; aggregate: object; edges: object[] };
  assert.deepEqual([collection.totalCount, collection.aggregate, collection.edges.length], [200, { max: { id: 200 } }, 100]);
});

test('what is missing from the API is pointed out, with what to run: at the start, and when it is made', async () => {
  assert.match(own.text, /^public\.secret is missing from the API because neither anon nor authenticated has any privilege on it\./m);
  const remedy = /^ {2}(grant select on public\.secret to anon, authenticated;)$/m.exec(own.text)?.[1] ?? '';
  const client = new pg.Client(own.facts['DB URL'] ?? '');
  await client.connect();
  await client.query(remedy);
  assert.deepEqual((await ask(own, '{ secretCollection { edges { cursor } } }')).data, { secretCollection: { edges: [] } });
  await client.query('begin; create table hidden (id int primary key); revoke all on hidden from anon, authenticated; commit');
  await own.command.waitFor(/^ {2}grant select on public\.hidden to anon, authenticated;$/m, 'stderr');
  await client.end();
});

test("tables that anybody may write are pointed out, if they are the user's", () => {
  const notes =
    /^public\.soft_drink is open: anybody with the anon key may change its rows\. .*\n {2}alter table public\.soft_drink enable row level security;$/m;
  assert.match(own.text, notes);
  assert.doesNotMatch(example.text, / open: /);
});

test('an error in the SQL is one line with file and line, and exit code 1', async () => {
  const sql = await writeSql('wrong.sql', 'create table a (id int);\n\n-- é 𝄞\ncreate table b (\n  id itn\n);');
  const { code, stdout, stderr } = await runCommand(['dev', '--port', '0', '--sql', sql], { home });
  assert.deepEqual({ code, stdout }, { code: 1, stdout: '' });
  const [line, ...others] = stderr.split('\n').filter((each) => each.startsWith('rowgraph:'));
  assert.deepEqual([line, others], ['rowgraph: wrong.sql:5: type "itn" does not exist', []]);
});

test('--data-dir keeps data and keys, over Ctrl-C and over a crash', async () => {
  const sql = await writeSql('kept.sql', 'create table note (id int primary key);');
  const query = '{ noteCollection { edges { node { id } } } }';
  const add = (id: number): string => `mutation { insertIntonoteCollection(objects: [{id: ${id}}]) { affectedCount } }`;

  const first = await startDev(home, '--data-dir', 'data', '--sql', sql);
  const other = await runCommand(['dev', '--port', '0', '--data-dir', 'data'], { home });
  assert.equal(other.code, 2);
  assert.match(other.stderr, /^rowgraph: --data-dir data is in use by process \d+/);
  assert.equal((await ask(first, add(1))).errors, undefined);
  assert.equal((await first.command.stop()).code, 0);

  const second = await startDev(home, '--data-dir', 'data', '--sql', sql);
  assert.match(second.text, /already loaded/);
  assert.equal(second.facts['JWT secret'], first.facts['JWT secret']);
  assert.equal((await ask(second, add(2))).errors, undefined);
  await second.command.stop('SIGKILL');

  const third = await startDev(home, '--data-dir', 'data');
  const answer = await ask({ ...third, facts: { ...third.facts, 'anon key': first.facts['anon key'] ?? '' } }, query);
  assert.deepEqual(answer.data, { noteCollection: { edges: [{ node: { id: 1 } }, { node: { id: 2 } }] } });
  assert.equal((await third.command.stop('SIGTERM')).code, 0);
});

test('a data folder whose SQL failed begins anew, and a folder of somebody else’s is left alone', async () => {
  const wrong = await writeSql('half.sql', 'create table note (id int primary key);\nselect nothing;');
  assert.equal((await runCommand(['dev', '--port', '0', '--data-dir', 'half', '--sql', wrong], { home })).code, 1);
  const right = await writeSql('half.sql', 'create table note (id int primary key);');
  const printed = await startDev(home, '--data-dir', 'half', '--sql', right);
  assert.equal((await printed.command.stop()).code, 0);

  const { code, stderr } = await runCommand(['dev', '--port', '0', '--data-dir', '.'], { home });
  assert.equal(code, 2);
  assert.match(stderr, /^rowgraph: --data-dir \. contains other files/);

  await mkdir(path.join(home, 'torn'));
  await writeFile(path.join(home, 'torn/rowgraph.json'), '{');
  const torn = await runCommand(['dev', '--port', '0', '--data-dir', 'torn'], { home });
  assert.equal(torn.code, 1);
  assert.match(torn.stderr, /^rowgraph: \S*rowgraph\.json cannot be read: [^\n]+\n$/);
});

test('a damaged cache is made anew, whether a snapshot was cut off or is no database', async () => {
  const folder = path.join(home, 'cache/rowgraph');
  const states = (await readdir(folder)).filter((name) => name.endsWith('.zst'));
  assert.ok(states.length >= 2, String(states));
  for (const name of states) await truncate(path.join(folder, name), 10_000);
  await saveSnapshot(folder, 'empty', new Blob(['no archive']));
  const printed = await startDev(home);
  assert.equal((await paste(printed.curl)).errors, undefined);
  const { stderr } = await printed.command.stop();
  assert.match(stderr, /Initializing the embedded database/);
  for (const name of states) assert.ok((await stat(path.join(folder, name))).size > 1_000_000);
  assert.equal((await stat(path.join(folder, 'jwt-secret'))).mode & 0o077, 0);
  assert.equal(printed.facts['JWT secret'], await readFile(path.join(folder, 'jwt-secret'), 'utf8'));
});
