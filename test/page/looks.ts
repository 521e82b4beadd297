/** The page in light and dark, on phones and large screens: nothing hangs over, all can be reached, axe finds no barriers. Part of `npm run test:page`. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Printed } from '../process/start-dev.ts';
import { until } from '../support/until.ts';
import { findBarriers, type Look, type ShownPage } from './browser.ts';
import { openExplorer, panel, preparePages, run, tab, table, view } from './page-world.ts';

let dev: Printed;
const pages = preparePages(async (pages) => {
  dev = await pages.startDev();
});

const open = (context: TestContext, look: Look = {}, search = ''): Promise<ShownPage> => pages.showDev(context, dev, search, look);

for (const look of [
  { width: 390, height: 800 },
  { width: 768, height: 1024, colorScheme: 'dark' },
  { width: 1280, height: 800 },
  { width: 2560, height: 1440, colorScheme: 'dark' },
] as const satisfies readonly Look[])
  test(`nothing hangs over the edge: ${JSON.stringify(look)}`, async (context) => {
    const shown = await open(context, look);
    const { page, complaints } = shown;
    const overhang = async (): Promise<unknown> =>
      page.evaluate('[document.documentElement.scrollWidth, document.documentElement.scrollHeight]');
    const found: Record<string, unknown> = {};
    await run(shown, /Godwit/);
    found.Query = await overhang();
    await openExplorer(page);
    found.Explorer = await overhang();
    for (const [name, place] of [
      ['Diagram', '.table-box'],
      ['Rows', '.row-grid tbody tr'],
      ['Doctor', '.doctor h2'],
    ] as const) {
      await view(page, name).click();
      await page.locator(place).first().waitFor();
      found[name] = await overhang();
    }
    const size = [look.width, look.height];
    assert.deepEqual(found, { Query: size, Explorer: size, Diagram: size, Rows: size, Doctor: size });
    assert.deepEqual(complaints, []);
  });

test('on a phone there is room for the result', async (context) => {
  const shown = await open(context, { width: 390, height: 800 });
  const { page, complaints } = shown;
  await run(shown, /Godwit/);
  const box = await page.locator('.result-window').boundingBox();
  assert.ok(box !== null && box.width >= 340 && box.height >= 250, JSON.stringify(box));
  assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390, 'nothing hangs over the edge');
  await tab(page, 'Plan').click();
  await page.getByText(/ms to run/).waitFor();
  await view(page, 'Diagram').click();
  await table(page, 'Species').waitFor();
  await view(page, 'Rows').click();
  await page.locator('.row-grid tbody tr').first().waitFor();
  assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390);
  assert.deepEqual(complaints, []);
});

for (const look of [{}, { colorScheme: 'dark' }, { width: 390, height: 800 }] as const satisfies readonly Look[])
  test(`axe finds no barriers: ${JSON.stringify(look)}`, async (context) => {
    const shown = await open(context, look);
    const { page } = shown;
    await run(shown, /Godwit/);
    const found: Record<string, readonly string[]> = { Response: await findBarriers(shown) };
    for (const name of ['SQL', 'Plan', 'Cost', 'Advice', 'Timing']) {
      await tab(page, name).click();
      await page
        .locator('#result-panel')
        .filter({ hasText: name === 'Timing' ? /bytes/ : /statement|rolled back|At most|each field/ })
        .waitFor();
      found[name] = await findBarriers(shown);
    }
    await openExplorer(page);
    found.Explorer = await findBarriers(shown);
    await panel(page, 'Docs').click();
    await page.locator('.graphiql-doc-explorer-type-name').first().waitFor();
    const search = page.locator('.graphiql-doc-explorer-search-input input');
    assert.ok((await search.boundingBox())!.width >= 70, 'the keys of the search are legible');
    found.Documentation = await findBarriers(shown);
    await panel(page, 'History').click();
    await page.locator('.graphiql-history-item-label').first().waitFor();
    found.History = await findBarriers(shown);
    await view(page, 'Diagram').click();
    await table(page, 'Species').waitFor();
    found.Diagram = await findBarriers(shown);
    await view(page, 'Rows').click();
    await page.locator('.row-grid tbody tr').first().waitFor();
    found.Rows = await findBarriers(shown);
    await view(page, 'Doctor').click();
    await page.getByRole('heading', { name: /^Findings of the doctor/ }).waitFor();
    found.Doctor = await findBarriers(shown);
    await page.getByRole('button', { name: 'Claims' }).click();
    await page.getByRole('dialog').waitFor();
    found.Claims = await findBarriers(shown);
    assert.deepEqual(Object.fromEntries(Object.entries(found).filter(([, barriers]) => barriers.length > 0)), {});
  });

/** Whether the end of the tab next to the response is in its panel, and that in the window. */
const endIsInSight = `(() => {
  const panel = document.querySelector('#result-panel');
  const end = [...panel.querySelectorAll('pre, li, tr, p, dd')].at(-1);
  const bottomOf = (element) => element.getBoundingClientRect().bottom;
  return bottomOf(end) <= bottomOf(panel) + 1 && bottomOf(panel) <= innerHeight;
})()`;

for (const width of [390, 1280, 1440]) {
  test(`at a width of ${width}, the end of each tab can be reached`, async (context) => {
    const shown = await open(context, { width, height: 900 });
    const { page } = shown;
    await run(shown, /Godwit/);
    const shownTab = page.locator('#result-panel');
    for (const [name, content] of Object.entries({ SQL: 'pre', Plan: '.plan-node', Cost: 'tr', Timing: 'tr' })) {
      await tab(page, name).click();
      await shownTab.locator(content).last().waitFor();
      await shownTab.hover();
      await page.mouse.wheel(0, 100_000);
      await until(async () => (await page.evaluate(endIsInSight)) === true);
    }
  });
}
