/**
 * Runs commands one after the other, each to its end even if an earlier one fails, passes on their output, and finally prints the counts of
 * Node's test runner and a line that says which passed. The process then exits with 0 if all did.
 */
import { spawn } from 'node:child_process';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { stripVTControlCharacters } from 'node:util';

export const root = path.join(import.meta.dirname, '..');
const runner = path.join(import.meta.dirname, 'run-files.ts');

export interface Check {
  readonly name: string;
  readonly command: string;
  readonly flags: readonly string[];
  /** Added to those of this process. */
  readonly environment?: Readonly<Record<string, string>>;
}

interface Outcome {
  readonly name: string;
  readonly passed: boolean;
  readonly counts: readonly string[];
}

export const allTests = ['src/**/*.test.ts', 'test/**/*.test.ts'];

/**
 * The slow ones: whole processes, faults with time limits, changes of the schema under load, the extension in each version, a thousand roles,
 * live queries, each addition on and off, the vectors over HTTP, random requests, the SQL for Citus.
 */
export const systemTests = [
  'test/{abuse,extension,faults,freshness,live,process,projects,property,replicas}/**/*.test.ts',
  'src/extension/*.test.ts',
  'test/many-roles.test.ts',
  'test/additions/{every-input,nearest-pages,switches,taken-names}.test.ts',
  'test/conformance/{http,listed-types}.test.ts',
  'test/http/{in-flight,live-ends}.test.ts',
  'test/mcp/http-agents.test.ts',
  'test/security/session-effects.test.ts',
  'test/explain/*.test.ts',
  'test/contracts/citus.test.ts',
];

/** Test files, run by the Node `command`. */
export function testsOf(name: string, files: readonly string[], command = process.execPath): Check {
  // A test file waits for its database half of the time, so two share a core.
  const flags = [runner, `--concurrency=${2 * availableParallelism()}`, ...files];
  // Nearly every test file loads all of src/, so compiled code is cached.
  const compiled = path.join(tmpdir(), `rowgraph-compiled-${process.getuid?.() ?? 'user'}`);
  return { name, command, flags, environment: { NODE_COMPILE_CACHE: compiled } };
}

/** Runs the checks. The last line begins with the title. */
export async function runChecks(title: string, checks: readonly Check[]): Promise<void> {
  requireNode(22, 18);
  const outcomes: Outcome[] = [];
  for (const check of checks) outcomes.push(await runCheck(check));
  for (const { name, counts } of outcomes) if (counts.length > 0) console.log(`\n${name}\n${counts.join('\n')}`);
  console.log(`\n${title}: ${outcomes.map(({ name, passed }) => `${name} ${passed ? 'passed' : 'FAILED'}`).join(', ')}`);
  process.exitCode = outcomes.every(({ passed }) => passed) ? 0 : 1;
}

/** Runs a command and passes on its output. The counts of Node's test runner are held back, so that they come last, after the failures. */
async function runCheck({ name, command, flags, environment }: Check): Promise<Outcome> {
  const start = performance.now();
  console.log(`\n— ${name}`);
  const env = { ...process.env, ...(process.stdout.isTTY && { FORCE_COLOR: '1' }), ...environment };
  const child = spawn(command, flags, { cwd: root, env, stdio: ['ignore', 'pipe', 'inherit'] });
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

/** npm scripts put the Node of the devDependency `node` first on the path; a direct call may use an older one. */
function requireNode(major: number, minor: number): void {
  const [ownMajor = 0, ownMinor = 0] = process.versions.node.split('.').map(Number);
  if (ownMajor > major || (ownMajor === major && ownMinor >= minor)) return;
  console.error(`The tests need Node ${major}.${minor} or newer, this is ${process.version}. Run \`npm ci\`, then start them through npm.`);
  process.exit(1);
}
