import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { PGlite } from '@electric-sql/pglite';
import { startPglite } from '../../../test/support/pglite.ts';
import { readDirectiveNotes } from './directive-notes.ts';

let pglite: PGlite;
before(async () => {
  pglite = await startPglite();
});
after(() => pglite.close());

test('schemas with different directives are reported separately', async () => {
  await pglite.exec(`create schema shop; create schema "Old Shop";
    create table shop.item (id int primary key); create table "Old Shop".item (id int primary key); create table public.note (id int primary key);
    comment on schema shop is '@graphql({"inflect_names": true, "max_rows": 50})'; comment on schema "Old Shop" is 'As it was.';
    comment on table shop.item is '@graphql({"totalCount": {"enabled": true}})';`);
  const { rows, isSuggestion, statements } = await readDirectiveNotes(pglite, ['shop', 'Old Shop', 'public']);
  assert.deepEqual(Object.fromEntries(rows), {
    names: 'inflected in shop, as in the database in "Old Shop", public',
    'page size': '30 rows or 50 rows at most, even with first: 1000',
    totalCount: 'on for 1 of 3 tables',
    aggregate: 'off, until enabled for a table',
  });
  // An object with a comment of its own keeps it.
  assert.deepEqual(
    [isSuggestion, statements],
    [true, [`comment on schema public is '@graphql({"inflect_names": true, "max_rows": 100})';`]],
  );
});
