/**
 * The page at `/graphiql` in a browser, as people use it: `npm run test:page`. It needs Debian's chromium and is therefore no part of `npm test`, which tests
 * over HTTP what the page is given.
 */
import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import pg from 'pg';
import { signKey } from '../../src/auth/sign-key.ts';
import type { Printed } from '../process/start-dev.ts';
import type { Look, ShownPage } from './browser.ts';
import { editor, operation, preparePages, result, role, run, secret, tab, table, textOf, view, waitForText, write } from './page-world.ts';

const bundle = path.join(import.meta.dirname, '../../dist/graphiql');
let dev: Printed;
const pages = preparePages(async (pages) => {
  dev = await pages.startDev();
});

const open = (context: TestContext, look: Look = {}, search = ''): Promise<ShownPage> => pages.showDev(context, dev, search, look);
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
  await write(page, '{ speciesCollection { edges { node {  } } } }');
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
  await write(page, query);
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

test('elsewhere than in dev, a key is pasted, and not kept unless the user wants it', async (context) => {
  const shown = await pages.showServed(
    context,
    `create table letter (id int primary key, body text); insert into letter values (1, 'Dear Ada');`,
  );
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
