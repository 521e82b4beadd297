/** What the tests of the page share: a browser, servers that show the page, and the parts of it that all of them use. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, type TestContext } from 'node:test';
import type { Browser, Locator, Page } from 'playwright-core';
import { bundleGraphiql } from '../../graphiql/bundle.ts';
import { signKey } from '../../src/auth/sign-key.ts';
import { startServer } from '../../src/http/transport/start-server.ts';
import { createTelemetry } from '../../src/telemetry/create-telemetry.ts';
import { removeFolder } from '../process/run-command.ts';
import { makeDevFolder, type Printed, startDev } from '../process/start-dev.ts';
import { startPgliteGraph } from '../support/pglite-graph.ts';
import { type Look, openPage, type ShownPage, startBrowser } from './browser.ts';

export const secret = 'a-secret-of-tests-with-more-than-32-bytes';

/** The pages of one test file: a browser, and servers that show them. */
export class Pages {
  readonly #started: Printed[] = [];
  #browser: Browser | null = null;
  #home: string | null = null;

  async open(): Promise<void> {
    this.#browser = await startBrowser();
    await bundleGraphiql();
    this.#home = await makeDevFolder();
  }

  async close(): Promise<void> {
    await this.#browser?.close();
    for (const { command } of this.#started) await command.stop();
    if (this.#home !== null) await removeFolder(this.#home);
  }

  /** The folder in which `rowgraph dev` runs. */
  get home(): string {
    return this.#home ?? assert.fail('not open yet');
  }

  /** `rowgraph dev`, on the example or as the arguments say. */
  async startDev(...commandArguments: string[]): Promise<Printed> {
    const dev = await startDev(this.home, ...commandArguments);
    this.#started.push(dev);
    return dev;
  }

  /** `rowgraph dev` on the tables of some SQL. */
  async startSql(sql: string, ...more: string[]): Promise<Printed> {
    const file = `tables-${this.#started.length}.sql`;
    await writeFile(path.join(this.home, file), sql);
    return this.startDev('--sql', file, ...more);
  }

  /** A page of its own, with nothing remembered; closed after the test. */
  async show(context: TestContext, url: string, look: Look = {}): Promise<ShownPage> {
    const shown = await openPage(this.#browser ?? assert.fail('not open yet'), url, look);
    context.after(() => shown.context.close());
    return shown;
  }

  /** The page of `rowgraph dev`, once its editor is there. `more` is added to the URL. */
  async showDev(context: TestContext, { facts }: Printed, more = '', look: Look = {}): Promise<ShownPage> {
    const shown = await this.show(context, `${facts['GraphiQL URL']}${more}`, look);
    await editor(shown.page).waitFor();
    return shown;
  }

  /** The page of a server, as `serve --graphiql` shows it: it asks for a key. */
  async showServed(context: TestContext, sql: string, introspection: 'on' | 'off' = 'on'): Promise<ShownPage> {
    const { graph, stop } = await startPgliteGraph(sql, { introspection });
    const server = await startServer({ graph, graphiql: true, jwtSecret: secret, telemetry: createTelemetry({ level: 'silent' }) });
    context.after(async () => {
      await server.close();
      await stop();
    });
    return this.show(context, `${server.url}/graphiql`);
  }
}

/** Opens the pages of a file before its tests, with the servers that it starts, and closes everything after them. */
export function preparePages(start: (pages: Pages) => Promise<unknown>): Pages {
  const pages = new Pages();
  before(async () => {
    await pages.open();
    await start(pages);
  });
  after(() => pages.close());
  return pages;
}

export const editor = (page: Page) => page.locator('.graphiql-query-editor .view-lines').first();
export const result = (page: Page) => page.locator('.result-window .view-lines');
export const dialog = (page: Page) => page.getByRole('dialog');
export const tab = (page: Page, name: string) => page.getByRole('tab', { name, exact: true });
export const view = (page: Page, name: string) => page.getByRole('navigation', { name: 'Views' }).getByRole('button', { name });
export const panel = (page: Page, name: string) => page.getByRole('navigation', { name: 'Panels' }).getByRole('button', { name });

/** The tab of an operation. */
export const operation = (page: Page, name: string) => page.getByRole('listitem').getByRole('button', { name, exact: true });
export const role = (page: Page) => page.getByLabel('Role');
/** A table of the diagram. */
export const table = (page: Page, name: string) => page.locator(`.table-box[data-table="${name}"]`);

/** In the list of tables of the rows. */
export const chooseTable = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Tables' }).getByRole('button', { name, exact: true }).click();

export async function openExplorer(page: Page): Promise<void> {
  await panel(page, 'Explorer').click();
  await page.getByRole('tree').waitFor();
}

/** What an editor shows, with plain spaces. */
export async function textOf(locator: Locator): Promise<string> {
  return (await locator.innerText()).replaceAll('\u00a0', ' ');
}

/** Waits until an editor shows a text. Its spaces are not plain ones. */
export async function waitForText(locator: Locator, pattern: RegExp): Promise<void> {
  await locator.filter({ hasText: new RegExp(pattern.source.replaceAll(' ', '\\s'), pattern.flags) }).waitFor();
}

/** Replaces what stands in the editor. */
export async function write(page: Page, query: string): Promise<void> {
  await editor(page).click();
  await page.keyboard.press('Control+A');
  await page.keyboard.insertText(query);
  await waitForText(
    editor(page),
    new RegExp(
      query
        .slice(0, 20)
        .split('\n', 1)[0]!
        .replaceAll(/[^\w ]/g, '.'),
    ),
  );
}

/** Runs what stands in the editor. */
export async function execute(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Execute query/ }).click();
}

/** Gives the page of a server a key of the service role. */
export async function giveKey(page: Page): Promise<void> {
  await page.getByLabel(/Key of the project/).fill(await signKey(secret, 'service_role', '1 hour'));
  await page.getByRole('button', { name: 'Use these' }).click();
  await editor(page).waitFor();
}

/** Runs what stands in the editor, and waits for its response. */
export async function run({ page }: ShownPage, pattern: RegExp): Promise<void> {
  await execute(page);
  await waitForText(result(page), pattern);
}
