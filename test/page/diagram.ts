/** The diagram of a large schema in a browser: found, limited, zoomed, and gone on from. Run by `npm run test:page`. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Page } from 'playwright-core';
import type { Printed } from '../process/start-dev.ts';
import { until } from '../support/until.ts';
import { findBarriers, type Look, type ShownPage } from './browser.ts';
import { editor, preparePages, view, waitForText } from './page-world.ts';

/** 322 tables as programs have them: modules of related tables, and a hub that a third of them refers to. */
function writeTables(): string {
  const tables = Array.from({ length: 319 }, (_, number) => {
    const module = Math.floor(number / 8);
    const place = number % 8;
    const parent = place === 0 ? '' : `, parent int references module_${module}_part_${Math.floor((place - 1) / 2)}`;
    const hub = number % 3 === 0 ? ', member_id int references member' : '';
    return `create table module_${module}_part_${place} (id int primary key, name text, note text, at timestamptz, amount numeric${parent}${hub});`;
  });
  return `create table member (id int primary key, name text); ${tables.join('\n')}
    create view module_view as select id, name from member;
    comment on view module_view is '@graphql({"primary_key_columns": ["id"]})';
    create schema billing; create table billing.invoice (id int primary key, member_id int references public.member);
    grant usage on schema billing to anon, authenticated, service_role; grant select on billing.invoice to anon, authenticated, service_role;`;
}

let dev: Printed;
const pages = preparePages(async (pages) => {
  dev = await pages.startSql(writeTables(), '--schemas', 'public,billing');
});

const boxes = (page: Page) => page.locator('.table-box');
const box = (page: Page, type: string) => page.locator(`.table-box[data-table="${type}"]`);

async function open(context: TestContext, look: Look = {}, hash = ''): Promise<ShownPage> {
  const shown = await pages.show(context, `${dev.facts['GraphiQL URL']}#view=Diagram${hash}`, look);
  // The first page of a schema of this size takes its time on a busy machine.
  await boxes(shown.page).first().waitFor({ timeout: 120_000 });
  return shown;
}

test('322 tables are names that can be read, and fit', async (context) => {
  const { page, complaints } = await open(context, { width: 1440, height: 900 });
  await page.getByText('322 tables').waitFor();
  assert.equal(await boxes(page).count(), 322);
  assert.equal(await page.locator('.column-line').count(), 0, 'names alone');
  const facts = (await page.evaluate(`(() => {
    const area = document.querySelector('.diagram svg').getBoundingClientRect();
    const all = [...document.querySelectorAll('.table-frame')].map((each) => each.getBoundingClientRect());
    const isIn = ({ left, top, right, bottom }) => left >= area.left && top >= area.top && right <= area.right + 1 && bottom <= area.bottom + 1;
    return { outside: all.filter((each) => !isIn(each)).length, text: document.querySelector('.table-name').getBoundingClientRect().height };
  })()`)) as { outside: number; text: number };
  assert.equal(facts.outside, 0);
  assert.ok(facts.text >= 6, `names are ${facts.text} pixels high`);
  await page.getByLabel('Columns').check();
  await page.locator('.column-line').first().waitFor();
  assert.deepEqual(complaints, []);
});

test('a table is found, and shown with its neighbours at a distance of 1 to 3', async (context) => {
  const { page, complaints } = await open(context);
  await page.getByLabel('Find a table or column').fill('module_7_part_0');
  await page.keyboard.press('Enter');
  const actions = page.getByRole('region', { name: 'The table module_7_part_0' });
  await actions.getByRole('button', { name: 'Show its neighbours' }).click();
  await page.getByText(/^[34] of 322 tables$/).waitFor();
  await box(page, 'module_7_part_1').waitFor();
  assert.ok((await page.locator('.column-line').count()) > 0, 'few tables show their columns');
  await page.getByLabel('Distance').selectOption('2');
  await box(page, 'module_7_part_3').waitFor();
  await page.getByLabel('Distance').selectOption('3');
  await box(page, 'module_7_part_7').waitFor();
  const other = await pages.show(context, page.url());
  await box(other.page, 'module_7_part_7').waitFor();
  assert.equal(await boxes(other.page).count(), await boxes(page).count());
  await page.getByRole('button', { name: 'All tables' }).click();
  await page.getByText('322 tables').waitFor();
  assert.deepEqual([...complaints, ...other.complaints], []);
});

