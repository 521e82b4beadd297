/** `rowgraph doctor` against a real PostgreSQL server: a schema with one of everything, and the example. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import { createRowgraph, type DoctorReport } from '../../src/index.ts';
import { startTestDatabases, type TestDatabase, type TestDatabases } from '../support/test-databases.ts';
import { makeFolder, type Outcome, removeFolder, runCommand } from './run-command.ts';

/** One of everything that the doctor finds, but for what only a superuser or a foreign table can be told. */
const setup = `
  comment on schema public is '@graphql({"inflect_names": true, "max_row": 10})'; grant create on schema public to anon;
  create type mood as enum ('calm', 'so so');
  create table author (id int primary key, name text); alter table author enable row level security; create policy all_read on author for select using (true);
  create policy all_write on author for update using (true); create policy own on author for delete using (name = current_setting('request.jwt.claims'));
  create table note (id int primary key, author_id int references author, mood mood, "so so" text, "noteText" text, note_text text);
  create table log (message text); revoke all on log from anon; grant select on log to anon;
  create table draft (id int primary key); alter table draft enable row level security;
  create table forgotten (id int primary key); create policy p on forgotten using (id = 1); revoke all on forgotten from anon;
  create table owned (id int primary key); alter table owned enable row level security; create policy p on owned for select using (id = 1); alter table owned owner to anon;
  create view everybody as select * from author; comment on view everybody is '@graphql({"primary_key_columns": ["nope"]})';
  create table secret (id int primary key, note_id int references note); revoke all on secret from anon; create index on secret (note_id);
  create table bare (); create table broken (id int primary key); revoke all on broken from anon; comment on column broken.id is '@graphql({"name": })';
  create function sign_up(name text) returns int security definer language sql as 'select 1'; create function fired() returns trigger language plpgsql as 'begin return new; end';
  create procedure act() language sql as ''; create function pairs() returns record language sql as 'select 1, 2';
  create extension citext;`;

const codes = [
  'definer-search-path',
  'owner-bypasses-rls',
  'policies-without-rls',
  'view-bypasses-rls',
  'writable-without-rls',
  'broken-directive',
  'call-fails',
  'ignored-directive',
  'illegal-name',
  'may-create-objects',
  'no-columns',
  'no-key',
  'no-policy',
  'open-definer-function',
  'open-policy',
  'unindexed-foreign-key',
  'unsupported-type',
  'unusable-directive',
  'extension-functions',
  'name-changed',
  'not-callable',
  'not-granted',
  'owner-left-out',
  'policy-calls-per-row',
  'readable-without-rls',
];

describe('rowgraph doctor', () => {
  let home: string;
  let databases: TestDatabases;
  let database: TestDatabase;
  const doctor = (url: string, ...flags: string[]): Promise<Outcome> => runCommand(['doctor', '--database-url', url, ...flags], { home });

  before(async () => {
    home = await makeFolder();
    databases = await startTestDatabases();
    database = await databases.create(setup);
  });
  after(async () => {
    await databases.close();
    await removeFolder(home);
  });

  it('prints what it finds as text, and exits with 1 where something is dangerous', async () => {
    const { code, stdout, stderr } = await doctor(database.url);
    assert.equal(code, 1);
    assert.match(stderr, /^rowgraph: the doctor found \d errors\n$/);
    assert.deepEqual(
      stdout.match(/^ {2}[a-z-]+$/gm)?.map((line) => line.trim()),
      codes,
    );
    assert.match(stdout, /^Role anon, schemas public: \d errors, \d+ warnings, \d+ notes\n {2}error {4}definer-search-path {4}1\n/);
    assert.match(
      stdout,
      /^ {4}2 × table: anon can .*\n {6}public\.bare, public\.note\n(.*\n) {6}alter table public\.note enable row level security;$/m,
    );
    assert.match(
      stdout,
      /^ {4}3 × table: the role anon cannot select any .*\n {6}public\.broken, public\.forgotten, public\.secret\n(.*\n){2} {6}grant select on table public\.secret to anon;$/m,
    );
  });

  it('prints JSON for machines, the same as the function of the package', async () => {
    const { code, stdout } = await doctor(database.url, '--json');
    assert.equal(code, 1);
    const graph = await createRowgraph({ database: database.url });
    try {
      assert.equal(stdout, `${JSON.stringify(await graph.doctor(), null, 2)}\n`);
      const { role, summary, findings } = JSON.parse(stdout) as DoctorReport;
      assert.equal(summary.error + summary.warning + summary.info, findings.length);
      assert.equal(role, 'anon');
      assert.deepEqual(Object.keys(findings[0] ?? {}), ['severity', 'code', 'object', 'name', 'message', 'remedy', 'contains']);
      await assert.rejects(graph.doctor({ role: 'nobody' }), { code: 'UNAUTHENTICATED' });
    } finally {
      await graph.close();
    }
  });

  it('gives remedies that PostgreSQL takes, and that help', async () => {
    const copy = await databases.create(setup);
    const graph = await createRowgraph({ database: copy.url });
    try {
      const { findings } = await graph.doctor();
      // A privilege is given or taken, not both.
      const remedies = findings.flatMap(({ code, remedy }) => (remedy === null || code === 'not-granted' ? [] : [remedy]));
      assert.ok(remedies.length > 10);
      await copy.run(remedies.join('\n'));
      const left = (await graph.doctor()).findings.filter(({ remedy, code }) => remedy !== null && code !== 'not-granted');
      assert.deepEqual(left, []);
    } finally {
      await graph.close();
    }
  });

  it('gives grants that bring what is left out into the API', async () => {
    const copy = await databases.create('create table secret (id int primary key, text text); revoke all on secret from anon;');
    const graph = await createRowgraph({ database: copy.url });
    try {
      const lacking = async () => (await graph.doctor()).findings.flatMap(({ code, remedy }) => (code === 'not-granted' ? [remedy] : []));
      assert.deepEqual(await lacking(), ['grant select on table public.secret to anon;']);
      await copy.run((await lacking()).join('\n'));
      assert.deepEqual(await lacking(), []);
      assert.match(await graph.sdl(), /type secret /);
    } finally {
      await graph.close();
    }
  });

  it('finds nothing dangerous in the example, whoever asks', async () => {
    const example = await databases.create(await readFile(new URL('../../examples/bird-club/schema.sql', import.meta.url), 'utf8'));
    for (const role of ['anon', 'authenticated', 'service_role']) {
      const { code, stdout, stderr } = await doctor(example.url, '--role', role);
      assert.deepEqual([code, stderr], [0, ''], stdout);
      assert.doesNotMatch(stdout, /errors?\n|warnings?\n|policy-calls/, stdout);
    }
  });

  it('exits with 2 where a setting is wrong', async () => {
    const { code, stdout, stderr } = await doctor(database.url, '--role', 'nobody');
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(stderr, /^rowgraph: --role: the role "nobody" does not exist/);
    assert.equal((await runCommand(['doctor'], { home })).code, 2);
  });
});
