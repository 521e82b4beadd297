import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Command } from 'commander';
import { checkDatabase } from '../check-database.ts';
import { CommandError, SilentExitError } from '../command-error.ts';
import type { CommandSettings, Environment } from '../config.ts';
import { modelOptionsOf, modelSettingNames } from '../graph-options.ts';
import { describeChanges } from '../output/describe-report.ts';
import { paintFor } from '../output/terminal.ts';
import { addSettings, readSettings } from '../read-settings.ts';
import type { RoleChanges } from './compare-schemas.ts';

/** `rowgraph upgrade-check`: reports how the GraphQL schema of each role changes from one version to another. */

type Name = 'schemas' | 'anonRole' | (typeof modelSettingNames)[number];
const upgradeSettings: CommandSettings<Name, never> = { names: ['schemas', 'anonRole', ...modelSettingNames], required: [], defaults: {} };

interface Flags extends Readonly<Record<string, string | undefined>> {
  readonly from: string;
  readonly to: string;
  readonly roles?: string;
}

export function upgradeCheckCommand(environment: Environment): Command {
  const command = new Command('upgrade-check')
    .description('Report how the schema of each role changes between two versions; exits with 1 if a change breaks existing documents')
    .requiredOption('--from <SOURCE>', 'The old version: a file of SDL, a folder with a ROLE.graphql for each role, or a database URL')
    .requiredOption('--to <SOURCE>', 'The new version, in the same form')
    .option('--roles <ROLES>', 'Database roles, separated by commas (default: those of the folders, or that of --anon-role)')
    .option('--json', 'Print JSON');
  return addSettings(command, upgradeSettings).action(async ({ json, ...flags }: Flags & { readonly json?: boolean }) => {
    const configuration = readSettings(upgradeSettings, flags, environment);
    const changes = await compareSources(
      flags,
      { ...modelOptionsOf(configuration), schemas: configuration.schemas },
      configuration.anonRole,
    );
    process.stdout.write(json ? `${JSON.stringify({ roles: changes }, null, 2)}\n` : describeChanges(changes, paintFor(process.stdout)));
    if (changes.some(({ breaking }) => breaking.length > 0)) throw new SilentExitError(1);
  });
}

async function compareSources({ from, to, roles }: Flags, options: SchemaSourceOptions, anonRole: string): Promise<RoleChanges[]> {
  const { compareSchemas } = await import('./compare-schemas.ts');
  const sources: SchemaSource[] = [];
  try {
    const old = await openSchemaSource(from, '--from', options);
    sources.push(old);
    const next = await openSchemaSource(to, '--to', options);
    sources.push(next);
    const changes: RoleChanges[] = [];
    for (const role of rolesOf(roles, sources, anonRole)) {
      const [oldText, newText] = [await old.read(role), await next.read(role)];
      try {
        changes.push(compareSchemas(role, oldText, newText));
      } catch (error) {
        throw new CommandError(`the schema of ${role} cannot be read: ${(error as Error).message.replaceAll(/\s+/g, ' ')}`, 2, error);
      }
    }
    return changes;
  } finally {
    for (const source of sources) await source.close();
  }
}

function rolesOf(named: string | undefined, sources: readonly SchemaSource[], anonRole: string): readonly string[] {
  if (named !== undefined) return named.split(',').map((role) => role.trim());
  const known = sources.flatMap(({ roles }) => roles ?? []);
  return known.length > 0 ? [...new Set(known)].sort() : [anonRole];
}

/**
 * Where `upgrade-check` finds the schemas of a version: a file of SDL for all roles, a folder with a file per role, or a database. In: the
 * path or URL that the user named; out: the SDL of each role.
 */

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
  const { createRowgraph } = await import('../../index.ts');
  let opening: ReturnType<typeof createRowgraph> | null = null;
  const read = async (role: string): Promise<string> => {
    await checkDatabase({ databaseUrl, schemas: options.schemas, role, roleFlag: `${flag}, role ${role}` });
    opening ??= createRowgraph({ ...options, database: databaseUrl, poolSize: 1 });
    return (await opening).sdl({ role });
  };
  return { roles: null, read, close: async () => (await opening)?.close() };
}