test('the tables of a schema or a kind are shown alone', async (context) => {
  const { page, complaints } = await open(context);
  await page.getByLabel('Which tables').selectOption('schema billing');
  await page.getByText('1 of 322 tables').waitFor();
  assert.equal(await boxes(page).getAttribute('data-table'), 'invoice');
  await page.getByLabel('Which tables').selectOption('kind view');
  await box(page, 'module_view').waitFor();
  await page.getByLabel('Which tables').selectOption('all tables');
  await page.getByText('322 tables').waitFor();
  assert.deepEqual(complaints, []);
});

test('a table opens in the editor, in Rows and in Policies', async (context) => {
  const { page, complaints } = await open(context);
  const choose = async (): Promise<void> => {
    await page.getByLabel('Find a table or column').fill('member');
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: 'The table member' }).waitFor();
  };
  const current = (name: string) => page.locator('nav[aria-label=Views] [aria-current=page]', { hasText: name });
  const back = () => page.getByRole('navigation', { name: 'Views' }).getByRole('button', { name: 'Diagram' }).click();
  await choose();
  await page.getByRole('button', { name: 'Open in Policies' }).click();
  await page.getByRole('heading', { level: 2, name: 'member', exact: true }).waitFor();
  await back();
  await choose();
  await page.getByRole('button', { name: 'Open in Rows' }).click();
  await current('Rows').waitFor();
  assert.match(decodeURIComponent(page.url()), /rows=\{"table":"member"/);
  await back();
  await choose();
  await page.getByRole('button', { name: 'Write a query' }).click();
  await current('Query').waitFor();
  await page.locator('.graphiql-query-editor', { hasText: 'memberCollection' }).waitFor();
  assert.deepEqual(complaints, []);
});

test('the diagram is worked by keys alone', async (context) => {
  const { page, complaints } = await open(context, {}, `&diagram=${encodeURIComponent('{"table":"module_3_part_0","distance":2}')}`);
  const focused = page.locator(':focus');
  await page.getByRole('button', { name: 'Fit' }).focus();
  while ((await focused.getAttribute('class')) !== 'table-button') await page.keyboard.press('Tab');
  assert.equal(await focused.getAttribute('aria-label'), 'module_3_part_0', 'the chosen one is reached');
  await page.keyboard.press('ArrowLeft');
  const next = (await focused.getAttribute('aria-label')) ?? '';
  assert.notEqual(next, 'module_3_part_0');
  const width = (await box(page, next).boundingBox())!.width;
  await page.keyboard.press('+');
  await until(async () => (await page.evaluate(`document.activeElement.getBoundingClientRect().width > ${width * 1.1}`)) === true);
  await page.keyboard.press('0');
  await page.keyboard.press('Enter');
  await page.getByRole('region', { name: `The table ${next}` }).waitFor();
  assert.equal(await focused.innerText(), 'Write a query');
  await page.keyboard.press('Enter');
  await page.locator('.graphiql-query-editor', { hasText: `${next}Collection` }).waitFor();
  assert.deepEqual(complaints, []);
});

test('the diagram has 200 tables, finds one, and writes a query for it', async (context) => {
  const columns = Array.from({ length: 8 }, (_, index) => `c${index} text`).join(', ');
  const tables = Array.from({ length: 200 }, (_, index) => {
    const parent = index === 0 ? '' : `, parent int references part_${Math.floor((index - 1) / 3)}`;
    return `create table part_${index} (id int primary key, ${columns}${parent});`;
  });
  const shown = await pages.showDev(context, await pages.startSql(tables.join('\n')));
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
  await until(
    async () => (await page.evaluate(`document.querySelector('.table-box').getBoundingClientRect().width > ${after.width * 1.5}`)) === true,
  );
  await page.getByLabel('Find a table or column').fill('part_177');
  await page.keyboard.press('Enter');
  await page.locator('.table-box:not(.faint)', { has: page.getByText('part_177', { exact: true }) }).click();
  await page.getByRole('button', { name: 'Write a query' }).click();
  await waitForText(editor(page), /part_177Collection\(first: 3\)/);
  assert.deepEqual(complaints, []);
});

for (const look of [{}, { colorScheme: 'dark' }, { width: 390, height: 800 }] as const satisfies readonly Look[])
  test(`axe finds no barriers in the diagram: ${JSON.stringify(look)}`, async (context) => {
    const shown = await open(context, look);
    const { page } = shown;
    await page.getByLabel('Find a table or column').fill('member');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Show its neighbours' }).click();
    await page.getByLabel('Distance').waitFor();
    assert.deepEqual(await findBarriers(shown), []);
    const { width = 1280 }: Look = look;
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), width);
  });
