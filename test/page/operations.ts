/** The page in a browser: Ctrl-K, saved operations, code to copy, the key form, and the face of it all. Part of `npm run test:page`. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { signKey } from '../../src/auth/sign-key.ts';
import type { Printed } from '../process/start-dev.ts';
import { until } from '../support/until.ts';
import { findBarriers, type Look, type ShownPage } from './browser.ts';
import { dialog, editor, giveKey, panel, preparePages, secret, view, waitForText, write } from './page-world.ts';

/** With a folder of operations. */
let dev: Printed;
const pages = preparePages(async (pages) => {
  dev = await pages.startDev('--operations', 'operations');
});

const open = (context: TestContext, look: Look = {}): Promise<ShownPage> => pages.showDev(context, dev, '', look);

/** Another tab of the same browser. */
async function openTab({ context }: ShownPage): Promise<Page> {
  const page = await context.newPage();
  await page.goto(dev.facts['GraphiQL URL'] ?? '');
  await editor(page).waitFor();
  return page;
}

const found = (page: Page, name: string | RegExp) => dialog(page).getByRole('option', { name });
const saved = (page: Page, name: string) =>
  page.getByRole('region', { name: 'Saved operations' }).getByRole('button', { name, exact: true });

/** It stays open in other tabs and after a reload. */
async function openPanel(page: Page, name: string): Promise<void> {
  if ((await panel(page, name).getAttribute('aria-pressed')) === 'false') await panel(page, name).click();
}

async function find(page: Page, text: string): Promise<void> {
  await page.keyboard.press('Control+K');
  await page.keyboard.type(text);
}

async function saveAs(page: Page, name: string): Promise<void> {
  await page.keyboard.press('Control+S');
  await dialog(page).getByLabel('Name').fill(name);
  await page.keyboard.press('Enter');
  await page.getByText(`Saved as ${name},`).waitFor();
}

test('Ctrl-K finds tables, fields, docs, roles and users, by keyboard alone', async (context) => {
  const shown = await open(context);
  const { page, complaints } = shown;
  // Also from within the editor, which has keys that begin so.
  await editor(page).click();
  await find(page, 'sighting');
  await found(page, /^Sighting sightingCollection/).waitFor();
  const list = (await dialog(page).getByRole('listbox').boundingBox())!;
  const best = (await dialog(page).locator('[aria-selected=true]').boundingBox())!;
  assert.ok(best.y >= list.y && best.y < list.y + 80, 'the best is selected, and in sight');
  await page.keyboard.press('Enter');
  await page.getByRole('region', { name: 'Rows of Sighting' }).waitFor();
  await find(page, 'species scient');
  await found(page, /^Species\.scientificName/).waitFor();
  await page.keyboard.press('Enter');
  await page.locator('.graphiql-doc-explorer-title', { hasText: 'scientificName' }).waitFor();
  await find(page, 'SpeciesFilter');
  await found(page, /^SpeciesFilter/)
    .first()
    .waitFor();
  await page.keyboard.press('Enter');
  await page.locator('.graphiql-doc-explorer-title', { hasText: 'SpeciesFilter' }).waitFor();
  await find(page, 'authenticated');
  await found(page, /^authenticated act as/).waitFor();
  await page.keyboard.press('Enter');
  await until(async () => (await page.getByLabel('Role').inputValue()) === 'authenticated');
  await find(page, 'ada br');
  await found(page, /^Ada Brandt/).waitFor();
  await page.keyboard.press('Enter');
  await until(async () => (await page.getByLabel('User').locator('option:checked').innerText()) === 'Ada Brandt');
  await find(page, 'doctor');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: /^Findings of the doctor/ }).waitFor();
  await find(page, 'xylophone');
  await dialog(page).getByText('Nothing has “xylophone” in its name.').waitFor();
  await page.keyboard.press('Escape');
  await dialog(page).waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Search' }).click();
  await found(page, /^Rows view/).waitFor();
  await page.keyboard.press('ArrowDown');
  assert.equal(await dialog(page).locator('[aria-selected=true]').getAttribute('data-value'), 'Views Rows view');
  await page.keyboard.press('Control+K');
  await dialog(page).waitFor({ state: 'detached' });
  assert.deepEqual(complaints, []);
});

