/** Rows that are edited in the grid, in a browser: part of `npm run test:page`. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Printed } from '../process/start-dev.ts';
import { until } from '../support/until.ts';
import { preparePages } from './page-world.ts';
import { ada, edit, openRows, query, type RowsOptions, type Shown, send, things } from './rows-world.ts';

let club: Printed;
let shop: Printed;
const pages = preparePages(async (pages) => {
  club = await pages.startDev();
  shop = await pages.startSql(things);
});

const open = (context: TestContext, dev: Printed, table: string, options?: RowsOptions): Promise<Shown> =>
  openRows(pages, context, dev, table, options);

test('a role without the rights to write sees no controls for it', async (context) => {
  const { page, row, complaints } = await open(context, club, 'Species', { role: 'anon' });
  await row(0).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Insert a row' }).count(), 0);
  assert.equal(await page.locator('.row-action').count(), 0);
  await row(0).locator('td').nth(3).focus();
  await page.keyboard.press('Enter');
  await page.keyboard.press('x');
  assert.equal(await page.locator('.cell-editor').count(), 0);
  // A member may insert and delete participations, and not update them.
  const other = await open(context, club, 'Participation', { role: 'authenticated', sub: ada });
  await other.page.getByRole('button', { name: 'Insert a row' }).waitFor();
  await other.page.getByRole('button', { name: 'Delete row 1', exact: true }).waitFor();
  await (await other.cell(0, 'drives')).focus();
  await other.page.keyboard.press('Enter');
  assert.equal(await other.page.locator('.cell-editor').count(), 0);
  assert.deepEqual([...complaints, ...other.complaints], []);
});

test('an update, an insert and a delete are collected, shown as GraphQL, undone one by one, and sent as one mutation', async (context) => {
  const shown = await open(context, shop, 'thing', {
    rows: { choice: { filters: [], order: { column: 'id', isDescending: false }, after: null, pageSize: 20 } },
  });
  const { page, bar, cell, row, complaints } = shown;
  const requests: string[] = [];
  page.on('request', (request) => {
    const { query: text = '' } = (request.postDataJSON() ?? {}) as { query?: string };
    if (text.startsWith('mutation')) requests.push(text);
  });
  await edit(shown, 2, 'name', 'changed');
  await edit(shown, 2, 'size', '7');
  await page.getByRole('button', { name: 'Delete row 5', exact: true }).click();
  await page.getByRole('button', { name: 'Delete row 6', exact: true }).click();
  await page.getByRole('button', { name: 'Insert a row' }).click();
  assert.match(await row(0).innerText(), /default/);
  await edit(shown, 0, 'name', 'new');
  await bar.getByText('4 changes').waitFor();
  await bar.getByText('1 insert, 1 update, 2 deletes').waitFor();
  await bar.getByRole('button', { name: 'Show GraphQL' }).click();
  const graphql = await bar.locator('pre').innerText();
  assert.match(graphql, /update1: updatethingCollection\(\s*set: \{ name: "changed", size: 7 \},?\s*filter: \{ id: \{ eq: "10" \} \}/);
  assert.match(graphql, /delete2: deleteFromthingCollection\(filter: \{ id: \{ eq: "13" \} \}\)/);
  assert.match(graphql, /insert1: insertIntothingCollection\(objects: \[\{ name: "new" \}\]\)/);
  // One of them is undone where it is listed, one by the button in its row, and the last step by a key.
  await bar.getByRole('button', { name: /4 changes/ }).click();
  await bar.getByRole('button', { name: 'Undo this delete' }).last().click();
  await bar.getByText('3 changes').waitFor();
  await edit(shown, 4, 'name', 'by mistake');
  await bar.getByText('4 changes').waitFor();
  await (await cell(4, 'name')).focus();
  await page.keyboard.press('Control+z');
  await bar.getByText('3 changes').waitFor();
  assert.equal(requests.length, 0, 'nothing has been sent yet');
  await send(shown);
  await page.getByText('1 row inserted, 1 row updated, 1 row deleted.').waitFor();
  await bar.waitFor({ state: 'detached' });
  assert.equal(requests.length, 1);
  const found = await query(shop, "select id, name, size from thing where id in (10, 12) or name = 'new'");
  assert.deepEqual(found, [
    { id: '10', name: 'changed', size: 7 },
    { id: '500', name: 'new', size: null },
  ]);
  await row(2).filter({ hasText: 'changed' }).waitFor();
  assert.deepEqual(complaints, []);
});

test('each kind of value is edited in its own way, and null is not the empty text', async (context) => {
  const only = {
    choice: { filters: [{ column: 'id', operator: 'eq', value: '9007199254740993' }], order: null, after: null, pageSize: 20 },
  };
  const shown = await open(context, shop, 'thing', { rows: only });
  const { page, cell, bar, complaints } = shown;
  await edit(shown, 0, 'big', '-9223372036854775808');
  await edit(shown, 0, 'price', '99999.99');
  await edit(shown, 0, 'ratio', '1e-7');
  await edit(shown, 0, 'born', '2021-03-01');
  await edit(shown, 0, 'seen', '2025-01-01T00:00:00.654321Z');
  for (const [column, value] of [
    ['flag', 'false'],
    ['mood', 'loud'],
  ] as const) {
    await (await cell(0, column)).focus();
    await page.keyboard.press('Enter');
    await page.locator('.cell-editor select').selectOption(value);
    await page.keyboard.press('Enter');
  }
  // An empty text is written; Delete is null.
  await edit(shown, 0, 'name', '');
  assert.match(await (await cell(0, 'name')).innerText(), /empty text/);
  await (await cell(0, 'code')).focus();
  await page.keyboard.press('Delete');
  assert.match(await (await cell(0, 'code')).innerText(), /null/);
  // Enter on null leaves it null, and Escape leaves everything.
  await page.keyboard.press('Enter');
  await page.keyboard.press('Enter');
  assert.match(await (await cell(0, 'code')).innerText(), /null/);
  await (await cell(0, 'size')).focus();
  await page.keyboard.type('12');
  await page.keyboard.press('Escape');
  assert.equal(await (await cell(0, 'size')).innerText(), '1');
  await bar.getByText('1 change', { exact: true }).waitFor();
  await send(shown);
  await page.getByText('1 row updated.').waitFor();
  const [row] = await query(
    shop,
    `select big::text, price::text, ratio, flag, mood, born::text, seen = '2025-01-01T00:00:00.654321Z' as is_seen, name, code, size
    from thing where id = 9007199254740993`,
  );
  assert.deepEqual(row, {
    big: '-9223372036854775808',
    price: '99999.99',
    ratio: 1e-7,
    flag: false,
    mood: 'loud',
    born: '2021-03-01',
    is_seen: true,
    name: '',
    code: null,
    size: 1,
  });
  assert.deepEqual(complaints, []);
});

test('JSON and lists are opened in lines, with all digits, and checked', async (context) => {
  const only = {
    choice: { filters: [{ column: 'id', operator: 'eq', value: '9007199254740993' }], order: null, after: null, pageSize: 20 },
  };
  const shown = await open(context, shop, 'thing', { rows: only });
  const { page, cell, bar, complaints } = shown;
  await (await cell(0, 'data')).focus();
  await page.keyboard.press('Enter');
  const area = page.getByRole('dialog').getByLabel('data', { exact: true });
  assert.equal(await area.inputValue(), '{\n  "deep": [\n    1,\n    {\n      "big": 9007199254740993\n    }\n  ]\n}');
  await area.fill('{"deep": }');
  await page.getByRole('button', { name: 'Keep' }).click();
  await page.getByText(/This is not JSON/).waitFor();
  await area.fill('{"deep": 9007199254740995}');
  await page.getByRole('button', { name: 'Keep' }).click();
  await (await cell(0, 'tags')).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').getByLabel('tags', { exact: true }).fill('["x", null, "y, z"]');
  await page.getByRole('button', { name: 'Keep' }).click();
  await bar.getByText('1 change', { exact: true }).waitFor();
  await send(shown);
  await page.getByText('1 row updated.').waitFor();
  const [row] = await query(shop, 'select data::text, tags from thing where id = 9007199254740993');
  assert.deepEqual(row, { data: '{"deep": 9007199254740995}', tags: ['x', null, 'y, z'] });
  assert.deepEqual(complaints, []);
});

test('what is no value of the column is said in the cell, before anything is sent', async (context) => {
  const shown = await open(context, shop, 'thing');
  const { page, bar, complaints } = shown;
  await edit(shown, 3, 'size', 'many');
  await page.locator('.cell-problem').getByText('Enter a whole number.').waitFor();
  await page.locator('.cell-editor input').fill('3000000000');
  await page.keyboard.press('Enter');
  await page.getByText('Enter a whole number from -2147483648 to 2147483647.').waitFor();
  await page.keyboard.press('Escape');
  await page.locator('.cell-editor').waitFor({ state: 'detached' });
  assert.equal(await bar.count(), 0);
  assert.deepEqual(complaints, []);
});

test('what the server refuses is said at its row and cell, and everything waits to be mended', async (context) => {
  const shown = await open(context, shop, 'thing');
  const { page, cell, row, bar, complaints } = shown;
  await edit(shown, 5, 'name', 'fine');
  await edit(shown, 6, 'size', '-1');
  await send(shown);
  const problem = page.locator('.row-problem').getByRole('alert');
  await problem.filter({ hasText: 'violates check constraint "thing_size_check"' }).waitFor();
  assert.equal(await (await cell(6, 'size')).getAttribute('aria-invalid'), 'true');
  assert.match((await row(6).getAttribute('class')) ?? '', /row-refused/);
  await bar.getByText('2 changes').waitFor();
  // Mended, it meets the next one: of a unique constraint, and in a new row.
  await edit(shown, 6, 'size', '4');
  await problem.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Insert a row' }).click();
  await edit(shown, 0, 'code', 'two');
  await page.getByRole('button', { name: 'Insert a row' }).click();
  await edit(shown, 0, 'code', 'another');
  await send(shown);
  await problem.filter({ hasText: 'violates unique constraint "thing_code_key"' }).waitFor();
  assert.equal(await (await cell(1, 'code')).getAttribute('aria-invalid'), 'true');
  assert.equal((await query(shop, "select from thing where name = 'fine'")).length, 0, 'all or nothing');
  await bar.getByRole('button', { name: 'Discard all' }).click();
  await bar.waitFor({ state: 'detached' });
  assert.deepEqual(complaints, []);
});

test('a change that policies do not allow is said where it is', async (context) => {
  const others = { choice: { filters: [{ column: 'memberId', operator: 'neq', value: ada }], order: null, after: null, pageSize: 20 } };
  const shown = await open(context, club, 'Sighting', { role: 'authenticated', sub: ada, rows: others });
  const { page, complaints } = shown;
  await edit(shown, 0, 'birds', '99');
  await send(shown);
  await page
    .locator('.row-problem')
    .getByText('No row was updated: the policies of authenticated do not let it, or the row has gone.')
    .waitFor();
  await page.getByRole('button', { name: 'Insert a row' }).click();
  await edit(shown, 0, 'speciesId', '1');
  await edit(shown, 0, 'siteId', '1');
  await edit(shown, 0, 'memberId', '00000000-0000-4000-8000-000000000002');
  await page.getByRole('button', { name: 'Undo the changes of row 1' }).click();
  await send(shown);
  await page
    .locator('.row-problem')
    .getByText(/violates row-level security policy/)
    .waitFor();
  assert.deepEqual(complaints, []);
});

test('changes stay with their caller and their table until they are sent', async (context) => {
  const shown = await open(context, shop, 'thing');
  const { page, bar, complaints } = shown;
  await edit(shown, 7, 'name', 'later');
  await bar.waitFor();
  await page.getByRole('navigation', { name: 'Tables' }).getByRole('button', { name: 'maker', exact: true }).click();
  await page.getByRole('region', { name: 'Rows of maker' }).waitFor();
  assert.equal(await bar.count(), 0);
  await page.getByRole('navigation', { name: 'Views' }).getByRole('button', { name: 'Query' }).click();
  await page.getByRole('navigation', { name: 'Views' }).getByRole('button', { name: 'Rows' }).click();
  await page.getByRole('navigation', { name: 'Tables' }).getByRole('button', { name: 'thing', exact: true }).click();
  await bar.getByText('1 change', { exact: true }).waitFor();
  await page.getByLabel('Role').selectOption('authenticated');
  await bar.waitFor({ state: 'detached' });
  await page.getByLabel('Role').selectOption('service_role');
  await bar.getByText('1 change', { exact: true }).waitFor();
  assert.deepEqual(complaints, []);
});

test('the grid is worked by keys alone', async (context) => {
  const { page, row, complaints } = await open(context, shop, 'thing');
  const focused = () => page.evaluate("document.activeElement.closest('[data-cell]')?.dataset.cell");
  await row(0).locator('td').first().focus();
  const keys = {
    ArrowDown: '2 1',
    ArrowRight: '2 2',
    End: '2 15',
    Home: '2 0',
    PageDown: '12 0',
    ArrowUp: '11 0',
    'Control+End': '20 15',
    'Control+Home': '0 0',
  };
  for (const [key, place] of Object.entries(keys)) {
    await page.keyboard.press(key);
    await until(async () => (await focused()) === place);
  }
  // The header orders by Enter.
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Enter');
  await page.locator('.row-grid thead th[aria-sort=ascending]').waitFor();
  await page.locator('.row-grid[aria-busy=false]').waitFor();
  for (const key of ['ArrowDown', 'ArrowRight', 'ArrowRight']) await page.keyboard.press(key);
  assert.equal(await focused(), '1 3');
  // Typing replaces the value, Tab goes on to the next cell, Enter to the one below.
  await page.keyboard.type('typed');
  await page.keyboard.press('Tab');
  await until(async () => (await focused()) === '1 4');
  await page.keyboard.press('Enter');
  await page.keyboard.type('5');
  await page.keyboard.press('Enter');
  await until(async () => (await focused()) === '2 4');
  await page.keyboard.press('Control+Delete');
  await page.getByText('2 changes').waitFor();
  // Only one cell is a stop of Tab.
  assert.equal(await page.locator('.row-grid [tabindex="0"]').count(), 1);
  assert.deepEqual(complaints, []);
});

test('a long number of a type that the API does not know keeps its digits, in the grid and in the editor', async (context) => {
  const only = {
    choice: { filters: [{ column: 'id', operator: 'eq', value: '9007199254740993' }], order: null, after: null, pageSize: 20 },
  };
  const shown = await open(context, shop, 'thing', { rows: only });
  const { page, cell, complaints } = shown;
  assert.equal(await (await cell(0, 'amount')).innerText(), '9223372036854775807');
  await edit(shown, 0, 'amount', '9223372036854775801');
  await send(shown);
  await page.getByText('1 row updated.').waitFor();
  assert.deepEqual(await query(shop, 'select amount::text from thing where id = 9007199254740993'), [{ amount: '9223372036854775801' }]);
  await page.getByRole('button', { name: 'Open in the editor' }).click();
  await page.getByRole('button', { name: /^Execute query/ }).click();
  await page.locator('.result-window .view-lines').filter({ hasText: '9223372036854775801' }).waitFor();
  assert.deepEqual(complaints, []);
});

test('composites, shapes and JSON of --json object are JSON in the grid; JSON is edited as text', async (context) => {
  const dev = await pages.startSql(
    `create type address as (city text, zip int);
     create table shop (id int primary key, home address, homes address[], facts jsonb, shaped jsonb);
     comment on column shop.shaped is '@graphql({"shape": {"type": "object", "properties": {"size": {"type": "integer"}}}})';
     insert into shop values (1, '("Ulm, old",89073)', '{"(Bonn,)",NULL}', '"text"', '{"size": 3, "more": true}');`,
    '--json',
    'object',
  );
  const shown = await open(context, dev, 'shop');
  const { page, cell, complaints } = shown;
  const texts = async (...names: readonly string[]) => Promise.all(names.map(async (name) => (await cell(0, name)).innerText()));
  assert.deepEqual(await texts('home', 'homes', 'shaped', 'shapedJSON'), [
    '{"city":"Ulm, old","zip":89073}',
    '{"city":"Bonn","zip":null}null',
    '{"size":3}',
    '{"more":true,"size":3}',
  ]);
  await (await cell(0, 'home')).focus();
  await page.keyboard.press('Enter');
  const home = page.getByRole('dialog').getByLabel('home', { exact: true });
  assert.equal(await home.inputValue(), '{\n  "city": "Ulm, old",\n  "zip": 89073\n}');
  assert.equal(await home.getAttribute('readonly'), '');
  await page.keyboard.press('Escape');
  for (const [before, after] of [
    ['"text"', '{"big": 9007199254740993}'],
    ['{\n  "big": 9007199254740993\n}', '"owl"'],
    ['"owl"', 'null'],
  ] as const) {
    await (await cell(0, 'facts')).focus();
    await page.keyboard.press('Enter');
    const facts = page.getByRole('dialog').getByLabel('facts', { exact: true });
    assert.equal(await facts.inputValue(), before);
    await facts.fill(after);
    await page.getByRole('button', { name: 'Keep' }).click();
    await send(shown);
    await page.getByText('1 row updated.').first().waitFor();
    await page.locator('.row-grid[aria-busy=false]').waitFor();
    assert.deepEqual(await query(dev, 'select facts::text from shop'), [{ facts: after }]);
  }
  assert.deepEqual(complaints, []);
});
