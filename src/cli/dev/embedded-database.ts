/** The database of `rowgraph dev`: PGlite with the roles and the user's SQL. With a data folder, its data is kept. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename } from 'node:path';
import type { PGlite } from '@electric-sql/pglite';
import { CommandError, describeFileError } from '../command-error.ts';
import { roleStatements } from '../commands/roles.ts';
import { type Environment, userCacheFolder } from '../config.ts';
import type { Progress } from '../output/terminal.ts';
import { type DataFolder, openDataFolder, readDevelopmentSecret } from './data-folder.ts';
import type { EmbeddedDatabase } from './development-database.ts';
import { findExtensions, importExtensions, loadSql, type SqlFile, textOf } from './load-sql.ts';
import { type DatabaseTarget, openAndFill, openExisting, openFilledOnce } from './open-pglite.ts';
import { supabaseStatements } from './supabase.ts';

interface EmbeddedOptions {
  readonly schemas: readonly string[];
  readonly anonRole: string;
  readonly jwtSecret: string | undefined;
  readonly dataDir: string | undefined;
  readonly cacheDir: string | undefined;
  readonly environment: Environment;
  /** Null loads the example. */
  readonly sqlFiles: readonly string[] | null;
  readonly progress: Progress;
}

/** Opens the database; loads the SQL unless the data folder already has it. */
export async function openEmbeddedDatabase(options: EmbeddedOptions): Promise<EmbeddedDatabase> {
  const { dataDir, environment, progress } = options;
  const cacheFolder = options.cacheDir ?? userCacheFolder(environment, process.platform, homedir());
  const files = await readSqlFiles(options.sqlFiles);
  const folder = dataDir === undefined ? null : await openDataFolder(dataDir);
  try {
    const extensionNames = folder?.extensions ?? findExtensions(files);
    const extensions = await importExtensions(extensionNames);
    const target = { folder: folder?.databaseFolder ?? null, cacheFolder, extensions, progress };
    const isLoaded = folder !== null && folder.extensions !== null;
    const pglite = await (isLoaded ? openExisting(target) : openNew(target, options, files));
    if (!isLoaded) await folder?.markLoaded(extensionNames);
    return {
      kind: 'embedded',
      pglite,
      reader: pglite,
      jwtSecret: options.jwtSecret ?? folder?.jwtSecret ?? (await readDevelopmentSecret(cacheFolder)),
      files,
      isExample: options.sqlFiles === null && !isLoaded,
      content: describeContent(options, isLoaded),
      close: () => closeDatabase(pglite, folder),
    };
  } catch (error) {
    await folder?.close();
    throw error;
  }
}

/** A new database with the roles and the files loaded. The example is always the same, so it is cached; the user's SQL is not. */
async function openNew(target: DatabaseTarget, options: EmbeddedOptions, files: readonly SqlFile[]): Promise<PGlite> {
  // The convention of Supabase, whose projects load as they are. PGlite asks nobody for a password.
  const roles = roleStatements({ ...options, grants: 'all', password: null });
  const platform = supabaseStatements(textOf(files));
  const fill = async (pglite: PGlite): Promise<void> => {
    await pglite.exec(roles);
    await pglite.exec(platform);
    await loadSql(pglite, files, target.progress);
  };
  if (options.sqlFiles === null) {
    const hash = createHash('sha256')
      .update(JSON.stringify([roles, platform, files]))
      .digest('hex');
    return openFilledOnce(target, `example-${hash.slice(0, 16)}`, fill);
  }
  return openAndFill(target, fill);
}

async function closeDatabase(pglite: PGlite, folder: DataFolder | null): Promise<void> {
  // Write everything to disk, so that the next start has nothing to recover.
  if (folder !== null) await pglite.exec('checkpoint');
  await pglite.close();
  await folder?.close();
}

const exampleFolder = new URL('../../../examples/bird-club/', import.meta.url);

/** The files of these names; null reads the example. */
export function readSqlFiles(names: readonly string[] | null): Promise<SqlFile[]> {
  if (names !== null) return Promise.all(names.map((name) => readSqlFile(name, name)));
  return Promise.all(['schema.sql', 'data.sql'].map((name) => readSqlFile(name, new URL(name, exampleFolder))));
}

async function readSqlFile(name: string, location: string | URL): Promise<SqlFile> {
  try {
    return { name, text: await readFile(location, 'utf8') };
  } catch (error) {
    throw new CommandError(`--sql ${name} cannot be read: ${describeFileError(error)}`, 2, error);
  }
}

function describeContent({ sqlFiles, dataDir }: EmbeddedOptions, isLoaded: boolean): string {
  if (isLoaded && sqlFiles !== null) return `the data of ${dataDir} (already loaded, so --sql was not loaded again)`;
  if (isLoaded) return `the data of ${dataDir}`;
  const loaded = sqlFiles === null ? 'the example of a bird-watching club' : sqlFiles.map((name) => basename(name)).join(', ');
  return `${loaded}, ${dataDir === undefined ? 'in memory (--data-dir FOLDER keeps the data)' : `kept in ${dataDir}`}`;
}
