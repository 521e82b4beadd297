/**
 * What `npm test` runs: types, then lint and format, then all tests. All three run even if one fails; the exit code tells. Test files
 * may be named: `npm test -- src/plan/plan-filter.test.ts`.
 */
import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import path from 'node:path';

const root = path.join(import.meta.dirname, '..');
/** Tests that hang are ended, in milliseconds, and node's runner then tells which they are. */
const deadline = 9 * 60_000;
const allTests = ['src/**/*.test.ts', 'test/**/*.test.ts'];

interface Check {
  readonly name: string;
  readonly command: string;
  readonly flags: readonly string[];
}

const files = process.argv.slice(2);
const checks: readonly Check[] = [
  { name: 'types', command: bin('tsc'), flags: ['--noEmit'] },
  { name: 'lint and format', command: bin('biome'), flags: ['check', '--error-on-warnings', '.'] },
  {
    name: 'tests',
    command: process.execPath,
    flags: [
      '--test',
      '--test-reporter=spec',
      // A test file mostly waits for its database, so that two on one core do not hurt.
      `--test-concurrency=${Math.max(2, availableParallelism())}`,
      '--test-timeout=300000',
      ...(files.length > 0 ? files : allTests),
    ],
  },
];

requireNode(22, 18);
const results = checks.map((check) => `${check.name} ${runCheck(check) ? 'passed' : 'FAILED'}`);
console.log(`\nnpm test: ${results.join(', ')}`);
process.exitCode = results.some((result) => result.endsWith('FAILED')) ? 1 : 0;

function bin(name: string): string {
  return path.join(root, 'node_modules/.bin', name);
}

function runCheck({ name, command, flags }: Check): boolean {
  const start = performance.now();
  console.log(`\n— ${name}`);
  const { status, error } = spawnSync(command, flags, { cwd: root, stdio: 'inherit', timeout: deadline, killSignal: 'SIGINT' });
  if (error) console.error(String(error));
  console.log(`— ${name}: ${status === 0 ? 'passed' : 'FAILED'} in ${((performance.now() - start) / 1000).toFixed(1)} s`);
  return status === 0;
}

/** npm scripts find the Node of the devDependency `node` first; a direct call may come from an older one. */
function requireNode(major: number, minor: number): void {
  const [ownMajor = 0, ownMinor = 0] = process.versions.node.split('.').map(Number);
  if (ownMajor > major || (ownMajor === major && ownMinor >= minor)) return;
  console.error(`rowgraph needs Node ${major}.${minor} or newer, this is ${process.version}: run \`npm ci\` and then \`npm test\`.`);
  process.exit(1);
}
