import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../test/support/free-port.ts';
import { type Surroundings, toEnvironment } from './caller.ts';

/** Starts the servers to compare, each in its own process on a free port, and waits for the first answer of each. */

/** rowgraph and the others. */
export const comparedServers = ['rowgraph', 'bare', 'postgraphile'] as const;
/** `before`: another checkout of rowgraph, to compare with. */
export type ServerName = (typeof comparedServers)[number] | 'before';

export interface RunningServer {
  readonly name: ServerName;
  readonly url: string;
  readonly processId: number;
  stop(): Promise<void>;
}

const paths = { rowgraph: '/graphql/v1', before: '/graphql/v1', bare: '/', postgraphile: '/graphql' };

/** Starts a server; rowgraph as built by `buildPackage` in `roots`. Rejects with the end of its log if it exits before it listens. */
export async function startServer(
  name: ServerName,
  roots: Partial<Record<ServerName, string>>,
  shared: Omit<Surroundings, 'port'>,
  environment: Readonly<Record<string, string>> = {},
): Promise<RunningServer> {
  const port = await freePort();
  const surroundings = { ...shared, port };
  const child = spawn(process.execPath, argumentsOf(name, roots[name], surroundings), {
    env: { ...process.env, ...toEnvironment(surroundings), ...environment },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const end = (): void => void child.kill('SIGTERM');
  process.once('exit', end);
  child.once('exit', () => process.off('exit', end));
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log = (log + text).slice(-2_000);
  });
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
  };
  const url = `http://127.0.0.1:${port}${paths[name]}`;
  await untilItAnswers(child, url, () => `${name} did not start: ${log}`);
  return { name, url, processId: child.pid ?? 0, stop };
}

function argumentsOf(name: ServerName, root: string | undefined, { port, databaseUrl, secret, poolSize }: Surroundings): string[] {
  if (root === undefined) return [fileURLToPath(new URL(`./${name}.ts`, import.meta.url))];
  const program = join(root, 'dist/cli/main.js');
  const settings = { 'database-url': databaseUrl, port, 'jwt-secret': secret, 'pool-size': poolSize, 'log-level': 'warn' };
  return [program, 'serve', ...Object.entries(settings).map(([flag, value]) => `--${flag}=${value}`)];
}

async function untilItAnswers(child: ChildProcess, url: string, complaint: () => string): Promise<void> {
  for (let attempt = 0; attempt < 300 && child.exitCode === null; attempt++) {
    const answered = await fetch(url, { method: 'POST', body: '{}' }).then(
      (response) => response.text(),
      () => null,
    );
    if (answered !== null) return;
    await sleep(100);
  }
  child.kill('SIGTERM');
  throw new Error(complaint());
}

/** Builds rowgraph as it is published: this is what users run, without the memory and the start-up time of type stripping. */

/** The folder of this checkout. */
export const ownRoot = fileURLToPath(new URL('../..', import.meta.url));

/** Rebuilds `dist/` of a checkout. */
export function buildPackage(root: string): void {
  execFileSync('npm', ['run', 'build'], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
}
