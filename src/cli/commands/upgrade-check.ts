/** `rowgraph upgrade-check`: reports how the GraphQL schema of each role changes from one version to another. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Command } from 'commander';
import type { Rowgraph } from '../../index.ts';
import type { NameIn } from '../../settings/settings.ts';
import { checkDatabase } from '../check-database.ts';
import { CommandError, describeFileError, SilentExitError } from '../command-error.ts';
import { type InspectConfiguration, inspectSettings } from '../command-settings.ts';
import { addSettings, type CommandSettings, type Environment, readSettings } from '../config.ts';
import { describeChanges } from '../output/describe-report.ts';
import { paintFor } from '../output/terminal.ts';
import type { RoleChanges } from './compare-schemas.ts';
import { type Flags, openGraph, printReport } from './with-graph.ts';

/** `--from` and `--to` name the databases. */
const upgradeSettings: CommandSettings<NameIn<'inspect'>, never> = {
  names: inspectSettings.names.filter((name) => name !== 'databaseUrl'),
  required: [],
  defaults: {},
};

interface VersionFlags extends Flags {
  readonly from: string;
  readonly to: string;
}

export function upgradeCheckCommand(environment: Environment): Command {
  const command = new Command('upgrade-check')
    .description('Report how the schema of each role changes between two versions; exits with 1 if a change breaks existing documents')
    .requiredOption('--from <SOURCE>', 'The old version: a file of SDL, a folder with a ROLE.graphql for each role, or a database URL')
    .requiredOption('--to <SOURCE>', 'The new version, in the same form')
    .option('--roles <ROLES>', 'Database roles, separated by commas (default: those of the folders, or that of --anon-role)')
    .option('--json', 'Print JSON');
  return addSettings(command, upgradeSettings).action(async ({ json, ...flags }: VersionFlags & { readonly json?: boolean }) => {
    const roles = await compareSources(flags, readSettings(upgradeSettings, flags, environment));
    printReport({ roles }, json, () => describeChanges(roles, paintFor(process.stdout)));
    if (roles.some(({ breaking }) => breaking.length > 0)) throw new SilentExitError(1);
  });
}

async function compareSources({ from, to, roles }: VersionFlags, configuration: InspectConfiguration): Promise<RoleChanges[]> {
  const { compareSchemas } = await import('./compare-schemas.ts');
  const versions: SchemaVersion[] = [];
  try {
    const old = await openSchemaVersion(from, '--from', configuration);
    versions.push(old);
    const next = await openSchemaVersion(to, '--to', configuration);
    versions.push(next);
    const changes: RoleChanges[] = [];
    for (const role of rolesOf(roles, versions, configuration.anonRole)) {
      const [oldText, newText] = [await old.read(role), await next.read(role)];
      try {
        changes.push(compareSchemas(role, oldText, newText));
      } catch (error) {
        throw new CommandError(`the schema of ${role} cannot be read: ${(error as Error).message.replaceAll(/\s+/g, ' ')}`, 2, error);
      }
    }
    return changes;
  } finally {
    for (const version of versions) await version.close();
  }
}

function rolesOf(named: string | undefined, versions: readonly SchemaVersion[], anonRole: string): readonly string[] {
  if (named !== undefined) return named.split(',').map((role) => role.trim());
  const roles = versions.flatMap(({ roles }) => roles ?? []);
  return roles.length > 0 ? [...new Set(roles)].sort() : [anonRole];
}

/** Where the schemas of a version are: a file of SDL for all roles, a folder with a file per role, or a database. */
interface SchemaVersion {
  /** The roles that it defines; null if it defines none. */
  readonly roles: readonly string[] | null;
  /** The SDL of a role; null if this version does not have the role. */
  read(role: string): Promise<string | null>;
  close(): Promise<void>;
}

const ending = '.graphql';

/** Opens a version. Throws `CommandError` if it is invalid. `flag` is the flag that named it. */
async function openSchemaVersion(location: string, flag: string, configuration: InspectConfiguration): Promise<SchemaVersion> {
  if (/^postgres(ql)?:\/\//.test(location)) return openDatabase(location, flag, configuration);
  try {
    const isFolder = (await stat(location)).isDirectory();
    return isFolder ? await openFolder(location, flag) : openFile(await readFile(location, 'utf8'));
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(`${flag}: ${location} is neither a file, a folder nor a database URL: ${describeFileError(error)}`, 2, error);
  }
}

function openFile(text: string): SchemaVersion {
  return { roles: null, read: async () => text, close: async () => undefined };
}

async function openFolder(folder: string, flag: string): Promise<SchemaVersion> {
  const roles = (await readdir(folder)).filter((name) => name.endsWith(ending)).map((name) => name.slice(0, -ending.length));
  if (roles.length === 0) throw new CommandError(`${flag}: ${folder} holds no schema. Name the files ROLE${ending}.`, 2);
  return {
    roles: roles.sort(),
    // The role must be among the files, so no name can lead out of the folder.
    read: async (role) => (roles.includes(role) ? readFile(join(folder, `${role}${ending}`), 'utf8') : null),
    close: async () => undefined,
  };
}

function openDatabase(databaseUrl: string, flag: string, configuration: InspectConfiguration): SchemaVersion {
  let graph: Rowgraph | null = null;
  const read = async (role: string): Promise<string> => {
    const roleFlag = `${flag}, role ${role}`;
    if (graph === null) graph = await openGraph({ ...configuration, databaseUrl }, role, roleFlag);
    else await checkDatabase({ databaseUrl, schemas: configuration.schemas, role, roleFlag });
    return graph.sdl({ role });
  };
  return { roles: null, read, close: async () => graph?.close() };
}
