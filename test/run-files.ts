/**
 * Runs test files: `node test/run-files.ts [--concurrency=4] [--skip=NAME] FILE…`. Tests and suites with a skipped name are left out. The
 * slowest files have a process each and start first, so that they do not run alone at the end; the others share processes, each file as a
 * suite. A test that hangs is ended and named, after minutes in which even a busy machine would have made progress.
 */
import { globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

/** For one test, in milliseconds. */
const testDeadline = 5 * 60_000;
/** If no test of any file begins or ends for this long, one of them cannot even reach its own deadline. */
const stallDeadline = 2 * testDeadline;

/**
 * How many files share a process, because loading `src` takes longer than most files run. The same on every machine, so that each process
 * always has the same files.
 */
const mostShared = 20;

/** The slowest files and folders. */
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
  // The limit is for each test, not for a whole file.
  execArgv: [`--test-timeout=${testDeadline}`, '--import', preload],
  signal: controller.signal,
});
events.on('test:fail', ({ todo }) => {
  if (todo === undefined) process.exitCode = 1;
});
// Other events of a file are held back until earlier ones have been reported.
for (const kind of ['test:dequeue', 'test:complete'] as const) events.on(kind, () => void stalled.refresh());
events.on('end', () => clearTimeout(stalled));
events.compose(spec).pipe(process.stdout);

function placeOf(file: string): number {
  const place = slowFiles.findIndex((start) => file.startsWith(start));
  return place < 0 ? slowFiles.length : place;
}

/** Distributes files over processes. Out: the files to run; generated ones if several share a process. */
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
