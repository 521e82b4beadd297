/**
 * `rowgraph extension`: writes the files of the SQL extension into the folder of a PostgreSQL server, runs them as plain SQL if that is not
 * possible, or reports what a database has of it.
 */
import { Command } from 'commander';
import { currentVersion } from '../extension/extension-versions.ts';
import { applyExtension } from '../extension/install-extension.ts';
import { type ExtensionState, judgeExtension } from '../extension/read-extension.ts';
import { actOnExtension } from './act-on-extension.ts';
import { SilentExitError } from './command-error.ts';
import type { CommandSettings, Environment } from './config.ts';
import { placeExtension } from './place-extension.ts';
import { addSettings, readSettings } from './settings-options.ts';

const databaseSettings: CommandSettings<'databaseUrl', 'databaseUrl'> = { names: ['databaseUrl'], required: ['databaseUrl'], defaults: {} };
type Flags = Readonly<Record<string, string | undefined>>;

export function extensionCommand(environment: Environment): Command {
  const command = new Command('extension').description('Install the SQL extension "rowgraph", or print its version in a database');
  command
    .command('install')
    .description('Write the files of the extension to where "create extension rowgraph" finds them')
    .option('--directory <FOLDER>', 'Extension folder of the PostgreSQL server (default: the one that pg_config reports)')
    .option('--pg-config <FILE>', 'pg_config of the server', 'pg_config')
    .action(async ({ directory, pgConfig }: { directory?: string; pgConfig: string }) => {
      const { folder, names } = await placeExtension(directory ?? null, pgConfig);
      process.stdout.write(`Wrote ${names.join(', ')} to ${folder}. Next, as a superuser in each database: create extension rowgraph\n`);
    });
  const apply = command
    .command('apply')
    .description('Install or update the extension as plain SQL, for servers whose files you cannot change');
  addSettings(apply, databaseSettings).action(async (flags: Flags) => {
    const { databaseUrl } = readSettings(databaseSettings, flags, environment);
    const state = await actOnExtension(databaseUrl, 'install the extension', applyExtension);
    process.stdout.write(`${describe(state)}\n`);
  });
  const status = command
    .command('status')
    .description('Print the version in a database and how it was installed; exits with 1 unless it is current');
  addSettings(status, databaseSettings).action(async (flags: Flags) => {
    const { databaseUrl } = readSettings(databaseSettings, flags, environment);
    const state = await actOnExtension(databaseUrl, 'read the state of the extension');
    process.stdout.write(`${describe(state)}\n`);
    if (judgeExtension(state) !== 'installed') throw new SilentExitError(1);
  });
  return command;
}

function describe(state: ExtensionState): string {
  const { kind, version, isOn, available } = state;
  const files = available === null ? 'The server does not have its files.' : `The server has the files of ${available}.`;
  if (kind === null) return `rowgraph is not installed; ${currentVersion} is current. ${files}`;
  const how = kind === 'extension' ? 'as an extension' : 'as plain SQL';
  const remedy = kind === 'extension' ? 'alter extension rowgraph update' : 'rowgraph extension apply';
  if (judgeExtension(state) === 'installed') return `rowgraph ${version} is installed ${how}. ${files}`;
  const reason = isOn ? `${currentVersion} is current` : 'its event triggers are disabled or missing';
  return `rowgraph ${version} is installed ${how}, but ${reason}. Run: ${isOn ? remedy : 'rowgraph extension apply'}. ${files}`;
}
