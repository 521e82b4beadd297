/** Who sees what, in a browser: policies in plain words, and two callers side by side. Run by `npm run test:page`. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Page } from 'playwright-core';
import type { Printed } from '../process/start-dev.ts';
import { findBarriers, type Look, type ShownPage } from './browser.ts';
import { giveKey, preparePages, tab, view } from './page-world.ts';

const sql = `
  comment on schema public is '@graphql({"inflect_names": true})';
  create table member (id text primary key, name text);
  insert into member values ('ada', 'Ada'), ('bob', 'Bob');
  create table post (id int primary key, title text, secret text, author text);
  insert into post select i, 'Post ' || i, 'secret ' || i, case when i % 2 = 0 then 'ada' else 'bob' end from generate_series(1, 6) i;
  insert into post values (7, 'Public', 'x', null);
  alter table post enable row level security;
  revoke all on post from anon; grant select (id, title, author) on post to anon;
  create policy public_posts on post for select using (author is null);
  create policy own_posts on post for select to authenticated using (author = current_setting('request.jwt.claims', true)::json ->> 'sub');
  create policy "long titles" on post as restrictive for delete to authenticated using (length(title) > 3);
  create view masked with (security_invoker = false) as
    select id, case when current_setting('request.jwt.claims', true)::json ->> 'role' = 'anon' then '***' else title end as title from post;
  comment on view masked is '@graphql({"primary_key_columns": ["id"]})';
  create table numbers (id int primary key, owner text);
  insert into numbers select i, case when i <= 1500 then 'ada' else 'bob' end from generate_series(1, 3000) i;
  alter table numbers enable row level security;
  create policy own on numbers using (owner = current_setting('request.jwt.claims', true)::json ->> 'sub');
  create function count_posts() returns bigint stable security definer set search_path = public, pg_temp language sql as 'select count(*) from post';
`;

let dev: Printed;
const pages = preparePages(async (pages) => {
  dev = await pages.startSql(sql);
});

const tables = (page: Page) => page.getByRole('navigation', { name: 'Tables' });
const rows = (page: Page) => page.locator('.comparison-grid tbody tr');

async function open(context: TestContext, look: Look = {}, search = ''): Promise<ShownPage> {
  const shown = await pages.showDev(context, dev, search, look);
  await view(shown.page, 'Policies').click();
  await tables(shown.page).waitFor();
  return shown;
}

async function choose(page: Page, name: string): Promise<void> {
  await tables(page)
    .getByRole('button', { name: new RegExp(`^${name}`) })
    .click();
  await page.getByRole('heading', { level: 2, name, exact: true }).waitFor();
}

async function chooseCaller(page: Page, title: string, role: string, user?: string): Promise<void> {
  const caller = page.getByRole('group', { name: title });
  await caller.getByLabel('Role').selectOption(role);
  if (user !== undefined) await caller.getByLabel('User').selectOption({ label: user });
}

test('the grants and policies of a table are said in plain words, with the SQL', async (context) => {
  const { page, complaints } = await open(context);
  await choose(page, 'post');
  for (const sentence of [
    'anon may read only id, title and author of rows where author is null.',
    'authenticated may read rows where author = the claim sub or author is null.',
    'service_role may read every row.',
    'Policies do not apply to postgres, its owner, nor to service_role, which bypasses row level security.',
    'Lets everybody read rows where author is null.',
    'Restricts authenticated: may delete only rows where length(title) > 3, whatever other policies allow.',
  ])
    await page.getByText(sentence, { exact: true }).waitFor();
  await page.getByText(/^count_posts\(\)|public\.count_posts\(\) runs as postgres, to whom no policy applies/).waitFor();
  const anon = page.getByRole('row', { name: /^anon/ });
  assert.match(
    await anon.innerText(),
    /rows where author is null[\s\S]*only id, title, author[\s\S]*granted to anon; policy public_posts[\s\S]*may not/,
  );
  await page.locator('.code-block', { hasText: 'create policy public_posts on public.post for select to public' }).waitFor();
  await page.locator('.code-block', { hasText: /grant select \(id, title, author\) on table public\.post to anon;/ }).waitFor();
  await choose(page, 'masked');
  await page.getByText(/Mind: It reads from public\.post as postgres, its owner \(no security_invoker\)/).waitFor();
  assert.deepEqual(complaints, []);
});

test('two callers are side by side: rows that only one sees are marked by a text, and counted', async (context) => {
  const { page, complaints } = await open(context);
  await choose(page, 'post');
  await tab(page, 'Two callers').click();
  await chooseCaller(page, 'One caller', 'authenticated', 'Ada');
  await chooseCaller(page, 'The other caller', 'authenticated', 'Bob');
  await page.getByText('Ada sees 4 rows, Bob 4 rows.').waitFor();
  assert.equal(
    (await page.locator('.comparison-summary ul').innerText()).replaceAll(/\s+/g, ' '),
    '1 both see 3 only Ada sees 3 only Bob sees',
  );
  assert.equal(await rows(page).filter({ hasText: 'only Ada' }).count(), 3);
  assert.equal(await rows(page).filter({ hasText: 'only Bob' }).count(), 3);
  assert.match((await rows(page).last().innerText()).replaceAll(/\s+/g, ' '), /both 7 Public x null/);
  await page.getByLabel('Only differences').check();
  assert.equal(await rows(page).count(), 6);
  const colours = await page.evaluate(
    "['one', 'other'].map((side) => getComputedStyle(document.querySelector('.comparison-grid tr.seen.' + side)).backgroundColor)",
  );
  assert.equal(new Set(colours as string[]).size, 2, 'the sides differ in colour too');
  assert.deepEqual(complaints, []);
});

test('columns that only one may read, and values that differ, are marked', async (context) => {
  const { page, complaints } = await open(context);
  await choose(page, 'post');
  await tab(page, 'Two callers').click();
  await chooseCaller(page, 'One caller', 'authenticated', 'Ada');
  await chooseCaller(page, 'The other caller', 'anon', 'nobody');
  await page.getByRole('columnheader', { name: 'secret only Ada' }).waitFor();
  await page.getByText('Ada may read secret, and nobody (anon) may not.').waitFor();
  await choose(page, 'masked');
  await page.getByText('7 with different values').waitFor();
  assert.match((await rows(page).first().innerText()).replaceAll(/\s+/g, ' '), /both 1 Ada: Post 1 nobody \(anon\): \*\*\*/);
  assert.deepEqual(complaints, []);
});

