/**
 * The operations that the page of `rowgraph dev --operations FOLDER` saves: a file `NAME.graphql` for each, in folders, and beside it
 * `NAME.variables.json` if it has variables. Whoever changes one says which version it knows, so that neither another tab nor an editor
 * outside is overwritten. No name leads out of the folder: names are checked, and symbolic links are not followed.
 */
import { createHash } from 'node:crypto';
import { lstat, mkdir, readdir, readFile, realpath, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ApiError } from '../../errors/api-error.ts';
import type { KeptOperation, OperationChange, SavedOperation, SavedOperations } from '../../http/routes/graphiql-page.ts';
import { CommandError } from '../command-error.ts';

const documentEnd = '.graphql';
const variablesEnd = '.variables.json';
/** More are not listed. */
const maxOperations = 2000;
/** In bytes, of a file. */
const maxSize = 256 * 1024;
/** Folders above an operation. */
const maxDepth = 8;
/** Of a folder or a file without its ending, in bytes. */
const maxName = 100;
/** Begins with a letter, a digit or `_`, so that no name is hidden or leads upwards; Windows ignores spaces and dots at the end. */
const namePattern = /^[\p{L}\p{N}_](?:[\p{L}\p{N}\p{M}_ .,()+-]*[\p{L}\p{N}\p{M}_)+-])?$/u;
/** Devices of Windows, whatever their ending. */
const deviceName = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

export class OperationFiles implements SavedOperations {
  readonly folder: string;
  /** One change after another, so that what is compared is what is replaced. */
  #changes: Promise<unknown> = Promise.resolve();

  /** A relative path is one of the working directory. */
  constructor(folder: string) {
    this.folder = path.resolve(folder);
  }

  /** Sorted by path. Files that are too large or whose names could not have been given here are left out. */
  async list(): Promise<readonly SavedOperation[]> {
    const names: string[] = [];
    await listNames(this.folder, '', names);
    const read = await Promise.all(names.sort().map((name) => this.#read(name)));
    return read.filter((each) => each !== null);
  }

  save(name: string, { query, variables }: OperationChange, version: string | null): Promise<KeptOperation> {
    checkName(name);
    return this.#inTurn(async () => {
      const current = await this.#read(name);
      if ((current?.version ?? null) !== version) return { stale: current };
      const file = await this.#fileOf(name, true);
      await replaceFile(`${file}${documentEnd}`, query);
      if (variables.trim() === '') await rm(`${file}${variablesEnd}`, { force: true });
      else await replaceFile(`${file}${variablesEnd}`, variables);
      return { kept: await this.#read(name) };
    });
  }

  /** Under another name, which must not be taken. */
  move(name: string, to: string, version: string): Promise<KeptOperation> {
    checkName(name);
    checkName(to);
    return this.#inTurn(async () => {
      const current = await this.#read(name);
      if (current?.version !== version) return { stale: current };
      const taken = await this.#read(to);
      if (taken !== null) return { stale: taken };
      const [from, target] = [await this.#fileOf(name, false), await this.#fileOf(to, true)];
      if (current.variables !== '') await rename(`${from}${variablesEnd}`, `${target}${variablesEnd}`);
      await rename(`${from}${documentEnd}`, `${target}${documentEnd}`);
      await this.#removeEmptyFolders(name);
      return { kept: await this.#read(to) };
    });
  }

  remove(name: string, version: string): Promise<KeptOperation> {
    checkName(name);
    return this.#inTurn(async () => {
      const current = await this.#read(name);
      if (current === null) return { kept: null };
      if (current.version !== version) return { stale: current };
      const file = await this.#fileOf(name, false);
      await Promise.all([rm(`${file}${variablesEnd}`, { force: true }), rm(`${file}${documentEnd}`, { force: true })]);
      await this.#removeEmptyFolders(name);
      return { kept: null };
    });
  }

  #inTurn<Result>(change: () => Promise<Result>): Promise<Result> {
    const turn = this.#changes.then(change).catch((error: unknown) => {
      throw explain(error, this.folder);
    });
    this.#changes = turn.catch(() => undefined);
    return turn;
  }

  /** Null if there is none that can be shown. */
  async #read(name: string): Promise<SavedOperation | null> {
    const file = await this.#fileOf(name, false);
    const query = await readText(`${file}${documentEnd}`);
    if (query === null) return null;
    const variables = (await readText(`${file}${variablesEnd}`)) ?? '';
    const version = createHash('sha256')
      .update(JSON.stringify([query, variables]))
      .digest('hex')
      .slice(0, 32);
    return { name, query, variables, version };
  }

  /** The path without the ending. Throws BAD_REQUEST if a folder on the way is a symbolic link or a file. */
  async #fileOf(name: string, makesFolders: boolean): Promise<string> {
    const folders = name.split('/').slice(0, -1);
    if (makesFolders) await mkdir(this.folder, { recursive: true });
    let folder = this.folder;
    for (const each of folders) {
      folder = path.join(folder, each);
      if (makesFolders) await mkdir(folder).catch(unless('EEXIST'));
      const status = await lstat(folder).catch(unless('ENOENT'));
      if (status !== undefined && !status.isDirectory()) throw badName(`"${each}" in "${this.folder}" is not a folder`);
    }
    return path.join(this.folder, name);
  }

  async #removeEmptyFolders(name: string): Promise<void> {
    for (let above = path.posix.dirname(name); above !== '.'; above = path.posix.dirname(above)) {
      const isGone = await rmdir(path.join(this.folder, above)).then(
        () => true,
        () => false,
      );
      if (!isGone) return;
    }
  }
}

