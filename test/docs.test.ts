/**
 * Checks the documentation against what it describes: the tables of codes and settings, the links between pages, and the figures of the README.
 */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { withFigures } from '../bench/report/report.ts';
import { withSettings } from '../build/settings-table.ts';
import { withTypes } from '../build/types-table.ts';
import { parts } from '../site/navigation.ts';
import { limitTable } from '../src/budget/limits.ts';
import { findingCodes } from '../src/doctor/finding-codes.ts';
import { errorCodes } from '../src/errors/codes.ts';

const root = path.join(import.meta.dirname, '..');
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');

test('docs/errors.md lists the error codes of src/errors/codes.ts', () => {
  const rows = [...read('docs/errors.md').matchAll(/^\| `(\w+)` \| (\d+) \| (.+) \|$/gm)].map(([, ...cells]) => cells);
  const table = Object.entries(errorCodes).map(([code, { status, meaning }]) => [code, String(status), meaning]);
  assert.deepEqual(rows, table);
});

test('docs/limits.md lists the limits of src/budget/limits.ts', () => {
  const rows = [...read('docs/limits.md').matchAll(/^\| `(\w+)` \| ([\d,]+) \| ([\d,]+) \| `(\w+)` \|/gm)].map(([, ...cells]) => cells);
  const written = (count: number): string => count.toLocaleString('en-US');
  const table = Object.entries(limitTable).map(([name, limit]) => [name, written(limit.default), written(limit.strict), limit.code]);
  assert.deepEqual(rows, table);
});

test('docs/mounting.md lists the options of handlers in their types', () => {
  const table = /^### Options$([\s\S]*?)^A wrong option/m.exec(read('docs/mounting.md'))?.[1] ?? '';
  const listed = [...table.matchAll(/^\| (`.+?) \|/gm)].flatMap(([, names = '']) => names.replaceAll('`', '').split(', '));
  const files = [
    'auth/token-options.ts',
    'http/endpoint/endpoint-options.ts',
    'http/transport/create-node-handler.ts',
    'http/transport/create-fetch-handler.ts',
  ];
  const typed = files.flatMap((file) => [...read(`src/${file}`).matchAll(/^ {2}readonly (\w+)\?:/gm)].map(([, name]) => name));
  assert.deepEqual(listed.sort(), [...new Set(typed)].sort());
});

test('docs/diagnose.md lists the findings of src/doctor/finding-codes.ts', () => {
  const rows = [...read('docs/diagnose.md').matchAll(/^\| `([\w-]+)` \| (\w+) \| (.+) \| (.+) \|$/gm)].map(([, ...cells]) => cells);
  const table = Object.entries(findingCodes).map(([code, { severity, meaning, remedy }]) => [code, severity, meaning, remedy]);
  assert.deepEqual(rows, table);
});

test('docs/settings.md has the settings of src/settings/settings.ts, and where dev differs', () => {
  assert.equal(read('docs/settings.md'), withSettings(read('docs/settings.md')), 'Run node build/settings-table.ts');
});

test('docs/types.md has the types of src/model/types/postgres-types.ts', () => {
  assert.equal(read('docs/types.md'), withTypes(read('docs/types.md')), 'Run node build/types-table.ts');
});

test('each link between the pages leads to an existing file and heading', () => {
  const pages = globSync(['*.md', 'docs/**/*.md', 'test/**/*.md', 'examples/**/*.md', 'bench/*.md'], {
    cwd: root,
    exclude: ['**/node_modules'],
  });
  const broken = pages.flatMap((page) => {
    const links = [...withoutCode(read(page)).matchAll(/\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?/g)];
    const isBroken = ([, target = '', anchor]: RegExpExecArray): boolean => {
      const file = target === '' ? page : path.join(path.dirname(page), target);
      return !existsSync(path.join(root, file)) || (anchor !== undefined && !anchorsOf(read(file)).includes(anchor));
    };
    return links.filter(isBroken).map(([link]) => `${page}: ${link}`);
  });
  assert.deepEqual(broken, []);
});

test('the README shows the figures of bench/results.md', () => {
  const isUpToDate = read('README.md') === withFigures(read('README.md'), read('bench/results.md'));
  assert.ok(isUpToDate, 'Run npm run bench -- --publish');
});

test('the navigation of the site has each page of docs/, and no link is rejected by the site', () => {
  const pages = globSync('docs/**/*.md', { cwd: root });
  const listed = Object.values(parts).flat();
  assert.deepEqual(
    pages.filter((page) => !listed.includes(page)),
    [],
    'List them in site/navigation.ts',
  );
  const local = listed.filter((page) => /(?:\]\(|<)https?:\/\/localhost/.test(withoutCode(read(page))));
  assert.deepEqual(local, [], 'VitePress takes a link to localhost for a mistake: write it as code');
});

function withoutCode(page: string): string {
  return page.replace(/^```[\s\S]*?^```/gm, '');
}

/** The anchors that GitHub gives to the headings of a page. */
function anchorsOf(page: string): string[] {
  const counts = new Map<string, number>();
  return [...withoutCode(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => {
    const anchor = heading
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-');
    const count = counts.get(anchor) ?? 0;
    counts.set(anchor, count + 1);
    return count === 0 ? anchor : `${anchor}-${count}`;
  });
}
