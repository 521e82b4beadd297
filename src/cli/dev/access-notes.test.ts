import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type PgliteGraph, startPgliteGraph } from '../../../test/support/pglite-graph.ts';
import { AccessNotes } from './access-notes.ts';

let one: PgliteGraph;
before(async () => {
  one = await startPgliteGraph('', { introspection: 'on' });
});
after(() => one.stop());

async function describe(...schemas: string[]): Promise<string> {
  return (await new AccessNotes(one.pglite, { schemas, anonRole: 'anon' }).describe(one.graph)).join('\n');
}

test('explains why the API is empty for the anonymous role', async () => {
  assert.match(
    await describe('public'),
    /^The API is empty because there are no tables or functions in the schema public: create some with psql/,
  );
  assert.match(await describe('public', 'app'), /in the schemas public, app: create some/);
  await one.pglite.exec('create table note (id int); create table plan (id int primary key); revoke all on plan from anon;');
  await one.graph.reload();
  assert.match(
    await describe('public'),
    /^The API is empty for anon:\n {2}table public\.note: it has no primary key.*\n {2}table public\.plan: .*\n {4}grant select on table public\.plan to anon;$/,
  );
});

test('says which tables show nobody a row, and which anybody may change', async () => {
  await one.pglite.exec(`create schema guarded; grant usage on schema guarded to anon, authenticated;
    create table guarded.shut (id int primary key); alter table guarded.shut enable row level security;
    create table guarded.ruled (id int primary key); alter table guarded.ruled enable row level security;
    create policy mine on guarded.ruled using (id > 0);
    create table guarded.hidden (id int primary key); alter table guarded.hidden enable row level security;
    create table guarded.open (id int primary key);
    grant all on guarded.shut, guarded.ruled, guarded.open to authenticated, anon; grant all on guarded.hidden to service_role;`);
  const notes = new AccessNotes(one.pglite, { schemas: ['guarded'], anonRole: 'anon' });
  assert.deepEqual(await notes.describeUnreadable(), [
    'guarded.shut has row level security and no policy, so anon and authenticated see no rows. A policy that shows them, such as:',
    '  create policy readable on guarded.shut for select using (true);',
  ]);
  assert.match((await notes.describeOpen()).join('\n'), /^guarded\.open is open: anybody with the anon key may change its rows\./);
});
