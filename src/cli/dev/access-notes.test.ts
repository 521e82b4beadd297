import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type PgliteGraph, startPgliteGraph } from '../../../test/support/pglite-graph.ts';
import { AccessNotes } from './development-notes.ts';

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
