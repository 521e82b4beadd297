/**
 * Where `upgrade-check` finds the schemas of a version: a file of SDL for all roles, a folder with a file per role, or a database. In: the
 * path or URL that the user named; out: the SDL of each role.
 */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { checkDatabase } from './check-database.ts';
import { CommandError } from './command-error.ts';
import type { modelOptionsOf } from './model-options.ts';

/** The settings that shape the schema of a database. */
export type SchemaSourceOptions = ReturnType<typeof modelOptionsOf> & { readonly schemas: readonly string[] };

export interface SchemaSource {
  /** The roles that it defines; null if it defines none. */
  readonly roles: readonly string[] | null;
  /** The SDL of a role; null if this version does not have the role. */
  read(role: string): Promise<string | null>;
  close(): Promise<void>;
}

const ending = '.graphql';

/** Opens a source. Throws `CommandError` if it is invalid. `flag` is the flag that named it. */
export async function openSchemaSource(location: string, flag: string, options: SchemaSourceOptions): Promise<SchemaSource> {
  if (/^postgres(ql)?:\/\//.test(location)) return openDatabaseSource(location, flag, options);
  try {
    const isFolder = (await stat(location)).isDirectory();
    return isFolder ? await openFolder(location, flag) : openFile(await readFile(location, 'utf8'));
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(`${flag}: ${location} is neither a file, a folder nor a database URL (${(error as Error).message})`, 2, error);
  }
}

function openFile(text: string): SchemaSource {
  return { roles: null, read: async () => text, close: async () => undefined };
}

async function openFolder(folder: string, flag: string): Promise<SchemaSource> {
  const roles = (await readdir(folder)).filter((name) => name.endsWith(ending)).map((name) => name.slice(0, -ending.length));
  if (roles.length === 0) throw new CommandError(`${flag}: ${folder} holds no schema. Name the files ROLE${ending}.`, 2);
  return {
    roles: roles.sort(),
    // The role must be among the files, so no name can lead out of the folder.
    read: async (role) => (roles.includes(role) ? readFile(join(folder, `${role}${ending}`), 'utf8') : null),
    close: async () => undefined,
  };
}

async function openDatabaseSource(databaseUrl: string, flag: string, options: SchemaSourceOptions): Promise<SchemaSource> {
  const { createRowgraph } = await import('../index.ts');
  let opening: ReturnType<typeof createRowgraph> | null = null;
  const read = async (role: string): Promise<string> => {
    await checkDatabase({ databaseUrl, schemas: options.schemas, role, roleFlag: `${flag}, role ${role}` });
    opening ??= createRowgraph({ ...options, database: databaseUrl, poolSize: 1 });
    return (await opening).sdl({ role });
  };
  return { roles: null, read, close: async () => (await opening)?.close() };
}
