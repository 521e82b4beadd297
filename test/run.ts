/**
 * What `npm test` runs: types, then lint and format, then all tests. All three run even if one fails; the exit code tells. Test files
 * may be named: `npm test -- src/plan/plan-filter.test.ts`.
 */
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { stripVTControlCharacters } from 'node:util';

const root = path.join(import.meta.dirname, '..');
/** Tests that hang are ended, in milliseconds, and node's runner then tells which they are. */
const deadline = 20 * 60_000;
const allTests = ['src/**/*.test.ts', 'test/**/*.test.ts'];

interface Check {
  readonly name: string;
  readonly command: string;
  readonly flags: readonly string[];
}

interface Outcome {
  readonly name: string;
  readonly passed: boolean;
  readonly counts: readonly string[];
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
const outcomes: Outcome[] = [];
for (const check of checks) outcomes.push(await runCheck(check));
console.log(`\n${outcomes.flatMap(({ counts }) => counts).join('\n')}`);
console.log(`npm test: ${outcomes.map(({ name, passed }) => `${name} ${passed ? 'passed' : 'FAILED'}`).join(', ')}`);
process.exitCode = outcomes.every(({ passed }) => passed) ? 0 : 1;

function bin(name: string): string {
  return path.join(root, 'node_modules/.bin', name);
}

/** Runs a command and passes on what it prints. Of node's runner, the counts are kept to be the last lines, behind the failures. */
async function runCheck({ name, command, flags }: Check): Promise<Outcome> {
  const start = performance.now();
  console.log(`\n— ${name}`);
  const env = process.stdout.isTTY ? { ...process.env, FORCE_COLOR: '1' } : process.env;
  const child = spawn(command, flags, { cwd: root, env, stdio: ['ignore', 'pipe', 'inherit'], timeout: deadline, killSignal: 'SIGINT' });
  const counts: string[] = [];
  const lines = createInterface(child.stdout);
  lines.on('line', (line) => {
    console.log(line);
    if (/^ℹ (tests|pass|fail|skipped|duration_ms)/.test(stripVTControlCharacters(line))) counts.push(line);
  });
  const passed = await new Promise<boolean>((resolve) => {
    child.once('error', (error) => {
      console.error(error.message);
      resolve(false);
    });
    child.once('close', (code) => resolve(code === 0));
  });
  console.log(`— ${name}: ${passed ? 'passed' : 'FAILED'} in ${((performance.now() - start) / 1000).toFixed(1)} s`);
  return { name, passed, counts };
}

/** npm scripts find the Node of the devDependency `node` first; a direct call may come from an older one. */
function requireNode(major: number, minor: number): void {
  const [ownMajor = 0, ownMinor = 0] = process.versions.node.split('.').map(Number);
  if (ownMajor > major || (ownMajor === major && ownMinor >= minor)) return;
  console.error(`rowgraph needs Node ${major}.${minor} or newer, this is ${process.version}: run \`npm ci\` and then \`npm test\`.`);
  process.exit(1);
}
