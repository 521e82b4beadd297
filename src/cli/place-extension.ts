/** Writes the files of the SQL extension into the folder of a PostgreSQL server. */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { extensionFiles } from '../extension/extension-files.ts';
import { CommandError } from './command-error.ts';

/** Resolves to where the files are. Without a folder, asks `pgConfig` for it. Rejects with `CommandError` if asking or writing fails. */
export async function placeExtension(directory: string | null, pgConfig: string): Promise<{ folder: string; names: readonly string[] }> {
  const folder = directory ?? join(await readShareFolder(pgConfig), 'extension');
  const files = extensionFiles();
  try {
    for (const [name, text] of files) await writeFile(join(folder, name), text);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const remedy =
      code === 'ENOENT'
        ? 'name the folder of a server with --directory'
        : 'run this as a user who may write there, or use "rowgraph extension apply"';
    throw new CommandError(`cannot write to ${folder} (${message}); ${remedy}`, 2, error);
  }
  return { folder, names: [...files.keys()] };
}

async function readShareFolder(pgConfig: string): Promise<string> {
  try {
    return (await promisify(execFile)(pgConfig, ['--sharedir'])).stdout.trim();
  } catch (error) {
    const remedy = 'give its path with --pg-config, or the "extension" folder of the server with --directory';
    throw new CommandError(`cannot run ${pgConfig} (${(error as Error).message.trim()}); ${remedy}`, 2, error);
  }
}