test('operations are saved as files in folders, with variables, and opened, renamed and removed', async (context) => {
  const shown = await open(context);
  const { page, complaints } = shown;
  await write(page, 'query Monthly($first: Int) { siteCollection(first: $first) { edges { node { name } } } }');
  await page.getByRole('button', { name: 'Variables' }).click();
  await page.locator('.graphiql-editor-tool .view-lines').first().click();
  await page.keyboard.insertText('{"first": 2}');
  await page.keyboard.press('Control+S');
  assert.equal(await dialog(page).getByLabel('Name').inputValue(), 'Monthly', 'the name of the operation is suggested');
  await dialog(page).getByLabel('Name').fill('reports/Monthly');
  await page.keyboard.press('Enter');
  await page.getByText(/^Saved as reports\/Monthly, in /).waitFor();
  const folder = path.join(pages.home, 'operations');
  assert.match(await readFile(path.join(folder, 'reports/Monthly.graphql'), 'utf8'), /^query Monthly/);
  assert.equal(await readFile(path.join(folder, 'reports/Monthly.variables.json'), 'utf8'), '{"first": 2}');
  await openPanel(page, 'Saved');
  await saved(page, 'Monthly').waitFor();
  await writeFile(path.join(folder, 'Outside.graphql'), 'query Outside { __typename }\n');
  const other = await openTab(shown);
  await openPanel(other, 'Saved');
  await saved(other, 'Outside').click();
  await waitForText(editor(other), /query Outside/);
  await saved(other, 'Monthly').click();
  await waitForText(editor(other), /query Monthly/);
  await waitForText(other.locator('.graphiql-editor-tool .view-lines').first(), /"first": 2/);
  await saved(other, 'Rename reports/Monthly').click();
  await dialog(other).getByLabel('Name').fill('Outside');
  await other.keyboard.press('Enter');
  await dialog(other).getByText('This name is taken.').waitFor();
  await dialog(other).getByLabel('Name').fill('Yearly');
  await other.keyboard.press('Enter');
  await saved(other, 'Yearly').waitFor();
  assert.match(await readFile(path.join(folder, 'Yearly.variables.json'), 'utf8'), /first/);
  await saved(other, 'Remove Yearly').click();
  await dialog(other).getByRole('button', { name: 'Remove' }).click();
  await saved(other, 'Yearly').waitFor({ state: 'detached' });
  await assert.rejects(readFile(path.join(folder, 'Yearly.graphql')), { code: 'ENOENT' });
  await find(other, 'outside');
  await found(other, /^Outside open/).click();
  await waitForText(editor(other), /query Outside/);
  await saved(other, 'Save as …').click();
  await dialog(other).getByLabel('Name').fill('../../escaped');
  await other.keyboard.press('Enter');
  await other.getByText('"../../escaped" cannot name a saved operation').waitFor();
  await rm(path.join(folder, 'Outside.graphql'));
  assert.deepEqual(
    complaints.filter((each) => !each.includes('status of 400')),
    [],
  );
});

test('neither another tab nor an editor outside is overwritten without being asked', async (context) => {
  const shown = await open(context);
  const { page } = shown;
  await write(page, 'query Shared { __typename }');
  await saveAs(page, 'Shared');
  const file = path.join(pages.home, 'operations/Shared.graphql');
  await writeFile(file, 'query Shared { outside: __typename }');
  await write(page, 'query Shared { mine: __typename }');
  await page.keyboard.press('Control+S');
  await dialog(page).getByRole('heading', { name: 'Shared is there with another text' }).waitFor();
  await dialog(page).getByText('outside: __typename').waitFor();
  await page.keyboard.press('Escape');
  assert.match(await readFile(file, 'utf8'), /outside/, 'nothing was changed');
  await page.keyboard.press('Control+S');
  await dialog(page).getByRole('button', { name: 'Overwrite it with this tab' }).click();
  await until(async () => (await readFile(file, 'utf8')).includes('mine'));
  await dialog(page).waitFor({ state: 'detached' });
  await rm(file);
  await page.keyboard.press('Control+S');
  await dialog(page).getByRole('heading', { name: 'Shared was removed elsewhere' }).waitFor();
  await dialog(page).getByRole('button', { name: 'Save this one' }).click();
  await until(async () => (await readFile(file, 'utf8').catch(() => '')).includes('mine'));
  await rm(file);
});

test('elsewhere they are kept in the browser, also for another tab, which is not overwritten either', async (context) => {
  const shown = await pages.showServed(context, 'create table letter (id int primary key, body text);');
  const { page, context: tabs } = shown;
  await giveKey(page);
  await write(page, 'query First { __typename }');
  await saveAs(page, 'notes/First');
  const other = await tabs.newPage();
  await other.goto(page.url());
  await giveKey(other);
  await openPanel(other, 'Saved');
  await other.getByText('Kept in this browser.').waitFor();
  await saved(other, 'First').click();
  await waitForText(editor(other), /query First/);
  await write(other, 'query First { theirs: __typename }');
  await other.keyboard.press('Control+S');
  await other.getByText('Saved as notes/First, in this browser.').waitFor();
  await write(page, 'query First { mine: __typename }');
  await page.keyboard.press('Control+S');
  await dialog(page).getByText('theirs: __typename').waitFor();
  await dialog(page).getByRole('button', { name: 'Open that one in a tab' }).click();
  await waitForText(editor(page), /theirs/);
  // GraphiQL stores its tabs some time after they have changed.
  await until(async () => (await page.evaluate(`(localStorage.getItem('graphiql:tabState') ?? '').includes('theirs')`)) === true);
  await page.reload();
  await giveKey(page);
  await openPanel(page, 'Saved');
  await page.getByRole('button', { name: 'Save First' }).waitFor();
});

