/** Runs the command `rowgraph` as its users do: as a process of its own, with an environment and a home folder of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

const running = new Set<ChildProcess>();
const main = path.join(import.meta.dirname, '../../src/cli/main.ts');

/** A folder for one test file; processes that are given it as their home share their caches. */
export async function makeFolder(): Promise<string> {
  return mkdtemp(path.join(tmpdir(), 'rowgraph-process-'));
}

/** Removes the folder, and ends what a failed test may have left running. */
export async function removeFolder(folder: string): Promise<void> {
  for (const child of running) child.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
}

export interface CommandOptions {
  /** Home and working folder. */
  readonly home: string;
  readonly environment?: Readonly<Record<string, string>>;
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
  /** Resolves with what stdout holds once it matches; rejects if the command ends before. */
  waitFor(pattern: RegExp): Promise<string>;
  /** What a Ctrl-C does, or another signal. */
  stop(signal?: NodeJS.Signals): Promise<Outcome>;
}

/** Starts `rowgraph` with arguments. */
export function startCommand(commandArguments: readonly string[], { home, environment = {} }: CommandOptions): RunningCommand {
  const child = spawn(process.execPath, [main, ...commandArguments], {
    cwd: home,
    env: { PATH: process.env.PATH, HOME: home, XDG_CACHE_HOME: path.join(home, 'cache'), ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const ended = once(child, 'close').then(([code, signal]): Outcome => {
    running.delete(child);
    return { code, signal, stdout, stderr };
  });
  return {
    process: child,
    ended,
    async waitFor(pattern) {
      const isThere = new Promise<void>((resolve) => {
        const look = (): void => {
          if (pattern.test(stdout)) resolve();
        };
        child.stdout.on('data', look);
        look();
      });
      const end = ended.then((outcome) => {
        if (!pattern.test(stdout)) throw new Error(`rowgraph ended before it wrote ${pattern}: ${JSON.stringify(outcome)}`);
      });
      await Promise.race([isThere, end]);
      return stdout;
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
