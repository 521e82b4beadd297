/** The programs of docs/mounting.md as their readers run them. In: a folder that has the packages; out: running servers. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { root } from '../run-checks.ts';
import { freePort } from '../support/free-port.ts';
import { until } from '../support/until.ts';

/** Writes each program of the page into the folder; a program is a block of code that begins with its name. Returns the names. */
export async function writePrograms(folder: string): Promise<readonly string[]> {
  const page = await readFile(path.join(root, 'docs/mounting.md'), 'utf8');
  const programs = [...page.matchAll(/^```js\n\/\/ (\w+\.mjs)\n([\s\S]*?)^```$/gm)];
  await mkdir(folder, { recursive: true });
  await Promise.all(programs.map(([, name = '', text = '']) => writeFile(path.join(folder, name), text)));
  return programs.map(([, name = '']) => name);
}

export interface Program {
  /** Where it serves GraphQL. */
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts a program and resolves when it answers. Rejects with what it has printed if it ends before. */
export async function startProgram(
  command: readonly string[],
  folder: string,
  environment: Readonly<Record<string, string>>,
): Promise<Program> {
  const port = await freePort();
  const [executable = '', ...flags] = command;
  const child = spawn(executable, flags, {
    cwd: folder,
    env: { ...process.env, ...environment, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (printed += text));
  const url = `http://127.0.0.1:${port}/graphql`;
  await untilItAnswers(child, url, () => printed);
  return { url, stop: () => end(child) };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

async function untilItAnswers(child: ChildProcess, url: string, printed: () => string): Promise<void> {
  const failed = once(child, 'error').then(([error]: Error[]) => Promise.reject(error));
  const answered = until(() => {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`The program has ended: ${printed()}`);
    return fetch(url).then(
      () => true,
      () => false,
    );
  });
  await Promise.race([failed, answered]);
}