test('the operation is copied as code that runs, with the key of the caller only if asked', async (context) => {
  const { page, complaints } = await open(context);
  await write(page, 'query Copied { siteCollection(first: 1) { edges { node { name } } } }');
  await page.getByRole('button', { name: 'Copy as code' }).click();
  for (const kind of ['fetch', 'Apollo', 'urql', 'Relay', 'Python', 'curl']) {
    await dialog(page).getByRole('radio', { name: kind }).check({ force: true });
    await dialog(page).locator('pre').filter({ hasText: 'YOUR_KEY' }).filter({ hasText: 'siteCollection' }).waitFor();
  }
  await dialog(page)
    .getByLabel(/^With the key of this caller/)
    .check();
  await dialog(page)
    .locator('pre')
    .filter({ hasText: /apiKey: eyJ/ })
    .waitFor();
  await dialog(page).getByRole('button', { name: 'Copy' }).click();
  await page.getByText('Copied as curl.').waitFor();
  const code = String(await page.evaluate('navigator.clipboard.readText()'));
  const { stdout } = await promisify(execFile)('sh', ['-c', `${code} --silent`]);
  assert.match(stdout, /"siteCollection":/);
  await write(page, 'query Wrong wrong');
  await page.getByRole('button', { name: 'Copy as code' }).click();
  await dialog(page)
    .getByText(/^Correct the document first: Syntax Error/)
    .waitFor();
  assert.deepEqual(complaints, []);
});

test('the form for a key says whose it is, whether the server takes it, and what to do without introspection', async (context) => {
  const shown = await pages.showServed(context, 'create table letter (id int primary key);', 'off');
  const { page } = shown;
  const key = page.getByLabel(/Key of the project/);
  await key.fill('nonsense');
  await page.getByText(/The server refuses it: The apiKey is not a JSON Web Token/).waitFor();
  await key.fill(await signKey('another-secret-of-tests-with-more-than-32-bytes', 'anon', '1 hour'));
  await page.getByText('Its role is anon.').waitFor();
  await page.getByText(/^The server refuses it: /).waitFor();
  assert.deepEqual(await findBarriers(shown), []);
  await key.fill(await signKey(secret, 'service_role', '1 hour'));
  await page.getByText(/The server accepts it, and introspection is off/).waitFor();
  await page.getByText(/start the server with --introspection on/).waitFor();
  await page.getByRole('button', { name: 'Use these' }).click();
  await page.getByText('as service_role').waitFor();
  await page.getByText('The schema could not be read: Introspection is disabled.').waitFor();
  assert.deepEqual(await findBarriers(shown), []);
});

test('the page has a title, an icon of its own, and a rail with labels', async (context) => {
  const { page } = await open(context);
  assert.equal(await page.title(), 'rowgraph');
  const icon = await page.locator('link[rel=icon]').getAttribute('href');
  assert.match(decodeURIComponent(icon ?? ''), /^data:image\/svg\+xml,<svg/);
  for (const name of ['Query', 'Rows', 'Diagram', 'Doctor']) assert.ok(await view(page, name).getByText(name).isVisible());
  for (const name of ['Docs', 'Explorer', 'Saved', 'History']) assert.ok(await panel(page, name).isVisible());
  await page.getByRole('button', { name: 'Settings' }).click();
  await dialog(page).getByRole('button', { name: 'Dark' }).click();
  await page.keyboard.press('Escape');
  assert.equal(await page.evaluate('getComputedStyle(document.documentElement).colorScheme'), 'dark');
  await page.getByRole('button', { name: 'Keys' }).click();
  await dialog(page).getByText('Short Keys').waitFor();
});

for (const look of [{}, { colorScheme: 'dark' }, { width: 390, height: 800 }] as const satisfies readonly Look[])
  test(`axe finds no barriers in Ctrl-K, saved operations, code and dialogs: ${JSON.stringify(look)}`, async (context) => {
    const shown = await open(context, look);
    const { page } = shown;
    const barriers: Record<string, readonly string[]> = {};
    await page.getByRole('button', { name: 'Search' }).click();
    await found(page, /^Species species/).waitFor();
    barriers.Search = await findBarriers(shown);
    await page.keyboard.type('species name');
    await found(page, /^Species\.name/).waitFor();
    barriers.Found = await findBarriers(shown);
    await page.keyboard.press('Escape');
    await saveAs(page, 'reports/Axe');
    await openPanel(page, 'Saved');
    await saved(page, 'Axe').waitFor();
    barriers.Saved = await findBarriers(shown);
    await saved(page, 'Remove reports/Axe').click();
    await dialog(page).waitFor();
    barriers.Remove = await findBarriers(shown);
    await dialog(page).getByRole('button', { name: 'Remove' }).click();
    await page.getByText('Nothing is saved yet.').waitFor();
    barriers.Empty = await findBarriers(shown);
    await panel(page, 'Saved').click();
    await page.getByRole('button', { name: 'Copy as code' }).click();
    await dialog(page).locator('pre').waitFor();
    barriers.Copy = await findBarriers(shown);
    assert.deepEqual(Object.fromEntries(Object.entries(barriers).filter(([, each]) => each.length > 0)), {});
  });
