/** The view of rows in a browser, as people read in it: part of `npm run test:page`. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { type TestContext, test } from 'node:test';
import type { Printed } from '../process/start-dev.ts';
import { until } from '../support/until.ts';
import { findBarriers, type Look } from './browser.ts';
import { chooseTable, operation, preparePages, role, run, view } from './page-world.ts';
import { ada, edit, openRows, query, type RowsOptions, type Shown, send, things, withoutStatus } from './rows-world.ts';

let club: Printed;
let shop: Printed;
const pages = preparePages(async (pages) => {
  club = await pages.startDev();
  shop = await pages.startSql(things);
});

const open = (context: TestContext, dev: Printed, table: string, options?: RowsOptions): Promise<Shown> =>
  openRows(pages, context, dev, table, options);

test('a foreign key shows the name of its row, and leads there and back', async (context) => {
  const { page, row, cell, complaints } = await open(context, club, 'Sighting', { role: 'anon' });
  const link = (await cell(0, 'speciesId')).getByRole('link');
  const name = await link.innerText();
  assert.match(await page.locator('.row-grid thead').innerText(), /Int! →\s+refers to\s+Species/);
  const href = (await link.getAttribute('href')) ?? '';
  await link.click();
  await page.getByRole('region', { name: 'Rows of Species' }).waitFor();
  await row(0).filter({ hasText: name }).waitFor();
  assert.equal(await page.locator('.row-grid tbody tr.row').count(), 1);
  // The link works in another tab as well.
  const other = await pages.show(context, new URL(href, page.url()).href);
  await other.page.locator('.row-grid tbody tr.row').filter({ hasText: name }).waitFor();
  await page.getByRole('button', { name: 'Back to Sighting' }).click();
  await page.getByRole('region', { name: 'Rows of Sighting' }).waitFor();
  // By keys: Enter on a foreign key that cannot be edited follows it. A key of two columns is a column of its own.
  await (await cell(0, 'hide')).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('region', { name: 'Rows of Hide' }).waitFor();
  await page.getByRole('button', { name: /^Remove the filter number eq/ }).waitFor();
  assert.deepEqual([...complaints, ...other.complaints], []);
});

test('columns are hidden, and neither shown, asked for nor exported then; the URL keeps it', async (context) => {
  const { page, complaints } = await open(context, shop, 'thing');
  await page.getByRole('button', { name: 'Columns' }).click();
  const menu = page.getByRole('dialog', { name: 'Columns' });
  for (const name of ['big', 'data']) await menu.getByRole('checkbox', { name: new RegExp(`^${name} `) }).uncheck();
  await page.keyboard.press('Escape');
  await menu.waitFor({ state: 'hidden' });
  await page.locator('.row-grid[aria-busy=false]').waitFor();
  assert.doesNotMatch(await page.locator('.row-grid thead').innerText(), /\b(big|data)\b/);
  assert.doesNotMatch((await page.locator('.rows-query pre').textContent()) ?? '', /\b(big|data)\b/);
  const other = await pages.show(context, page.url());
  await other.page.getByRole('button', { name: 'Columns (2 hidden)' }).click();
  await other.page.getByRole('button', { name: 'Show all' }).click();
  await other.page.locator('.row-grid thead').getByText('big', { exact: true }).waitFor();
  assert.deepEqual([...complaints, ...other.complaints], []);
});

/** Exports, and reads the file. */
async function save({ page }: Shown, name: string): Promise<string> {
  await page.getByRole('button', { name: 'Export', exact: true }).click();
  const downloading = page.waitForEvent('download');
  await page.getByRole('button', { name }).click();
  const text = await readFile(await (await downloading).path(), 'utf8');
  await page.keyboard.press('Escape');
  return text;
}

