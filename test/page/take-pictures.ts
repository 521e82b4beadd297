/** Takes the pictures of the page for the README and docs/graphiql.md: `node test/page/take-pictures.ts` writes `docs/images/page-*.png`. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { bundleGraphiql } from '../../graphiql/bundle.ts';
import { makeFolder, removeFolder } from '../process/run-command.ts';
import { startDev } from '../process/start-dev.ts';
import { animate } from './animate.ts';
import { type Look, openPage, startBrowser } from './browser.ts';

const images = path.join(import.meta.dirname, '../../docs/images');

interface Picture {
  readonly name: string;
  readonly look: Look;
  readonly prepare: (page: Page) => Promise<void>;
}

const desktop = { width: 1280, height: 800 };
const view = (page: Page, name: string): Promise<void> =>
  page.getByRole('navigation', { name: 'Views' }).getByRole('button', { name }).click();

async function run(page: Page, text: string): Promise<void> {
  await page.getByRole('button', { name: /^Execute query/ }).click();
  await page.locator('.result-window .view-lines').filter({ hasText: text }).waitFor();
}

/** Colours and the caret settle in the frames behind. */
async function settle(page: Page): Promise<void> {
  for (let frame = 0; frame < 30; frame++) await page.evaluate('new Promise((resolve) => requestAnimationFrame(resolve))');
}

/** The same query as nobody and as two members, an image of each. */
async function showCallers(page: Page): Promise<Buffer> {
  const images: Buffer[] = [];
  await page.getByRole('listitem').getByRole('button', { name: 'Sightings', exact: true }).click();
  const callers = [
    { role: 'anon', user: null, shown: '"totalCount": 0' },
    { role: 'authenticated', user: 'Ada Brandt', shown: 'Ada Brandt' },
    { role: 'authenticated', user: 'Bela Kovacs', shown: 'Bela Kovacs' },
  ];
  for (const { role, user, shown } of callers) {
    await page.getByLabel('Role').selectOption(role);
    if (user !== null) await page.getByLabel('User').selectOption({ label: user });
    await run(page, shown);
    await settle(page);
    images.push(await page.screenshot({ animations: 'disabled', caret: 'hide' }));
  }
  return animate(images, 2.5);
}

const pictures: readonly Picture[] = [
  {
    name: 'query',
    look: desktop,
    prepare: async (page) => {
      await page.getByLabel('Role').selectOption('authenticated');
      await page.getByLabel('User').selectOption({ label: 'Ada Brandt' });
      await page.getByRole('listitem').getByRole('button', { name: 'Sightings', exact: true }).click();
      await run(page, 'Ada');
    },
  },
  {
    name: 'plan',
    look: { width: 1120, height: 660, colorScheme: 'dark' },
    prepare: async (page) => {
      await page.getByRole('listitem').getByRole('button', { name: 'RareBirds', exact: true }).click();
      await run(page, 'totalCount');
      await page.getByRole('tab', { name: 'Plan' }).click();
      await page.getByText(/ms to run/).waitFor();
    },
  },
  {
    name: 'diagram',
    look: desktop,
    prepare: async (page) => {
      await view(page, 'Diagram');
      await page.locator('.table-box').first().waitFor();
    },
  },
  {
    name: 'rows',
    look: desktop,
    prepare: async (page) => {
      await view(page, 'Rows');
      await page.getByRole('navigation', { name: 'Tables' }).getByRole('button', { name: 'Species', exact: true }).click();
      await page.getByRole('button', { name: 'name', exact: true }).click();
      await page.getByLabel('Column to filter by').selectOption('status');
      await page.getByRole('combobox', { name: 'Value' }).selectOption('VULNERABLE');
      await page.getByRole('button', { name: 'Filter' }).click();
      await page.getByText('The GraphQL of this page').click();
      await page
        .locator('.row-grid tbody')
        .filter({ hasText: 'Puffin' })
        .filter({ hasNotText: /least.concern/i })
        .waitFor();
    },
  },
  {
    name: 'search',
    look: desktop,
    prepare: async (page) => {
      await page.keyboard.press('Control+K');
      await page.keyboard.type('sight');
      await page.getByRole('option').filter({ hasText: 'sightingCollection' }).first().waitFor();
    },
  },
  { name: 'phone', look: { width: 390, height: 800 }, prepare: (page) => run(page, 'Godwit') },
];

const home = await makeFolder();
const browser = await startBrowser();
try {
  await bundleGraphiql();
  const dev = await startDev(home);
  for (const { name, look, prepare } of pictures) {
    const { page, context } = await openPage(browser, dev.facts['GraphiQL URL'] ?? '', look);
    await page.locator('.graphiql-query-editor .view-lines').first().waitFor();
    await prepare(page);
    await settle(page);
    await page.screenshot({ path: path.join(images, `page-${name}.png`), animations: 'disabled', caret: 'hide' });
    await context.close();
  }
  const { page, context } = await openPage(browser, dev.facts['GraphiQL URL'] ?? '', { width: 1120, height: 560 });
  await page.locator('.graphiql-query-editor .view-lines').first().waitFor();
  await writeFile(path.join(images, 'page-callers.png'), await showCallers(page));
  await context.close();
  await dev.command.stop();
} finally {
  await browser.close();
  await removeFolder(home);
}
