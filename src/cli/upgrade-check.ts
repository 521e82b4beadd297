/** `rowgraph upgrade-check`: reports how the GraphQL schema of each role changes from one version to another. */
import { Command } from 'commander';
import { CommandError, SilentExitError } from './command-error.ts';
import type { RoleChanges } from './compare-schemas.ts';
import type { CommandSettings, Environment } from './config.ts';
import { describeChanges } from './describe-changes.ts';
import { modelOptionsOf, modelSettingNames } from './model-options.ts';
import { openSchemaSource, type SchemaSource, type SchemaSourceOptions } from './schema-source.ts';
import { addSettings, readSettings } from './settings-options.ts';
import { paintFor } from './terminal.ts';

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
