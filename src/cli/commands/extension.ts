/**
 * `rowgraph extension`: writes the files of the SQL extension into the folder of a PostgreSQL server, runs them as plain SQL if that is not
 * possible, removes the extension, or reports what a database has of it.
 */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Argument, Command } from 'commander';
import { currentVersion, extensionFiles } from '../../extension/extension-versions.ts';
import { applyExtension, type ExtensionState, judgeExtension, readExtension, removeExtension } from '../../extension/install-extension.ts';
import type { Queryable } from '../../extension/install-live.ts';
import { CommandError, SilentExitError } from '../command-error.ts';
import { addSettings, type Environment, readSettings } from '../config.ts';
import { actOnDatabase, databaseSettings } from './act-on-database.ts';
import { choiceParser, type Flags, print } from './with-graph.ts';

export function extensionCommand(environment: Environment): Command {
  const command = new Command('extension').description(
    'Install or remove the SQL extension "rowgraph", or print its version in a database',
  );
  command
    .command('install')
    .description('Write the files of the extension to where "create extension rowgraph" finds them')
    .option('--directory <FOLDER>', 'Extension folder of the PostgreSQL server (default: the one that pg_config reports)')
    .option('--pg-config <FILE>', 'pg_config of the server', 'pg_config')
    .action(async ({ directory, pgConfig }: { directory?: string; pgConfig: string }) => {
      const { folder, names } = await placeExtension(directory ?? null, pgConfig);
      print(`Wrote ${names.join(', ')} to ${folder}. Next, as a superuser in each database: create extension rowgraph`);
    });
  for (const [name, { description, act }] of Object.entries(actions))
    addSettings(command.command(name).description(description), databaseSettings).action((flags: Flags) =>
      act(readSettings(databaseSettings, flags, environment).databaseUrl),
    );
  return command;
}

const actions = {
  apply: {
    description: 'Install or update the extension as plain SQL, for servers whose files you cannot change',
    act: async (databaseUrl: string) => print(describe(await actOnExtension(databaseUrl, 'install the extension', applyExtension))),
  },
  remove: {
    description: 'Remove the extension from a database, however it was installed',
    act: async (databaseUrl: string) => print(describe(await actOnExtension(databaseUrl, 'remove the extension', removeExtension))),
  },
  status: {
    description: 'Print the version in a database and how it was installed; exits with 1 unless it is current',
    act: async (databaseUrl: string) => {
      const state = await actOnExtension(databaseUrl, 'read the state of the extension');
      print(describe(state));
      if (judgeExtension(state) !== 'installed') throw new SilentExitError(1);
    },
  },
};

/** The former name of three of these actions: the event triggers that report schema changes come with the extension. */
const formerNames: Readonly<Record<string, keyof typeof actions>> = { install: 'apply', remove: 'remove', status: 'status' };

/** `rowgraph triggers`: what it was for is part of `rowgraph extension`. */
export function triggersCommand(environment: Environment): Command {
  const parse = choiceParser('the action', Object.keys(formerNames));
  const command = new Command('triggers')
    .description('Former name of "extension apply", "extension remove" and "extension status"')
    .addArgument(new Argument('<action>', 'install ("extension apply" now), remove or status').argParser(parse));
  return addSettings(command, databaseSettings).action(async (former: string, flags: Flags) => {
    const { databaseUrl } = readSettings(databaseSettings, flags, environment);
    const name = formerNames[former]!;
    process.stderr.write(`rowgraph: "rowgraph triggers ${former}" is "rowgraph extension ${name}" now\n`);
    await actions[name].act(databaseUrl);
  });
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

/** The SQLSTATE of `alter extension … update` if the installed files are too old. */
const noUpdatePath = '22023';

/** The resulting state. */
function actOnExtension(
  databaseUrl: string,
  task: string,
  act: (database: Queryable) => Promise<void> = async () => undefined,
): Promise<ExtensionState> {
  return actOnDatabase(databaseUrl, task, 'a superuser', async (database) => {
    try {
      await act(database);
    } catch (error) {
      const { code, message } = error as Error & { readonly code?: string };
      if (code !== noUpdatePath) throw error;
      throw new CommandError(`${message}; run "rowgraph extension install" on the machine of the database first`, 2, error);
    }
    return readExtension(database);
  });
}

/** Resolves to where the files are. Without a folder, asks `pgConfig` for it. Rejects with `CommandError` if asking or writing fails. */
async function placeExtension(directory: string | null, pgConfig: string): Promise<{ folder: string; names: readonly string[] }> {
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
