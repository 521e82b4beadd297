/** The page of `rowgraph dev --database-url` on a database of the user's own, with an ordinary login: all views work. Run by `npm run test:page`. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import pg from 'pg';
import type { Printed } from '../process/start-dev.ts';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';
import { preparePages, view } from './page-world.ts';

const sql = `
  create role web; create role member; create role app login password 'secret'; grant web, member to app;
  create table customer (id int primary key, name text not null);
  create table invoice (id int primary key generated always as identity, customer int references customer, total numeric);
  alter table invoice enable row level security;
  create policy own on invoice to member using (customer::text = current_setting('request.jwt.claims', true)::json ->> 'sub');
  grant select on customer to web, member, app; grant select, insert, update, delete on invoice to member;
  insert into customer values (1, 'Ada'), (2, 'Bela'); insert into invoice (customer, total) values (1, 10), (2, 20);`;

let server: PostgresServer;
let dev: Printed;
const pages = preparePages(async (pages) => {
  server = await startPostgres();
  const client = new pg.Client(server.url);
  await client.connect();
  await client.query(sql);
  await client.end();
  const url = new URL(server.url);
  Object.assign(url, { username: 'app', password: 'secret' });
  dev = await pages.startDev('--database-url', url.href, '--anon-role', 'web');
});
after(async () => {
  await server?.stop();
});

/** What each view shows of this database, once it is there. */
const views: readonly (readonly [name: string, shown: RegExp])[] = [
  ['Rows', /2 rows[\s\S]*Bela/],
  ['Diagram', /customer[\s\S]*name/],
  ['Policies', /invoice[\s\S]*customer/],
  ['Doctor', /unindexed-foreign-key/],
  ['Query', /customerCollection/],
];

test('an ordinary login: all views show the database, and the roles and users that it may act as', async (context) => {
  const shown = await pages.showDev(context, dev);
  const { page } = shown;
  assert.deepEqual((await page.getByLabel('Role').first().getByRole('option').allInnerTexts()).slice(0, 2), ['web', 'member']);
  assert.deepEqual(await page.getByLabel('User').first().getByRole('option').allInnerTexts(), ['nobody', 'Ada', 'Bela']);
  for (const [name, text] of views) {
    await view(page, name).click();
    await page.locator('body').filter({ hasText: text }).waitFor();
  }
  assert.deepEqual(shown.complaints, []);
});
