/**
 * Runs test files: `node test/run-files.ts [--concurrency=4] [--skip=NAME] FILE…`. Tests and suites of such a name are left out. What takes longest has a
 * process of its own and starts first, so that it does not run alone in the end; of the others, several share a process, each as a suite. Tests that hang
 * are ended, after minutes on which even a busy machine has done something, and named.
 */
import { globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

/** One test, in milliseconds. */
const testDeadline = 5 * 60_000;
/** No test of any file began or ended: one of them does not even get to its own deadline. */
const stallDeadline = 2 * testDeadline;

/** Loading `src` takes longer than most files run. The number is the same on every machine, and so is what runs in one process. */
const mostShared = 20;

/** Where the files are that take longest. */
const slowFiles = [
  'test/property/',
  'test/process/',
  'test/conformance/',
  'test/freshness/',
  'test/abuse/',
  'test/docs.test.ts',
  'test/pages.test.ts',
  'test/page/',
  'test/clients/',
];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { concurrency: { type: 'string', default: '1' }, skip: { type: 'string', multiple: true, default: [] } },
});
const files = globSync(positionals, { exclude: ['**/node_modules/**'] }).sort(
  (one, other) => placeOf(one) - placeOf(other) || (one < other ? -1 : 1),
);
if (files.length === 0) {
  console.error(`No test file matches ${positionals.join(' ')}.`);
  process.exit(1);
}

const isSlow = (file: string): boolean => placeOf(file) < slowFiles.length;

const folder = mkdtempSync(path.join(tmpdir(), 'rowgraph-tests-'));
process.once('exit', () => rmSync(folder, { recursive: true }));

const controller = new AbortController();
const giveUp = (): void => controller.abort();
const stalled = setTimeout(() => {
  console.error(`No test began or ended for ${stallDeadline / 60_000} minutes.`);
  giveUp();
}, stallDeadline);
process.once('SIGINT', giveUp).once('SIGTERM', giveUp);

const preload = path.join(import.meta.dirname, 'support/end-what-hangs.ts');
const events = run({
  files: [...files.filter(isSlow).map((file) => path.resolve(file)), ...share(files.filter((file) => !isSlow(file)))],
  concurrency: Number(values.concurrency),
  testSkipPatterns: values.skip.map((name) => new RegExp(name)),
  // For the tests, and not for the whole of a file.
  execArgv: [`--test-timeout=${testDeadline}`, '--import', preload],
  signal: controller.signal,
});
events.on('test:fail', ({ todo }) => {
  if (todo === undefined) process.exitCode = 1;
});
// The other events of a file come when those before it are reported.
for (const kind of ['test:dequeue', 'test:complete'] as const) events.on(kind, () => void stalled.refresh());
events.on('end', () => clearTimeout(stalled));
events.compose(spec).pipe(process.stdout);

function placeOf(file: string): number {
  const place = slowFiles.findIndex((start) => file.startsWith(start));
  return place < 0 ? slowFiles.length : place;
}

/** Deals files to processes. Out: the files to run, which are new where several share a process. */
function share(shared: readonly string[]): string[] {
  if (shared.length <= mostShared) return shared.map((file) => path.resolve(file));
  return Array.from({ length: mostShared }, (_, process) => {
    const suites = shared
      .filter((_file, index) => index % mostShared === process)
      .map((file) => `suite(${JSON.stringify(file)}, async () => { await import(${JSON.stringify(pathToFileURL(file).href)}); });\n`);
    const name = path.join(folder, `shared-${process + 1}.test.mjs`);
    writeFileSync(name, `import { suite } from 'node:test';\n${suites.join('')}`);
    return name;
  });
}
