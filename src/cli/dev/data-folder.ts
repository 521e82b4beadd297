/**
 * The folder of `--data-dir`: the database's files, the secret that signs its keys, and the names of the extensions that it needs. Only one
 * process at a time may use it.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CommandError, describeFileError } from '../command-error.ts';

export interface DataFolder {
  /** Where PGlite keeps its files. */
  readonly databaseFolder: string;
  readonly jwtSecret: string;
  /** Names of the extensions that the loaded SQL uses; null until it was loaded. */
  readonly extensions: readonly string[] | null;
  /** Records that all SQL was loaded. Until then, each start begins from scratch. */
  markLoaded(extensions: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

interface State {
  readonly jwtSecret: string;
  readonly extensions: readonly string[] | null;
}

/** Opens or creates the folder. Throws `CommandError` if another process uses it, or it is not a data folder. */
export async function openDataFolder(folder: string): Promise<DataFolder> {
  const stateFile = join(folder, 'rowgraph.json');
  const databaseFolder = join(folder, 'database');
  const unlock = await lock(folder);
  try {
    const kept = await readState(folder, stateFile);
    const state = kept ?? { jwtSecret: newSecret(), extensions: null };
    if (kept === null) await writeState(stateFile, state);
    // An interrupted start left incomplete data.
    if (state.extensions === null) await rm(databaseFolder, { recursive: true, force: true });
    return {
      databaseFolder,
      ...state,
      markLoaded: (extensions) => writeState(stateFile, { ...state, extensions }),
      close: unlock,
    };
  } catch (error) {
    await unlock();
    throw error;
  }
}

async function readState(folder: string, stateFile: string): Promise<State | null> {
  const entries = await readdir(folder);
  if (entries.includes('rowgraph.json')) {
    try {
      return JSON.parse(await readFile(stateFile, 'utf8')) as State;
    } catch (error) {
      throw new CommandError(`${stateFile} cannot be read: ${describeFileError(error)}`, 1, error);
    }
  }
  // Never overwrite other files.
  if (entries.some((entry) => entry !== lockName)) {
    throw new CommandError(`--data-dir ${folder} contains other files: choose a new or empty folder`, 2);
  }
  return null;
}

async function writeState(stateFile: string, state: State): Promise<void> {
  const part = `${stateFile}.part`;
  await writeFile(part, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 });
  await rename(part, stateFile);
}

const lockName = 'rowgraph.lock';

async function lock(folder: string): Promise<() => Promise<void>> {
  const file = join(folder, lockName);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(file, String(process.pid), { flag: 'wx' }).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
      await takeOverLock(folder, file);
    });
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(`--data-dir ${folder} cannot be used: ${describeFileError(error)}`, 2, error);
  }
  return () => rm(file, { force: true });
}

async function takeOverLock(folder: string, file: string): Promise<void> {
  const owner = Number(await readFile(file, 'utf8'));
  if (owner !== process.pid && isRunning(owner)) {
    throw new CommandError(`--data-dir ${folder} is in use by process ${owner} (if that is not rowgraph, delete ${file})`, 2);
  }
  await writeFile(file, String(process.pid));
}

function isRunning(processId: number): boolean {
  try {
    process.kill(processId, 0);
    return true;
  } catch (error) {
    // EPERM: it is running, as another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** An unguessable secret, as text. */
function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** The secret for databases in memory: this user's own, from the cache folder; a new one if that folder is not writable. */
export async function readDevelopmentSecret(cacheFolder: string): Promise<string> {
  const file = join(cacheFolder, 'jwt-secret');
  const secret = newSecret();
  try {
    await mkdir(cacheFolder, { recursive: true });
    await writeFile(file, secret, { flag: 'wx', mode: 0o600 });
    return secret;
  } catch {
    const kept = await readFile(file, 'utf8').catch(() => '');
    return kept.length >= secret.length ? kept : secret;
  }
}
