/** The explorer in a browser: it builds operations by clicks and by keys. Part of `npm run test:page`. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Page } from 'playwright-core';
import type { Printed } from '../process/start-dev.ts';
import type { Look, ShownPage } from './browser.ts';
import { editor, openExplorer, preparePages, run, textOf, waitForText, write } from './page-world.ts';

let dev: Printed;
const pages = preparePages(async (pages) => {
  dev = await pages.startDev();
});

const open = (context: TestContext, look: Look = {}, search = ''): Promise<ShownPage> => pages.showDev(context, dev, search, look);
const field = (page: Page, name: string) => page.locator(`[role=treeitem][data-name="${name}"]`);

test('the explorer builds a query by clicks, and leaves the rest of the document as it is', async (context) => {
  const shown = await open(context);
  const { page, complaints } = shown;
  await write(page, '# Mine.\nquery Clicked { __typename }');
  await openExplorer(page);
  await field(page, 'siteCollection').click();
  await waitForText(editor(page), /# Mine\..*query Clicked \{\s*siteCollection \{\s*edges/s);
  await field(page, 'first').first().click();
  await page.getByLabel('Value of first').fill('2');
  await waitForText(editor(page), /siteCollection\(first: 2\)/);
  await run(shown, /"siteCollection"/);
  await field(page, 'siteCollection').click();
  await page.getByText('A new query, Clicked: choose its first field.').waitFor();
  assert.equal((await textOf(editor(page))).trim(), '# Mine.', 'nothing is left behind');
  await page.getByRole('button', { name: 'Add a query' }).click();
  await field(page, 'taxonCollection').click();
  await waitForText(editor(page), /# Mine\..*query MyQuery \{\s*taxonCollection/s);
  assert.deepEqual(complaints, []);
});

test('the explorer builds a query by keys alone', async (context) => {
  const shown = await open(context);
  const { page, complaints } = shown;
  await write(page, 'query Typed { __typename }');
  await openExplorer(page);
  await page.getByLabel('Find a field').focus();
  await page.keyboard.press('Tab');
  const focused = page.locator('[role=treeitem]:focus');
  await focused.waitFor();
  while ((await focused.getAttribute('data-name')) !== 'siteCollection') await page.keyboard.press('s');
  await page.keyboard.press('Space');
  await waitForText(editor(page), /siteCollection \{/);
  await page.keyboard.press('ArrowRight');
  assert.equal(await focused.getAttribute('data-name'), 'first');
  await page.keyboard.press('Enter');
  await page.getByLabel('Value of first').waitFor();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Control+A');
  await page.keyboard.type('3');
  await waitForText(editor(page), /siteCollection\(first: 3\)/);
  await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('ArrowLeft');
  assert.deepEqual([await focused.getAttribute('data-name'), await focused.getAttribute('aria-expanded')], ['siteCollection', 'true']);
  await page.keyboard.press('ArrowLeft');
  await field(page, 'first').waitFor({ state: 'detached' });
  await page.keyboard.press('Home');
  assert.equal(await focused.getAttribute('aria-posinset'), '1');
  assert.deepEqual(complaints, []);
});

test('the explorer says that it found nothing, and adds what it found', async (context) => {
  const { page } = await open(context);
  await openExplorer(page);
  await page.getByLabel('Find a field').fill('xylophone');
  await page.getByText('Nothing that this role can reach has “xylophone” in its name.').waitFor();
  await page.getByLabel('Find a field').fill('wingspan');
  await page.locator('[role=treeitem][data-name=wingspanCm]').first().click();
  await waitForText(editor(page), /wingspanCm/);
});
