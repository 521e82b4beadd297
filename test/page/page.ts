/**
 * The page at `/graphiql` in a browser, as people use it: `npm run test:page`. It needs Debian's chromium and is therefore no part of `npm test`, which tests
 * over HTTP what the page is given.
 */
import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import pg from 'pg';
import type { Browser, Locator, Page } from 'playwright-core';
import { bundleGraphiql } from '../../graphiql/bundle.ts';
import { signKey } from '../../src/auth/sign-key.ts';
import { startServer } from '../../src/http/transport/start-server.ts';
import { createTelemetry } from '../../src/telemetry/create-telemetry.ts';
import { makeFolder, removeFolder } from '../process/run-command.ts';
import { type Printed, startDev } from '../process/start-dev.ts';
import { startPgliteGraph } from '../support/pglite-graph.ts';
import { until } from '../support/until.ts';
import { findBarriers, type Look, openPage, type ShownPage, startBrowser } from './browser.ts';

const bundle = path.join(import.meta.dirname, '../../dist/graphiql');
let home: string;
let dev: Printed;
let browser: Browser;
before(async () => {
  browser = await startBrowser();
  await bundleGraphiql();
  home = await makeFolder();
  dev = await startDev(home);
});
after(async () => {
  await browser?.close();
  await dev?.command.stop();
  if (home !== undefined) await removeFolder(home);
});

/** The page of `rowgraph dev`, once its editor and its schema are there. It must end without complaints. */
async function open(context: TestContext, look: Look = {}, search = ''): Promise<ShownPage> {
  return openAt(context, `${dev.facts['GraphiQL URL']}${search}`, look);
}

async function openAt(context: TestContext, url: string, look: Look = {}): Promise<ShownPage> {
  const shown = await openPage(browser, url, look);
  context.after(() => shown.context.close());
  await editor(shown.page).waitFor();
  return shown;
}

const editor = (page: Page) => page.locator('.graphiql-query-editor .view-lines').first();
const result = (page: Page) => page.locator('.result-window .view-lines');
const role = (page: Page) => page.getByLabel('Role');
const operation = (page: Page, name: string) => page.getByRole('listitem').getByRole('button', { name, exact: true });
const table = (page: Page, name: string) =>
  page
    .locator('.table-box')
    .filter({ has: page.getByText(name, { exact: true }) })
    .first();
const tab = (page: Page, name: string) => page.getByRole('tab', { name, exact: true });
const view = (page: Page, name: string) => page.getByRole('navigation', { name: 'Views' }).getByRole('button', { name });

const chooseTable = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Tables' }).getByRole('button', { name, exact: true }).click();

const field = (page: Page, name: string) => page.locator(`[role=treeitem][data-name="${name}"]`);

const panel = (page: Page, name: string) => page.getByRole('navigation', { name: 'Panels' }).getByRole('button', { name });

async function openExplorer(page: Page): Promise<void> {
  await panel(page, 'Explorer').click();
  await page.getByRole('tree').waitFor();
}

/** What an editor shows, with plain spaces. */
async function textOf(locator: Locator): Promise<string> {
  return (await locator.innerText()).replaceAll('\u00a0', ' ');
}

/** Waits until an editor shows a text. Its spaces are not plain ones. */
async function waitForText(locator: Locator, pattern: RegExp): Promise<void> {
  await locator.filter({ hasText: new RegExp(pattern.source.replaceAll(' ', '\\s')) }).waitFor();
}

/** Runs what stands in the editor, and waits for its response. */
async function run({ page }: ShownPage, pattern: RegExp): Promise<void> {
  await page.getByRole('button', { name: /^Execute query/ }).click();
  await waitForText(result(page), pattern);
}

async function write({ page }: ShownPage, query: string): Promise<void> {
  await editor(page).click();
  await page.keyboard.press('Control+A');
  await page.keyboard.insertText(query);
}

