/** What `npm run test:site` runs: builds the documentation as a site, and holds it to be whole, searchable, and free of requests to others. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { parts } from '../../site/navigation.ts';
import { root } from '../run-checks.ts';

const site = path.join(root, 'site/.vitepress/dist');
const read = (file: string): string => readFileSync(path.join(site, file), 'utf8');
const pages = (): string[] => globSync('**/*.html', { cwd: site }).filter((page) => page !== '404.html');

before(() => {
  // VitePress ends the build at the first page with a link that leads nowhere.
  execFileSync('npm', ['run', 'docs:build'], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
});

test('each page of the navigation is built, and in the sidebar', () => {
  const listed = Object.values(parts).flat();
  // The first page has no sidebar.
  const tour = read('docs/tour.html');
  for (const page of listed) {
    const built = page.replace(/\.md$/, '.html');
    assert.ok(existsSync(path.join(site, built)), built);
    assert.ok(tour.includes(`href="/${built}"`), `${built} is not in the sidebar`);
  }
});

test('the first page shows what it is, how it looks, how it reads, how to start, and how it compares', () => {
  const home = read('index.html');
  assert.match(home, /class="[^"]*VPHero[^"]*"/);
  assert.match(home, /<img[^>]* src="\/docs\/images\/page-callers\.png"/);
  for (const heading of ['From a table to an answer', 'Start', 'Compared with others'])
    assert.match(home, new RegExp(`<h2[^>]*>${heading}`));
  assert.match(home, /taskCollection/);
});

test('each link and image leads to a file of the site, and to a place in it', () => {
  const broken = pages().flatMap((page) => {
    const targets = [...read(page).matchAll(/<(?:a|link|script|img)\b[^>]*? (?:href|src)="([^"]+)"/g)].map(([, target = '']) => target);
    return targets.filter((target) => !isThere(page, target.replaceAll('&amp;', '&'))).map((target) => `${page}: ${target}`);
  });
  assert.deepEqual(broken, []);
});

function isThere(page: string, target: string): boolean {
  const { protocol, host, pathname, hash } = new URL(target, `http://site/${page}`);
  if (host !== 'site') return protocol === 'https:' || protocol === 'http:' || protocol === 'mailto:';
  const file = decodeURIComponent(pathname === '/' ? '/index.html' : pathname).slice(1);
  if (!existsSync(path.join(site, file))) return false;
  return hash === '' || read(file).includes(`id="${decodeURIComponent(hash.slice(1))}"`);
}

test('a browser asks nobody else for anything', () => {
  const loading = /<(?:script|img|iframe|source|video|audio)\b[^>]*? src="(?:https?:)?\/\/|<link\b[^>]*? href="(?:https?:)?\/\//;
  for (const page of [...pages(), '404.html']) assert.doesNotMatch(read(page), loading, page);
  for (const style of globSync('**/*.css', { cwd: site }))
    assert.doesNotMatch(read(style), /(?:url\(|@import )["']?(?:https?:)?\/\//, style);
  for (const script of globSync('**/*.js', { cwd: site })) {
    assert.doesNotMatch(read(script), /(?:fetch|import|importScripts|sendBeacon|EventSource)\(["'`](?:https?:)?\/\//, script);
  }
});

/** What the page's own search does: VitePress's index, in the library that reads it. */
async function openSearch(): Promise<(words: string) => readonly string[]> {
  const [index = ''] = globSync('assets/chunks/@localSearchIndex*.js', { cwd: site });
  const { default: text } = (await import(pathToFileURL(path.join(site, index)).href)) as { default: string };
  const library = pathToFileURL(path.join(root, 'site/node_modules/minisearch/dist/es/index.js')).href;
  const { default: MiniSearch } = await import(library);
  const search = MiniSearch.loadJSON(text, { fields: ['title', 'titles', 'text'], storeFields: ['title', 'titles'] });
  return (words) => (search.search(words, { combineWith: 'AND' }) as { id: string }[]).map(({ id }) => id);
}

test('the search finds each page by its heading, and places by their words', async () => {
  const search = await openSearch();
  for (const page of Object.values(parts).flat()) {
    const heading = /^# (.+)$/m.exec(readFileSync(path.join(root, page), 'utf8'))?.[1]?.replaceAll('`', '') ?? '';
    const found = search(heading).some((id) => id.startsWith(`/${page.replace(/\.md$/, '.html')}#`));
    assert.ok(found, `${page}: ${heading}`);
  }
  for (const [words, page] of [
    ['jsonb filter', 'docs/api/filters'],
    ['pagination cursor', 'docs/api/pagination'],
    ['computed fields', 'docs/api/functions'],
    ['comment directives', 'docs/api/directives'],
    ['agents MCP', 'docs/agents'],
  ] as const)
    assert.equal(search(words)[0]?.split('.html')[0], `/${page}`, words);
  assert.match(search('nodeInterfaceIdField')[0] ?? '', /^\/docs\/clients\/relay\.html#/);
  assert.match(search('idempotency key reused')[0] ?? '', /^\/docs\/(?:errors|idempotency)\.html#/);
});
