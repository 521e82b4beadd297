/** Starts a proxy that is installed here, on loopback. In: its command and how to write its configuration; out: the port that it listens on, and its process. */
import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { promisify } from 'node:util';
import { freePort } from '../support/free-port.ts';
import { until } from '../support/until.ts';

const run = promisify(execFile);

/** Nothing else listens there, so that a free port stays free. */
export const address = '127.0.0.77';

export interface Proxy {
  readonly command: string;
  readonly flags: readonly string[];
  /** Writes its configuration into the folder. */
  readonly prepare: (ports: { readonly own: number; readonly server: number }) => Promise<void>;
}

export interface StartedProxy {
  readonly port: number;
  readonly child: ChildProcess;
}

/** Whether a command is on the path. Elsewhere than on Linux, a machine has no further addresses without being asked. */
export async function isInstalled(command: string, ...flags: readonly string[]): Promise<boolean> {
  if (process.platform !== 'linux') return false;
  return run(command, flags).then(
    () => true,
    () => false,
  );
}

/** The flags and the main file of an nginx that runs in a folder: what is in its `http`. */
export function nginxIn(folder: string, http: string): { readonly flags: readonly string[]; readonly file: string } {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((each) => `${each}_temp_path ${folder}/${each};`);
  return {
    flags: ['-e', 'stderr', '-p', '.', '-c', 'nginx-main.conf'],
    file: `daemon off; master_process off; pid ${folder}/nginx.pid; error_log stderr warn; events {}
        http { access_log off; ${temporary.join(' ')} ${http} }`,
  };
}

/** Starts it in its folder, in front of the server at a port. */
export async function startProxy({ command, flags, prepare }: Proxy, folder: string, server: number): Promise<StartedProxy> {
  const own = await freePort(address);
  await prepare({ own, server });
  const child = spawn(command, flags, { cwd: folder, env: { PATH: process.env.PATH, HOME: folder }, stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  child.stderr.on('data', (text: Buffer) => {
    log += text;
  });
  await until(async () => {
    assert.equal(child.exitCode, null, log);
    const socket = connect(own, address);
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    return isOpen;
  });
  return { port: own, child };
}

/** Ends it, if it has been started and runs. */
export async function stopProxy(child: ChildProcess | undefined): Promise<void> {
  if (child === undefined || child.exitCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}