test('it opens with the operations of the example, runs one, and loads nothing from elsewhere', async (context) => {
  const shown = await open(context);
  const { page, complaints, transferred } = shown;
  for (const name of ['Species', 'Sightings', 'RareBirds', 'Report']) await operation(page, name).waitFor();
  assert.match(await textOf(editor(page)), /speciesCollection\(\s+first: 3/);
  await editor(page).click();
  await page.keyboard.press('Control+Enter');
  await waitForText(result(page), /Godwit/);
  context.diagnostic(`${transferred()} bytes over the wire`);
  const paint = await page.evaluate("performance.getEntriesByName('first-paint')[0]?.startTime");
  context.diagnostic(`first paint after ${Number(paint).toFixed(0)} ms`);
  // What workers begin with is not told of by the browser.
  const workers = page.workers().map((worker) => statSync(path.join(bundle, `${path.basename(worker.url())}.br`)).size);
  assert.ok(workers.length >= 2, 'each language is checked in a worker');
  const bytes = transferred() + workers.reduce((sum, size) => sum + size, 0);
  assert.ok(bytes < 1_500_000, `${bytes} bytes`);
  assert.deepEqual(complaints, []);
});

test('it completes a field', async (context) => {
  const shown = await open(context);
  const { page } = shown;
  await write(shown, '{ speciesCollection { edges { node {  } } } }');
  for (let step = 0; step < '  } } } }'.length - 1; step++) await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('Control+Space');
  const suggestions = page.locator('.suggest-widget.visible');
  await suggestions.getByText('scientificName').first().waitFor();
  assert.deepEqual(shown.complaints, []);
});

test('an error is marked, and the response has its place', async (context) => {
  const shown = await open(context, {}, `?query=${encodeURIComponent('{\n  speciesCollection { edges { node { wings } } }\n}')}`);
  const { page } = shown;
  await page.locator('.graphiql-query-editor .squiggly-error').first().waitFor();
  await run(shown, /Cannot query field .{1,2}wings/);
  assert.match(await textOf(result(page)), /"line": 2,\s+"column": 38/);
  // The browser itself notes the status 400 of the response.
  assert.deepEqual(
    shown.complaints.filter((each) => !each.includes('status of 400')),
    [],
  );
});

test('another role sees another schema and other rows, and a reload keeps it', async (context) => {
  const shown = await open(context);
  const { page, complaints } = shown;
  await operation(page, 'Sightings').click();
  await run(shown, /"totalCount": 0/);
  await role(page).selectOption('authenticated');
  await page.getByLabel('User').selectOption({ label: 'Ada Brandt' });
  await run(shown, /"totalCount": [1-9]/);
  assert.match(await textOf(result(page)), /Ada Brandt/);
  await page.reload();
  await editor(page).waitFor();
  assert.equal(await role(page).inputValue(), 'authenticated');
  await view(page, 'Diagram').click();
  await table(page, 'MemberProfile').waitFor();
  await role(page).selectOption('anon');
  await table(page, 'MemberProfile').waitFor({ state: 'detached' });
  await table(page, 'Species').waitFor();
  assert.equal(await page.evaluate('JSON.stringify({...localStorage, ...sessionStorage}).includes("eyJ")'), false, 'no token is kept');
  assert.deepEqual(complaints, []);
});

test('claims are a form', async (context) => {
  const { page, complaints } = await open(context);
  await page.getByRole('button', { name: 'Claims' }).click();
  await page.getByLabel('Name of the claim').fill('sub');
  await page.getByLabel('Value of sub').fill('00000000-0000-4000-8000-000000000002');
  await page.getByRole('button', { name: 'Add a claim' }).click();
  await page.getByLabel('Name of the claim').last().fill('plan');
  await page.getByLabel('Value of plan').fill('{"seats": 3}');
  await page.getByRole('button', { name: 'Use these' }).click();
  await page.getByRole('button', { name: 'Claims (2)' }).waitFor();
  assert.equal(await page.getByLabel('User').inputValue(), '00000000-0000-4000-8000-000000000002');
  assert.deepEqual(complaints, []);
});

test('tabs say what ran: SQL, the plan with times, cost, advice, timing', async (context) => {
  const shown = await open(context);
  const { page, complaints } = shown;
  await run(shown, /Godwit/);
  const shownTab = page.locator('#result-panel');
  await tab(page, 'SQL').click();
  await shownTab.getByText('One statement in one round trip, as anon.').waitFor();
  await tab(page, 'Plan').click();
  await shownTab.getByText(/ms to run, in a transaction that was rolled back/).waitFor();
  await shownTab.getByText('Index Scan').first().waitFor();
  await tab(page, 'Cost').click();
  await shownTab.getByRole('row', { name: /estimatedRows/ }).waitFor();
  await tab(page, 'Advice').click();
  await shownTab.getByText(/speciesCollection: rows of public.species/).waitFor();
  await tab(page, 'Timing').click();
  await shownTab.getByRole('row', { name: /^total/ }).waitFor();
  await tab(page, 'Response').click();
  await result(page).waitFor();
  await role(page).selectOption('authenticated');
  await page.getByLabel('User').selectOption({ label: 'Ada Brandt' });
  await operation(page, 'Report').click();
  await run(shown, /Common Kingfisher/);
  await tab(page, 'Plan').click();
  await shownTab.getByText('A mutation is planned, not run.').waitFor();
  await shownTab.getByRole('button', { name: 'Run it in a transaction that is rolled back' }).click();
  // The response has a relation, so a statement of its own reads it behind the write.
  await shownTab
    .getByText(/ms to run, in a transaction that was rolled back/)
    .nth(1)
    .waitFor();
  assert.deepEqual(complaints, []);
});

test('a link opens its query, and the page makes such links', async (context) => {
  const query = 'query Linked($first: Int) { siteCollection(first: $first) { edges { node { name } } } }';
  const search = `?query=${encodeURIComponent(query)}&variables=${encodeURIComponent('{"first": 1}')}`;
  const shown = await open(context, {}, search);
  const { page, complaints } = shown;
  await operation(page, 'Linked').waitFor();
  await waitForText(page.locator('.graphiql-editor-tool .view-lines').first(), /"first": 1/);
  await run(shown, /"siteCollection"/);
  assert.equal((await textOf(result(page))).match(/"node"/g)?.length, 1);
  await page.getByRole('button', { name: 'Copy a link to this query' }).click();
  await page.getByText('The link is in the clipboard.').waitFor({ state: 'attached' });
  const link = new URL(String(await page.evaluate('navigator.clipboard.readText()')));
  assert.deepEqual([link.searchParams.get('query'), link.searchParams.get('variables')], [query, '{"first": 1}']);
  assert.deepEqual(complaints, []);
});

test('the grid filters, orders and pages, and opens its query in the editor', async (context) => {
  const shown = await open(context);
  const { page, complaints } = shown;
  await view(page, 'Rows').click();
  await chooseTable(page, 'Species');
  const rows = page.locator('.row-grid tbody tr');
  await rows.nth(19).waitFor();
  const byName = page.getByRole('button', { name: 'name', exact: true });
  await byName.click();
  await byName.click();
  await rows.first().filter({ hasText: 'White-throated Dipper' }).waitFor();
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByText('Page 2').waitFor();
  await rows.first().filter({ hasNotText: 'White-throated Dipper' }).waitFor();
  await page.getByRole('button', { name: 'Previous' }).click();
  await rows.first().filter({ hasText: 'White-throated Dipper' }).waitFor();
  await page.getByLabel('Column to filter by').selectOption('name');
  await page.getByLabel('Operator').selectOption('ilike');
  await page.getByLabel('Value').fill('%owl%');
  await page.getByRole('button', { name: 'Filter' }).click();
  await rows.first().filter({ hasText: 'Owl' }).waitFor();
  await page.getByRole('button', { name: 'Open in the editor' }).click();
  await operation(page, 'SpeciesRows').waitFor();
  await run(shown, /Owl/);
  assert.deepEqual(complaints, []);
});

test('the grid turns no page while the rows of another order are on their way', async (context) => {
  const { page, complaints } = await open(context);
  await view(page, 'Rows').click();
  await chooseTable(page, 'Species');
  const next = page.getByRole('button', { name: 'Next' });
  const grid = page.getByRole('region', { name: 'Rows of Species' });
  await page.locator('.row-grid[aria-busy=false]').waitFor();
  assert.equal(await next.getAttribute('aria-disabled'), 'false');
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await page.route('**/graphql/v1', async (route) => {
    await released;
    await route.continue();
  });
  await page.getByRole('button', { name: 'name', exact: true }).click();
  assert.deepEqual([await grid.getAttribute('aria-busy'), await next.getAttribute('aria-disabled')], ['true', 'true']);
  await next.click({ force: true });
  assert.ok(await page.getByText('Page 1').isVisible());
  release();
  await next.click();
  await page.getByText('Page 2').waitFor();
  await page.locator('.row-grid[aria-busy=false]').waitFor();
  assert.notEqual(await grid.locator('tbody tr').count(), 0);
  assert.deepEqual(complaints, []);
});

test('what changes in the database is in the schema of the page without a reload', async (context) => {
  const { page, complaints } = await open(context);
  await view(page, 'Diagram').click();
  await table(page, 'Species').waitFor();
  const client = new pg.Client(dev.facts['DB URL'] ?? '');
  await client.connect();
  await client.query('create table feather (id int primary key)');
  await table(page, 'Feather').waitFor();
  await client.query('drop table feather');
  await client.end();
  await table(page, 'Feather').waitFor({ state: 'detached' });
  assert.deepEqual(complaints, []);
});

test('the doctor reports for the role that asks', async (context) => {
  const { page, complaints } = await open(context);
  await view(page, 'Doctor').click();
  await page.getByRole('heading', { name: 'Findings of the doctor for anon' }).waitFor();
  await role(page).selectOption('service_role');
  await page.getByRole('heading', { name: 'Findings of the doctor for service_role' }).waitFor();
  assert.deepEqual(complaints, []);
});

test('the explorer builds a query by clicks, and leaves the rest of the document as it is', async (context) => {
  const shown = await open(context);
  const { page, complaints } = shown;
  await write(shown, '# Mine.\nquery Clicked { __typename }');
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
  await write(shown, 'query Typed { __typename }');
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

test('what keeps the server from answering is said in a sentence, and the page goes on afterwards', async (context) => {
  // Wide enough for a sentence in one line.
  const shown = await open(context, { width: 2560, height: 800 });
  const { page } = shown;
  await run(shown, /Godwit/);
  await page.route('**/graphql/v1', (route) => route.abort());
  await run(shown, /The server does not respond\. Make sure rowgraph is running/);
  assert.doesNotMatch(await textOf(result(page)), /object Object|stack|at /);
  await view(page, 'Diagram').click();
  await role(page).selectOption('service_role');
  await page.getByText('The schema could not be read: The server does not respond.').filter({ visible: true }).waitFor();
  await page.unroute('**/graphql/v1');
  await page.getByRole('button', { name: 'Try again' }).click();
  await table(page, 'MemberProfile').waitFor();
  await view(page, 'Query').click();
  await page.route('**/graphql/v1', (route) => route.fulfill({ status: 502, contentType: 'text/html', body: '<h1>Bad Gateway</h1>' }));
  await run(shown, /status 502 is not from rowgraph, but perhaps from a proxy/);
  await page.unroute('**/graphql/v1');
  await run(shown, /Godwit/);
  // The browser itself notes failed requests.
  assert.deepEqual(
    shown.complaints.filter((each) => !each.includes('Failed to load resource')),
    [],
  );
});

test('what is marked as wrong follows the role, and what was written outlives a reload', async (context) => {
  const shown = await open(context);
  const { page, complaints } = shown;
  const marks = page.locator('.graphiql-query-editor .squiggly-error');
  await role(page).selectOption('service_role');
  const query = 'query Profiles { memberProfileCollection(first: 1) { edges { node { email } } } }';
  await write(shown, query);
  await run(shown, /"email"/);
  await marks.first().waitFor({ state: 'detached' });
  await role(page).selectOption('anon');
  await marks.first().waitFor();
  await page.waitForFunction(`Object.values(localStorage).some((value) => value.includes('memberProfileCollection(first: 1)'))`);
  await page.reload();
  await operation(page, 'Profiles').waitFor();
  await marks.first().waitFor();
  assert.deepEqual(complaints, []);
});

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

test('the diagram has 200 tables, finds one, and writes a query for it', async (context) => {
  const columns = Array.from({ length: 8 }, (_, index) => `c${index} text`).join(', ');
  const tables = Array.from({ length: 200 }, (_, index) => {
    const parent = index === 0 ? '' : `, parent int references part_${Math.floor((index - 1) / 3)}`;
    return `create table part_${index} (id int primary key, ${columns}${parent});`;
  });
  await writeFile(path.join(home, 'parts.sql'), tables.join('\n'));
  const parts = await startDev(home, '--sql', 'parts.sql');
  context.after(() => parts.command.stop());
  const shown = await openAt(context, parts.facts['GraphiQL URL'] ?? '');
  const { page, complaints } = shown;
  await waitForText(editor(page), /part_\d+Collection\(first: 3\)/);
  await view(page, 'Diagram').click();
  await page.getByText('200 tables').waitFor();
  assert.equal(await page.locator('.table-box').count(), 200);
  assert.equal(await page.locator('.relation').count(), 199);
  const first = page.locator('.table-box').first();
  const before = (await first.boundingBox())!;
  await page.mouse.move(before.x + 20, before.y + 10);
  await page.mouse.down();
  await page.mouse.move(before.x + 70, before.y + 40, { steps: 3 });
  await page.mouse.up();
  const after = (await first.boundingBox())!;
  assert.deepEqual([Math.round(after.x - before.x), Math.round(after.y - before.y)], [50, 30], 'a table is dragged');
  await page.getByRole('button', { name: 'Larger' }).click();
  assert.ok((await first.boundingBox())!.width > after.width * 1.2);
  await page.getByRole('button', { name: 'Fit' }).click();
  await page.mouse.move(640, 400);
  await page.mouse.wheel(0, -400);
  await page.waitForFunction(`document.querySelector('.table-box').getBoundingClientRect().width > ${after.width * 1.5}`);
  await page.getByLabel('Find a table or column').fill('part_177');
  await page.keyboard.press('Enter');
  await page.locator('.table-box:not(.faint)', { has: page.getByText('part_177', { exact: true }) }).click();
  await page.getByRole('button', { name: 'Write a query' }).click();
  await waitForText(editor(page), /part_177Collection\(first: 3\)/);
  assert.deepEqual(complaints, []);
});

test('elsewhere than in dev, a key is pasted, and not kept unless the user wants it', async (context) => {
  const secret = 'a-secret-of-tests-with-more-than-32-bytes';
  const { graph, stop } = await startPgliteGraph(
    `create table letter (id int primary key, body text); insert into letter values (1, 'Dear Ada');`,
    {
      introspection: 'on',
    },
  );
  const telemetry = createTelemetry({ level: 'silent' });
  const server = await startServer({ graph, graphiql: true, jwtSecret: secret, telemetry });
  context.after(async () => {
    await server.close();
    await stop();
  });
  const shown = await openPage(browser, `${server.url}/graphiql`);
  context.after(() => shown.context.close());
  const { page } = shown;
  for (const isKept of [false, true]) {
    // The form stands in the middle of the page, and nothing else.
    await page.getByRole('heading', { name: 'Whose API is it?' }).waitFor();
    assert.deepEqual([await editor(page).isVisible(), await page.getByRole('button', { name: 'Cancel' }).count()], [false, 0]);
    await page.getByLabel(/Key of the project/).fill(await signKey(secret, 'service_role', '1 hour'));
    await page.getByText('Its role is service_role.').waitFor();
    await page.getByText(/It expires at/).waitFor();
    if (isKept) await page.getByLabel('Keep them in this tab').check();
    await page.getByRole('button', { name: 'Use these' }).click();
    await waitForText(editor(page), /letterCollection/);
    await run(shown, /Dear Ada/);
    await page.getByText('as service_role').waitFor();
    assert.deepEqual([await role(page).count(), await view(page, 'Doctor').count(), await tab(page, 'SQL').count()], [0, 0, 0]);
    await page.reload();
    await (isKept
      ? page.getByRole('button', { name: 'Key and token' })
      : page.getByRole('heading', { name: 'Whose API is it?' })
    ).waitFor();
  }
  // In the dialog, text and code of a label stay in one line.
  await page.getByRole('button', { name: 'Key and token' }).click();
  assert.equal(await page.evaluate("getComputedStyle(document.querySelector('dialog .key-field')).display"), 'block');
  assert.equal(await page.evaluate('Object.values(localStorage).join().includes("eyJ")'), false);
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

test('the response and the rows of one caller do not stay for the next', async (context) => {
  const shown = await open(context);
  const { page, complaints } = shown;
  await run(shown, /Godwit/);
  await role(page).selectOption('authenticated');
  await result(page).filter({ hasNotText: 'Godwit' }).waitFor();
  await page.getByText('runs the operation at the cursor.').waitFor();
  await view(page, 'Rows').click();
  await page.locator('.row-grid tbody tr').first().waitFor();
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await page.route('**/graphql/v1', async (route) => {
    await released;
    await route.continue();
  });
  await role(page).selectOption('anon');
  await page.locator('.row-grid tbody tr').first().waitFor({ state: 'detached' });
  release();
  await page.locator('.row-grid tbody tr').first().waitFor();
  assert.deepEqual(complaints, []);
});

test('the URL keeps the view, the role, the table, its filters, order and page', async (context) => {
  const { page, complaints } = await open(context);
  await role(page).selectOption('authenticated');
  await view(page, 'Rows').click();
  await chooseTable(page, 'Species');
  const first = page.locator('.row-grid tbody tr').first();
  await page.getByRole('button', { name: 'name', exact: true }).click();
  await page.getByLabel('Column to filter by').selectOption('name');
  await page.getByLabel('Operator').selectOption('ilike');
  await page.getByLabel('Value').fill('%e%');
  await page.getByRole('button', { name: 'Filter' }).click();
  await page.getByText('name ilike %e%').waitFor();
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByText('Page 2').waitFor();
  await page.locator('.row-grid[aria-busy=false]').waitFor();
  const shownFirst = await first.innerText();
  const url = page.url();
  const other = await openPage(browser, url);
  context.after(() => other.context.close());
  await other.page.getByText('Page 2').waitFor();
  await other.page
    .locator('.row-grid tbody tr')
    .first()
    .filter({ hasText: shownFirst.split('\t')[1] ?? '' })
    .waitFor();
  assert.equal(await role(other.page).inputValue(), 'authenticated');
  await other.page.getByText('name ilike %e%').waitFor();
  assert.deepEqual([...complaints, ...other.complaints], []);
});

test('a wrong filter value is said, and the rows stay; the explorer says that it found nothing; a copied link is announced', async (context) => {
  const { page } = await open(context);
  await view(page, 'Rows').click();
  await chooseTable(page, 'Species');
  const rows = page.locator('.row-grid tbody tr');
  await rows.nth(19).waitFor();
  await page.getByLabel('Column to filter by').selectOption('id');
  await page.getByLabel('Operator').selectOption('eq');
  await page.getByLabel('Value').fill('owl');
  await page.getByRole('button', { name: 'Filter' }).click();
  await page.getByText('Enter a whole number.').waitFor();
  assert.equal(await rows.count(), 20);
  await view(page, 'Query').click();
  await page.getByRole('button', { name: 'Copy a link to this query' }).click();
  await page.getByText('The link is in the clipboard.').waitFor();
  await openExplorer(page);
  await page.getByLabel('Find a field').fill('xylophone');
  await page.getByText('Nothing that this role can reach has “xylophone” in its name.').waitFor();
  await page.getByLabel('Find a field').fill('wingspan');
  await page.locator('[role=treeitem][data-name=wingspanCm]').first().click();
  await waitForText(editor(page), /wingspanCm/);
});
