/** Runs the command `rowgraph` as its users do: as a process of its own, with an environment and a home folder of its own. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

const running = new Set<ChildProcess>();
// Also where the runner ends a test file that hangs.
process.once('exit', killAll);
/** The sources; in `npm test`, what `bundle-command.ts` makes of them. */
const main = process.env.ROWGRAPH_TEST_COMMAND ?? path.join(import.meta.dirname, '../../src/cli/main.ts');

/** A folder for one test file; processes that are given it as their home share their caches. */
export async function makeFolder(): Promise<string> {
  return mkdtemp(path.join(tmpdir(), 'rowgraph-process-'));
}

/** Removes the folder, and ends what a failed test may have left running. */
export async function removeFolder(folder: string): Promise<void> {
  killAll();
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
}

function killAll(): void {
  for (const child of running) child.kill('SIGKILL');
}

/** Beside other tests, a server is late without being overloaded. */
const patience = { ROWGRAPH_MAX_EVENT_LOOP_DELAY: '1h' };

/** `npm run test:coverage` counts what commands run, too, and what one of them compiled is not compiled by the others. */
const passedOn = Object.fromEntries(
  ['NODE_V8_COVERAGE', 'NODE_COMPILE_CACHE'].flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
);

/** Of the embedded PostgreSQL, which would pay only for a database that lives longer than one of a test. */
const fewerCompilations = '--wasm-tiering-budget=1000000000';

export interface CommandOptions {
  /** Home and working folder. */
  readonly home: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** A file descriptor for what it writes to stderr, which is not collected then. */
  readonly stderr?: number;
}

export interface Outcome {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command that goes on until it is told to stop. */
export interface RunningCommand {
  readonly process: ChildProcess;
  readonly ended: Promise<Outcome>;
  /** Resolves with what stdout (or stderr) holds once it matches; rejects if the command ends before. */
  waitFor(pattern: RegExp, stream?: 'stdout' | 'stderr'): Promise<string>;
  /** What a Ctrl-C does, or another signal. */
  stop(signal?: NodeJS.Signals): Promise<Outcome>;
}

/** Starts `rowgraph` with arguments. */
export function startCommand(commandArguments: readonly string[], options: CommandOptions): RunningCommand {
  const flags = commandArguments[0] === 'dev' ? [fewerCompilations] : [];
  return start(process.execPath, [...flags, main, ...commandArguments], options);
}

function start(program: string, programArguments: readonly string[], options: CommandOptions): RunningCommand {
  const { home, environment = {}, stderr = 'pipe' } = options;
  const child = spawn(program, programArguments, {
    cwd: home,
    env: { PATH: process.env.PATH, HOME: home, XDG_CACHE_HOME: path.join(home, 'cache'), ...patience, ...passedOn, ...environment },
    stdio: ['ignore', 'pipe', stderr],
  });
  running.add(child);
  const written = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      written[name] += text;
    });
  }
  const ended = once(child, 'close').then(([code, signal]): Outcome => {
    running.delete(child);
    return { code, signal, ...written };
  });
  return {
    process: child,
    ended,
    async waitFor(pattern, stream = 'stdout') {
      const isThere = new Promise<void>((resolve) => {
        const look = (): void => {
          if (pattern.test(written[stream])) resolve();
        };
        child[stream]?.on('data', look);
        look();
      });
      const end = ended.then((outcome) => {
        if (!pattern.test(written[stream])) throw new Error(`rowgraph ended before it wrote ${pattern}: ${JSON.stringify(outcome)}`);
      });
      await Promise.race([isThere, end]);
      return written[stream];
    },
    stop(signal = 'SIGINT') {
      child.kill(signal);
      return ended;
    },
  };
}

/** Runs `rowgraph` to its end. */
export function runCommand(commandArguments: readonly string[], options: CommandOptions): Promise<Outcome> {
  return startCommand(commandArguments, options).ended;
}

/** The command must end at once, for a reason in one line on stderr. */
export async function assertRefused(commandArguments: readonly string[], line: RegExp, options: CommandOptions): Promise<void> {
  const { code, stdout, stderr } = await runCommand(commandArguments, options);
  assert.deepEqual({ code, stdout }, { code: 2, stdout: '' }, stderr);
  assert.match(stderr, /^rowgraph: [^\n]+\n$/);
  assert.match(stderr, line);
}

/** Runs a script of bash to its end, in which `rowgraph` is a command. It ends with the first command that fails. */
export function runShell(script: string, options: CommandOptions): Promise<Outcome> {
  const definition = `rowgraph() { '${process.execPath}' '${main}' "$@"; }\n`;
  return start('bash', ['-euo', 'pipefail', '-c', definition + script], options).ended;
}