/** Throws `CommandError` if the folder is a file. A missing folder is made when the first operation is saved. */
export async function openOperationFiles(folder: string): Promise<OperationFiles> {
  const status = await lstat(folder).catch(unless('ENOENT'));
  const real = status === undefined ? folder : await realpath(folder);
  if (status !== undefined && !(await lstat(real)).isDirectory())
    throw new CommandError(`--operations ${folder}: this is a file; name the folder that has the .graphql files`, 2);
  return new OperationFiles(real);
}

async function listNames(root: string, above: string, names: string[]): Promise<void> {
  const depth = above === '' ? 0 : above.split('/').length;
  const entries = await readdir(path.join(root, above), { withFileTypes: true }).catch(unless('ENOENT'));
  for (const entry of entries ?? []) {
    if (names.length >= maxOperations) return;
    const name = above === '' ? entry.name : `${above}/${entry.name}`;
    if (entry.isDirectory() && depth < maxDepth && isPart(entry.name) && entry.name !== 'node_modules') await listNames(root, name, names);
    const shown = name.slice(0, -documentEnd.length);
    if (entry.isFile() && name.endsWith(documentEnd) && isName(shown)) names.push(shown);
  }
}

/** Null if it is not there, is too large, or is not a plain file. */
async function readText(file: string): Promise<string | null> {
  const status = await lstat(file).catch(unless('ENOENT', 'ENOTDIR'));
  if (status === undefined || !status.isFile() || status.size > maxSize) return null;
  return (await readFile(file, 'utf8').catch(unless('ENOENT'))) ?? null;
}

/** By a rename, so that nobody reads half of it, and a symbolic link is replaced rather than followed. */
async function replaceFile(file: string, text: string): Promise<void> {
  if (Buffer.byteLength(text) > maxSize) throw badName(`An operation has at most ${maxSize / 1024} KB`);
  const part = `${file}.${process.pid}.part`;
  try {
    await writeFile(part, text, { flag: 'wx' });
    await rename(part, file);
  } finally {
    await rm(part, { force: true });
  }
}

function checkName(name: string): void {
  if (isName(name)) return;
  const rule = `names of letters, digits, spaces and _ - + , . ( ), joined by "/", in at most ${maxDepth} folders`;
  throw badName(`${JSON.stringify(name)} cannot name a saved operation: use ${rule}`);
}

function isName(name: string): boolean {
  const parts = name.split('/');
  return parts.length <= maxDepth + 1 && parts.every(isPart) && !name.endsWith('.graphql');
}

function isPart(part: string): boolean {
  return namePattern.test(part) && !deviceName.test(part) && Buffer.byteLength(part) <= maxName;
}

function badName(message: string): ApiError {
  return new ApiError('BAD_REQUEST', `${message}.`);
}

/** For `catch`: undefined for these codes of the system; rethrows anything else. */
function unless(...codes: readonly string[]): (error: NodeJS.ErrnoException) => undefined {
  return (error) => {
    if (!codes.includes(error.code ?? '')) throw error;
  };
}

/** What the system refuses is the user's to mend: a full disk, a folder that may not be written. */
function explain(error: unknown, folder: string): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  if (error instanceof ApiError || code === undefined) return error;
  return badName(`The operation cannot be saved in "${folder}": ${message}`);
}
