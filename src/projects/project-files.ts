/**
 * The references of projects, and their files. Reads projects from a JSON file, or from all JSON files in a folder: `{"reference":
 * {settings}}`. A broken file or entry does not affect the others, and keeps its last valid content.
 */
import { type FileHandle, mkdir, open, readdir, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { ApiError, quote } from '../errors/api-error.ts';
import { readMembers, readTextFile } from '../files/watched-files.ts';

/** The settings of a project, as JSON text. */
export interface ProjectEntry {
  readonly text: string;
  /** Paths in it are relative to the folder of this file. */
  readonly file: string;
}

/** The content of the files. */
export interface ProjectEntries {
  readonly byReference: ReadonlyMap<string, ProjectEntry>;
  /** The problems of files and entries. */
  readonly problems: readonly string[];
}

/** In bytes. */
const mostFileBytes = 16 * 1024 ** 2;
const mostFiles = 20_000;
/** What is in a file, for errors. */
const content = 'references and projects';

/** The files at a path: the file itself, or the JSON files in the folder, which may be empty. */
export async function listProjectFiles(location: string): Promise<readonly string[]> {
  if (!(await stat(location)).isDirectory()) return [location];
  const names = (await readdir(location)).filter((name) => name.endsWith('.json') && !name.startsWith('.')).sort();
  if (names.length > mostFiles) throw new Error(`${location} has ${names.length} files; at most ${mostFiles} are read`);
  return names.map((name) => path.join(location, name));
}

/** The entries. Rejects with an `Error` if the path cannot be read; `before` is the result of the last read. */
export async function readProjectFiles(location: string, before: ProjectEntries | null): Promise<ProjectEntries> {
  const earlier = before?.byReference ?? new Map<string, ProjectEntry>();
  const byReference = new Map<string, ProjectEntry>();
  const problems: string[] = [];
  for (const file of await listProjectFiles(location)) {
    let members: ReadonlyMap<string, ProjectEntry>;
    try {
      members = parseEntries(file, await readTextFile(file, mostFileBytes), problems);
    } catch (error) {
      problems.push((error as Error).message);
      members = new Map([...earlier].filter(([, entry]) => entry.file === file));
    }
    for (const [reference, entry] of members) {
      const other = byReference.get(reference);
      if (other === undefined) byReference.set(reference, entry);
      else {
        problems.push(`${file}: ${quote(reference)} is in ${other.file}, too; remove one of them`);
        // The reference occurs in several files. Nobody can tell which is meant, but one of them may be in use already.
        if (earlier.get(reference)?.file === file) byReference.set(reference, entry);
      }
    }
  }
  return { byReference, problems };
}

function parseEntries(file: string, text: string, problems: string[]): ReadonlyMap<string, ProjectEntry> {
  const entries = new Map<string, ProjectEntry>();
  for (const [reference, entry] of Object.entries(readMembers(file, text, content))) {
    if (isReference(reference)) entries.set(reference, { text: JSON.stringify(entry), file });
    else problems.push(`${file}: ${quote(reference)} is not a reference; use 20 lower-case letters and digits`);
  }
  return entries;
}

/** The settings of a project, as in its file. */
export type ProjectSettings = Readonly<Record<string, unknown>>;

/** Returns the new entry; undefined stands for none. Throws to leave the entry unchanged. */
export type Change = (entry: unknown) => ProjectSettings | undefined;

/** Nobody else may read a file that contains secrets. */
const privateMode = 0o600;

const lockRetryMillis = 20;
const mostLockMillis = 1_000;

/**
 * Changes the entry of a reference. If the path does not exist yet, creates a file if its name ends in `.json`, otherwise a folder. Rejects
 * with an `Error` if the file cannot be read or written, or somebody else is changing it.
 */
export async function changeProject(location: string, reference: string, change: Change): Promise<void> {
  await makeLocation(location);
  const isFolder = (await stat(location)).isDirectory();
  const file = isFolder ? await fileOf(location, reference) : await realpath(location);
  await whileLocked(file, async () => {
    const text = await readTextFile(file, mostFileBytes).catch(textOfMissing);
    const entries = new Map(Object.entries(readMembers(file, text, content)));
    const entry = change(entries.get(reference));
    if (entry === undefined) entries.delete(reference);
    else entries.set(reference, entry);
    if (isFolder && entries.size === 0) await rm(file);
    else await replaceFile(file, `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`);
  });
}

async function makeLocation(location: string): Promise<void> {
  const isThere = await stat(location).then(
    () => true,
    () => false,
  );
  if (isThere) return;
  if (location.endsWith('.json')) await writeFile(location, '{}\n', { flag: 'wx', mode: privateMode });
  else await mkdir(location, { mode: 0o700 });
}

/** The file in a folder that has the reference, or will have it. */
async function fileOf(folder: string, reference: string): Promise<string> {
  for (const file of await listProjectFiles(folder))
    if (Object.hasOwn(readMembers(file, await readTextFile(file, mostFileBytes), content), reference)) return realpath(file);
  return path.join(folder, `${reference}.json`);
}

function textOfMissing(error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOENT') return '{}';
  throw error;
}

/** Concurrent commands would undo each other's changes, so the second waits for the first, which takes milliseconds. */
async function whileLocked(file: string, work: () => Promise<void>): Promise<void> {
  const lock = `${file}.lock`;
  const handle = await openLock(file, lock);
  try {
    await work();
  } finally {
    await handle.close();
    await rm(lock);
  }
}

async function openLock(file: string, lock: string): Promise<FileHandle> {
  for (let millis = 0; ; millis += lockRetryMillis) {
    try {
      return await open(lock, 'wx');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      if (millis >= mostLockMillis) throw new Error(`${file} is being changed by another command; if not, remove ${lock}`);
    }
    await setTimeout(lockRetryMillis);
  }
}

/** The new file is for whoever the old one was for, even if root replaces it. */
async function replaceFile(file: string, text: string): Promise<void> {
  const fresh = `${file}.new`;
  const { uid, gid, mode } = await accessOf(file);
  const handle = await open(fresh, 'w', privateMode);
  try {
    await handle.writeFile(text);
    await handle.chown(uid, gid).catch(ignoreForbidden);
    await handle.chmod(mode);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(fresh, file);
}

/** Whose file it is, and who may read it. A new file belongs to the owner of its folder. */
async function accessOf(file: string): Promise<{ readonly uid: number; readonly gid: number; readonly mode: number }> {
  try {
    const { uid, gid, mode } = await stat(file);
    return { uid, gid, mode: mode & 0o777 };
  } catch {
    const { uid, gid } = await stat(path.dirname(file));
    return { uid, gid, mode: privateMode };
  }
}

/** Only root may give files away. */
function ignoreForbidden(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPERM') throw error;
}

/** 20 letters and digits. */
const referencePattern = /^[a-z0-9]{20}$/;

/** Whether a text is a reference, in lower case. */
export function isReference(text: string): boolean {
  return referencePattern.test(text);
}

/** RFC 9110, section 7.2: a name or an address, optionally with a port. Names of containers may have underscores. */
const hostPattern = /^(?:\[[0-9a-f:.]+\]|([a-z0-9_-]+(?:\.[a-z0-9_-]+)*)\.?)(?::\d{0,5})?$/;
const longestHost = 261;

/** The parts of a request that contain its host. */
interface RequestTarget {
  readonly url: string;
  readonly headers: { readonly host?: string | undefined };
}

/**
 * The reference in the host of a request; null if there is none. If a domain is configured, the host must be a direct subdomain of it.
 * Throws BAD_REQUEST for a malformed host.
 */
export function readReference({ url, headers }: RequestTarget, domain: string | null): string | null {
  const target = authorityOf(url)?.toLowerCase();
  const host = target ?? headers.host?.toLowerCase() ?? '';
  // RFC 9112, section 3.2: empty if the target has no host. A target that is a whole URL must have one.
  if (host === '' && target === undefined) return null;
  const name = host.length > longestHost ? null : hostPattern.exec(host);
  if (name === null) {
    const part = target === undefined ? 'Host header' : 'host in the request target';
    throw new ApiError('BAD_REQUEST', `The ${part} ${quote(host)} is malformed. Send a host name and, if needed, a port.`);
  }
  // An IPv6 address in brackets.
  if (name[1] === undefined) return null;
  const end = name[1].indexOf('.');
  if (end === -1 || (domain !== null && name[1].slice(end + 1) !== domain)) return null;
  const label = name[1].slice(0, end);
  return isReference(label) ? label : null;
}

/**
 * RFC 9112, section 3.2.2: if the target is a whole URL, its host counts and not the header. It is read literally: a `URL` would decode it,
 * and leave out a user.
 */
function authorityOf(url: string): string | undefined {
  return /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(url)?.[1];
}
