/**
 * A browser of the system, driven from here. Out: pages of a size, which note what a user would have to complain of: errors on the console, failed requests,
 * and requests to elsewhere.
 */
import { accessSync, constants, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

export interface ShownPage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** What a user would have to complain of. */
  readonly complaints: string[];
  /** What went over the wire so far, in bytes. */
  readonly transferred: () => number;
}

export interface Look {
  readonly width?: number;
  readonly height?: number;
  readonly colorScheme?: 'light' | 'dark';
}

/** Starts it. Throws where there is none, and says how to get it. */
export function startBrowser(): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === null)
    throw new Error(
      'There is no chromium on the path. Install it (apt-get install chromium), or name one by the environment variable CHROMIUM.',
    );
  const quiet = ['--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run'];
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu', ...quiet] });
}

function findChromium(): string | null {
  const folders = (process.env.PATH ?? '').split(path.delimiter);
  const named = process.env.CHROMIUM === undefined ? [] : [process.env.CHROMIUM];
  const candidates = [...named, ...['chromium', 'chromium-browser'].flatMap((name) => folders.map((folder) => path.join(folder, name)))];
  return candidates.find(isExecutable) ?? null;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** In milliseconds: how long a test waits for what should be there at once. */
const patience = 30_000;

/** Opens a URL in a context of its own, with nothing remembered. */
export async function openPage(
  browser: Browser,
  url: string,
  { width = 1280, height = 800, colorScheme = 'light' }: Look = {},
): Promise<ShownPage> {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme,
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  const page = await context.newPage();
  page.setDefaultTimeout(patience);
  const complaints: string[] = [];
  let bytes = 0;
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => complaints.push(`error: ${error.message}`));
  page.on('request', (request) => {
    if (!['data:', 'blob:'].includes(new URL(request.url()).protocol) && new URL(request.url()).origin !== new URL(url).origin)
      complaints.push(`request to elsewhere: ${request.url()}`);
  });
  const network = await context.newCDPSession(page);
  await network.send('Network.enable');
  // What stands in a style sheet came with it.
  const inline = new Set<string>();
  network.on('Network.requestWillBeSent', ({ requestId, request }) => {
    if (request.url.startsWith('data:')) inline.add(requestId);
  });
  network.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    if (!inline.has(requestId)) bytes += encodedDataLength;
  });
  await page.goto(url);
  return { page, context, complaints, transferred: () => bytes };
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** What axe finds in what is shown now. */
export async function findBarriers({ page }: ShownPage): Promise<readonly string[]> {
  // The policy of the page lets no script in but its own; the debugger stands above that.
  await page.evaluate(axe);
  const violations = (await page.evaluate('axe.run().then(({ violations }) => violations)')) as readonly Violation[];
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary}`));
}
