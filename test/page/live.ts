/** A subscription in the page, in a browser: it answers as rows change, shows what changed, and ends with its caller. Part of `npm run test:page`. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Page } from 'playwright-core';
import type { Printed } from '../process/start-dev.ts';
import { findBarriers, type ShownPage } from './browser.ts';
import { execute, preparePages, tab } from './page-world.ts';

let dev: Printed;
const pages = preparePages(async (pages) => {
  dev = await pages.startDev();
});

const query = 'subscription Wing { speciesCollection(filter: {code: {eq: "ALCATT"}}) { edges { node { nodeId name wingspanCm } } } }';
const badge = (page: Page) => page.locator('.live-badge');

const open = (context: TestContext): Promise<ShownPage> => pages.showDev(context, dev, `?${new URLSearchParams({ query })}`);

/** Changes the row as the service role. */
async function widen(centimetres: number): Promise<void> {
  const mutation = `mutation { updateSpeciesCollection(filter: {code: {eq: "ALCATT"}}, set: {wingspanCm: ${centimetres}}) { affectedCount } }`;
  const response = await fetch(dev.facts['GraphQL URL'] ?? '', {
    method: 'POST',
    headers: { apikey: dev.facts['service_role key'] ?? '', 'content-type': 'application/json' },
    body: JSON.stringify({ query: mutation }),
  });
  assert.deepEqual(await response.json(), { data: { updateSpeciesCollection: { affectedCount: 1 } } });
}

test('a subscription answers in the page as rows change, and says what changed', async (context) => {
  const shown = await open(context);
  const { page } = shown;
  await execute(page);
  await badge(page)
    .filter({ hasText: /Live · 1 answer/ })
    .waitFor();
  await tab(page, 'Changes').click();
  await page.getByText('The first answer.').waitFor();
  await widen(26);
  await badge(page)
    .filter({ hasText: /Live · 2 answers/ })
    .waitFor();
  const line = page.getByRole('row', { name: /wingspanCm/ });
  assert.match((await line.innerText()).replaceAll(/\s+/g, ' '), /± speciesCollection › Common Kingfisher › wingspanCm "25\.0" "26\.0"/);
  assert.deepEqual(await findBarriers(shown), []);
  await page.getByRole('button', { name: /^Stop query/ }).click();
  await badge(page)
    .filter({ hasText: /Ended · 2 answers/ })
    .waitFor();
  await widen(25);
  await tab(page, 'Response').click();
  await page.locator('.result-window .view-lines').filter({ hasText: /26/ }).waitFor();
});

test('another caller ends it', async (context) => {
  const { page } = await open(context);
  await execute(page);
  await badge(page).filter({ hasText: /Live/ }).waitFor();
  await page.getByLabel('Role').selectOption('service_role');
  await badge(page).waitFor({ state: 'detached' });
});