test('rows are compared beyond what is read, if there are many', async (context) => {
  const { page, complaints } = await open(context);
  await choose(page, 'numbers');
  await tab(page, 'Two callers').click();
  await chooseCaller(page, 'One caller', 'authenticated', 'Ada');
  await chooseCaller(page, 'The other caller', 'authenticated', 'Bob');
  await page.getByText(/Compared are the first 500 of each/).waitFor();
  assert.equal(
    (await page.locator('.comparison-summary ul').innerText()).replaceAll(/\s+/g, ' '),
    '0 both see 500 only Ada sees 500 only Bob sees',
  );
  assert.deepEqual(complaints, []);
});

test('the operation in the editor is asked as both, and its answers are one text', async (context) => {
  const query = 'query Posts { postCollection { edges { node { title } } } } mutation Change { __typename }';
  const { page, complaints } = await open(context, {}, `?query=${encodeURIComponent(query)}`);
  await choose(page, 'The operation in the editor');
  await chooseCaller(page, 'One caller', 'authenticated', 'Ada');
  await chooseCaller(page, 'The other caller', 'anon', 'nobody');
  await page.getByText('3 only Ada gets').waitFor();
  await page.locator('.answer-line.one', { hasText: '"title": "Post 2"' }).waitFor();
  assert.equal(await page.getByText('only Ada', { exact: true }).count(), 1, 'a run of lines is named once');
  assert.equal(await page.getByText('rowgraphIdentity').count(), 0);
  await page.getByRole('combobox', { name: 'Operation' }).selectOption('Change');
  await page.getByText('Only queries are compared: a mutation would run twice.').waitFor();
  assert.deepEqual(complaints, []);
});

test('the URL keeps the table and the callers; Rows opens from there; a table is found by its name', async (context) => {
  const { page, complaints } = await open(context);
  await page.getByLabel('Find a table').fill('pos');
  assert.equal(await tables(page).getByRole('listitem').count(), 2);
  await choose(page, 'post');
  await tab(page, 'Two callers').click();
  await chooseCaller(page, 'The other caller', 'authenticated', 'Bob');
  await page.getByText(/Bob 4 rows/).waitFor();
  const other = await pages.show(context, page.url());
  await other.page.getByText(/Bob 4 rows/).waitFor();
  await page.getByLabel('Find a table').fill('xylophone');
  await page.getByText('No table has “xylophone” in its name.').waitFor();
  await page.getByRole('button', { name: 'Open in Rows' }).click();
  await page.locator('nav[aria-label=Views] [aria-current=page]', { hasText: 'Rows' }).waitFor();
  assert.match(decodeURIComponent(page.url()), /view=Rows.*rows=\{"table":"Post"/s);
  assert.deepEqual([...complaints, ...other.complaints], []);
});

test('all of it is reached by keys alone', async (context) => {
  const { page, complaints } = await open(context);
  await page.getByLabel('Find a table').focus();
  await page.keyboard.type('post');
  const focused = page.locator(':focus');
  for (const name of ['The operation in the editor', 'post']) {
    await page.keyboard.press('Tab');
    assert.equal((await focused.innerText()).split('\n')[0], name);
  }
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 2, name: 'post' }).waitFor();
  for (let step = 0; (await focused.innerText()) !== 'Two callers' && step < 8; step++) await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.locator('.comparison-grid').waitFor();
  await page.locator('.comparison-grid').focus();
  assert.deepEqual(complaints, []);
});

for (const look of [{}, { colorScheme: 'dark' }, { width: 390, height: 800 }] as const satisfies readonly Look[])
  test(`axe finds no barriers, and nothing hangs over the edge: ${JSON.stringify(look)}`, async (context) => {
    const shown = await open(context, look);
    const { page } = shown;
    await choose(page, 'post');
    const found: Record<string, unknown> = { words: await findBarriers(shown) };
    await tab(page, 'Two callers').click();
    await page.locator('.comparison-grid').waitFor();
    found.callers = await findBarriers(shown);
    await choose(page, 'The operation in the editor');
    await page.locator('.answer-lines').waitFor();
    found.editor = await findBarriers(shown);
    assert.deepEqual(found, { words: [], callers: [], editor: [] });
    const { width = 1280 }: Look = look;
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), width);
  });

test('elsewhere than in dev, the view says why it shows nothing', async (context) => {
  const { page } = await pages.showServed(context, 'create table letter (id int primary key);');
  await giveKey(page);
  await view(page, 'Policies').click();
  await page.getByText('Who sees what is shown on your own machine only').waitFor();
  assert.equal((await fetch(new URL('/graphiql/access', page.url()), { method: 'POST', body: '{}' })).status, 404);
});