test('rows of all pages are exported as CSV and JSON, with every digit', async (context) => {
  const choice = {
    filters: [],
    order: { column: 'id', isDescending: true },
    after: null,
    pageSize: 20,
    hidden: ['seen', 'maker_id', 'ratio'],
  };
  const shown = await open(context, shop, 'maker');
  await query(
    shop,
    `update thing set name = '=1+1', big = 9223372036854775807, data = '{"n": 9007199254740993}', code = 'a "b", c' where id = 9007199254740993`,
  );
  const other = await open(context, shop, 'thing', { rows: { choice } });
  const csv = await save(other, 'Export as CSV');
  const lines = csv.split('\r\n');
  assert.equal(lines[0], 'id,name,big,price,flag,mood,born,data,tags,size,code,amount');
  assert.match(lines[1] ?? '', /^9007199254740993,'=1\+1,9223372036854775807,/);
  assert.match(lines[1] ?? '', /"\{""n"": 9007199254740993\}".*,"a ""b"", c",/);
  assert.match(csv, /\r\n1,"",,-3\.00,/);
  assert.match(csv, /\r\n2,,,0\.00,/);
  await other.page.getByText(/^Exported \d+ rows\.$/).waitFor();
  assert.equal(lines.length - 2, Number((await query(shop, 'select count(*)::int from thing'))[0]?.count));
  await other.page.getByRole('button', { name: 'Export', exact: true }).click();
  await other.page.getByText('at most 10,000 rows').waitFor();
  await other.page.getByRole('checkbox', { name: /CSV for spreadsheets/ }).uncheck();
  await other.page.keyboard.press('Escape');
  assert.match(await save(other, 'Export as CSV'), /^9007199254740993,=1\+1,/m);
  const json = await save(other, 'Export as JSON');
  assert.match(json, /"id": "9007199254740993", "name": "=1\+1", "big": "9223372036854775807"/);
  assert.match(json, /"data": \{"n": 9007199254740993\}/);
  assert.equal((JSON.parse(json) as unknown[]).length, lines.length - 2);
  assert.deepEqual([...shown.complaints, ...other.complaints], []);
});

test('a page may be long: rows are counted, the size of a page is chosen, and only those in sight are rendered', async (context) => {
  const { page, complaints } = await open(context, club, 'Sighting', { role: 'service_role' });
  await page.getByText(/^3\d\d rows$/).waitFor();
  await page.getByLabel('rows a page').selectOption('500');
  // The example's pages have at most 100 rows.
  await page.getByText('The table gives at most 100 a page (max_rows).').waitFor();
  const rendered = page.locator('.row-grid tbody tr.row');
  assert.ok((await rendered.count()) < 60);
  assert.equal(await page.getByRole('grid').getAttribute('aria-rowcount'), '101');
  await rendered.first().locator('td').first().focus();
  await page.keyboard.press('Control+ArrowDown');
  await until(async () => (await page.evaluate("document.activeElement.closest('tr')?.ariaRowIndex")) === '101');
  assert.deepEqual(complaints, []);
});

test('a filter that the server refuses keeps the rows, and says so at the filter', async (context) => {
  const shown = await open(context, shop, 'thing');
  const { page, row, complaints } = shown;
  const filters = page.locator('.row-filter');
  const add = async (column: string, operator: string, value: string): Promise<void> => {
    await page.getByLabel('Column to filter by').selectOption(column);
    await page.getByLabel('Operator').selectOption(operator);
    await page.getByLabel('Value').fill(value);
    await page.getByRole('button', { name: 'Filter', exact: true }).click();
  };
  await add('name', 'ilike', '%thing%');
  await row(0).filter({ hasText: 'thing' }).waitFor();
  const count = await page.locator('.row-grid tbody tr.row').count();
  await add('seen', 'gt', 'yesterday evening');
  await page.getByText(/^The filter “seen gt yesterday evening” does not apply: /).waitFor();
  assert.deepEqual(
    [await filters.nth(0).getAttribute('class'), await filters.nth(1).getAttribute('class')],
    ['row-filter', 'row-filter wrong'],
  );
  assert.equal(await page.locator('.row-grid tbody tr.row').count(), count);
  // It is mended where it is.
  await page.getByRole('button', { name: 'Change the filter seen gt yesterday evening' }).click();
  assert.equal(await page.getByLabel('Value').inputValue(), 'yesterday evening');
  await page.getByLabel('Value').fill('2000-01-01');
  await page.getByRole('button', { name: 'Filter', exact: true }).click();
  await page.getByText('No rows match the filters that service_role and its policies let it see.').waitFor();
  await page.getByRole('button', { name: 'Remove the filters' }).click();
  await row(0).waitFor();
  // Values are checked before: numbers here, and enums are a menu. One that came by the URL is refused by the server.
  await add('size', 'eq', 'owl');
  await page.getByText('Enter a whole number.').waitFor();
  await page.getByLabel('Column to filter by').selectOption('mood');
  assert.deepEqual(await page.getByLabel('Value').locator('option').allInnerTexts(), ['calm', 'loud']);
  const filter = { column: 'mood', operator: 'eq', value: 'purple' };
  const other = await open(context, shop, 'thing', { rows: { choice: { filters: [filter], order: null, after: null, pageSize: 20 } } });
  await other.page.getByText(/^The filter “mood eq purple” does not apply: /).waitFor();
  await other.page.getByRole('button', { name: 'Remove the filter mood eq purple' }).click();
  await other.row(0).waitFor();
  assert.deepEqual(withoutStatus([...complaints, ...other.complaints]), []);
});

test('a label that GraphQL does not allow is shown, and the SQL that gives it a name', async (context) => {
  const only = { choice: { filters: [{ column: 'id', operator: 'eq', value: '1' }], order: null, after: null, pageSize: 20 } };
  const { page, cell, complaints } = await open(context, shop, 'thing', { rows: only });
  assert.equal(await (await cell(0, 'mood')).innerText(), 'so-so');
  await (await cell(0, 'mood')).focus();
  await page.keyboard.press('Enter');
  await page.getByText('“so-so” is not a name in GraphQL').waitFor();
  await page.getByText(`comment on type mood is '@graphql({"mappings":{"so-so":"so_so"}})';`).waitFor();
  assert.deepEqual(complaints, []);
});

test('no rows are said to be those that the role and its policies let it see', async (context) => {
  const { page, complaints } = await open(context, club, 'MemberProfile', { role: 'authenticated' });
  await page.getByText('No rows of MemberProfile that authenticated and its policies let it see.').waitFor();
  await page.getByText('0 rows on this page').waitFor();
  const other = await open(context, club, 'MemberProfile', { role: 'authenticated', sub: ada });
  await other.page.getByText('1 row on this page').waitFor();
  assert.deepEqual([...complaints, ...other.complaints], []);
});

test('tables are found by their name, with the mouse and by keys', async (context) => {
  const { page, complaints } = await open(context, club, 'Species', { role: 'anon' });
  const list = page.getByRole('navigation', { name: 'Tables' });
  await list.getByLabel('Find a table').fill('tAx');
  assert.deepEqual(await list.getByRole('button').allInnerTexts(), ['Taxon']);
  await page.keyboard.press('Enter');
  await page.getByRole('region', { name: 'Rows of Taxon' }).waitFor();
  await list.getByLabel('Find a table').fill('s');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.getByRole('region', { name: 'Rows of Site' }).waitFor();
  await list.getByLabel('Find a table').fill('xylophone');
  await list.getByText('No table has “xylophone” in its name.').waitFor();
  assert.deepEqual(complaints, []);
});

for (const look of [{}, { colorScheme: 'dark' }, { width: 390, height: 800 }] as const satisfies readonly Look[])
  test(`axe finds no barriers in the grid, and nothing hangs over the edge: ${JSON.stringify(look)}`, async (context) => {
    const shown = await open(context, shop, 'thing', { look });
    const { page, bar } = shown;
    const found: Record<string, readonly string[]> = { Grid: await findBarriers(shown) };
    await edit(shown, 0, 'size', '-1');
    await page.getByRole('button', { name: 'Delete row 3', exact: true }).click();
    await page.getByRole('button', { name: 'Insert a row' }).click();
    await send(shown);
    await page.locator('.row-problem').waitFor();
    await bar.getByRole('button', { name: /changes/ }).click();
    found.Changes = await findBarriers(shown);
    await bar.getByRole('button', { name: 'Show GraphQL' }).click();
    found.GraphQL = await findBarriers(shown);
    await (await shown.cell(1, 'name')).focus();
    await page.keyboard.press('Enter');
    await page.locator('.cell-editor').waitFor();
    found.Editor = await findBarriers(shown);
    await page.keyboard.press('Escape');
    await (await shown.cell(1, 'data')).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    found.Dialog = await findBarriers(shown);
    await page.keyboard.press('Escape');
    for (const name of ['Columns', 'Export']) {
      await page.getByRole('button', { name, exact: true }).click();
      await page.getByRole('dialog', { name }).waitFor();
      found[name] = await findBarriers(shown);
      await page.keyboard.press('Escape');
    }
    if (look.width !== undefined) {
      await page.locator('.table-choice').click();
      await page.getByRole('navigation', { name: 'Tables' }).waitFor();
      found.Tables = await findBarriers(shown);
      await page.locator('.table-choice').click();
    }
    assert.deepEqual(Object.fromEntries(Object.entries(found).filter(([, barriers]) => barriers.length > 0)), {});
    const size = (await page.evaluate('[document.documentElement.scrollWidth, document.documentElement.scrollHeight]')) as number[];
    assert.deepEqual(size, [look.width ?? 1280, look.height ?? 800]);
    await bar.getByRole('button', { name: 'Discard all' }).click();
  });

test('the grid filters, orders and pages, and opens its query in the editor', async (context) => {
  const shown = await pages.showDev(context, club);
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
  const { page, complaints } = await pages.showDev(context, club);
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

test('the URL keeps the view, the role, the table, its filters, order and page', async (context) => {
  const { page, complaints } = await pages.showDev(context, club);
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
  const other = await pages.show(context, url);
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

test('a wrong filter value is said, and the rows stay', async (context) => {
  const { page } = await open(context, club, 'Species');
  const rows = page.locator('.row-grid tbody tr.row');
  await page.getByLabel('Column to filter by').selectOption('id');
  await page.getByLabel('Operator').selectOption('eq');
  await page.getByLabel('Value').fill('owl');
  await page.getByRole('button', { name: 'Filter' }).click();
  await page.getByText('Enter a whole number.').waitFor();
  assert.equal(await rows.count(), 20);
});
