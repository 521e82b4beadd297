/** `rowgraph live`: sets up what tells a server which tables have changed, removes it, or says how a server with these settings notices. */
import { Command } from 'commander';
import { installExtension, readExtension } from '../../extension/install-extension.ts';
import {
  bestMethod,
  followsDdl,
  type Installed,
  installLive,
  installLiveFunctions,
  type LiveMethod,
  type Queryable,
  readLiveServer,
  uninstallLive,
  whyImpossible,
} from '../../extension/install-live.ts';
import type { LiveStatus } from '../../live/changes/live-status.ts';
import { connectOnce } from '../check-database.ts';
import { CommandError, SilentExitError } from '../command-error.ts';
import { addSettings, type CommandSettings, type Environment, readSettings } from '../config.ts';
import { actOnDatabase, databaseSettings, insufficientPrivilege } from './act-on-database.ts';
import { choiceParser, type Flags, print, printReport } from './with-graph.ts';

const statusSettings: CommandSettings<'databaseUrl' | 'liveDatabaseUrl' | 'live', 'databaseUrl'> = {
  names: ['databaseUrl', 'liveDatabaseUrl', 'live'],
  required: ['databaseUrl'],
  defaults: {},
};

const methodNames = ['auto', 'wal', 'messages', 'table', 'notify'] as const satisfies readonly (LiveMethod | 'auto')[];

export function liveCommand(environment: Environment): Command {
  const command = new Command('live').description(
    'Set up how a database announces changes for live queries, or print how a server notices them',
  );
  addSettings(
    command
      .command('install')
      .description('Set up a publication and triggers; run it as the owner of the tables, best as a superuser. Safe to run again')
      .option('--method <METHOD>', methodNames.join('|'), choiceParser('--method', methodNames), 'auto'),
    databaseSettings,
  ).action(async ({ method, ...flags }: Flags) => {
    const { databaseUrl } = readSettings(databaseSettings, flags, environment);
    const chosen = methodNames.find((name) => name === method) ?? 'auto';
    const installed = await actOnDatabase(databaseUrl, 'set up live queries', mayChange, (database) => install(database, chosen));
    print(...describeInstalled(installed));
    if (installed.uncovered.length > 0) throw new SilentExitError(1);
  });
  addSettings(command.command('remove').description('Remove the publication and the triggers'), databaseSettings).action(
    async (flags: Flags) => {
      const { databaseUrl } = readSettings(databaseSettings, flags, environment);
      const left = await actOnDatabase(databaseUrl, 'remove it', mayChange, uninstallLive);
      print(left.length === 0 ? 'Nothing announces changes any more: servers poll.' : 'Some triggers are left:', ...left.map(lineOf));
      if (left.length > 0) throw new SilentExitError(1);
    },
  );
  addSettings(
    command
      .command('status')
      .description('Print how a server with these settings notices changes, and why; exits with 1 if it polls')
      .option('--json', 'Print JSON'),
    statusSettings,
  ).action(async ({ json, ...flags }: Flags & { readonly json?: boolean }) => {
    const { databaseUrl, liveDatabaseUrl, live } = readSettings(statusSettings, flags, environment);
    if (live === 'off') throw new CommandError('live queries are off (--live)', 2);
    await connectOnce(databaseUrl, async () => undefined);
    // Loads `pg`, which other commands do without.
    const { readLiveStatus } = await import('../../live/changes/live-status.ts');
    const status = await readLiveStatus(databaseUrl, liveDatabaseUrl, live);
    printReport(status, json, describeStatus);
    if (status.mode === 'poll' && live !== 'poll') throw new SilentExitError(1);
  });
  return command;
}

async function install(database: Queryable, chosen: LiveMethod | 'auto'): Promise<Installed> {
  const server = await readLiveServer(database);
  const refuse = (method: LiveMethod): void => {
    const reason = whyImpossible(method, server);
    if (reason !== null) throw new CommandError(reason, 2);
  };
  // Before anything is created.
  refuse(chosen === 'auto' ? 'table' : chosen);
  await provideFunctions(database);
  const method = chosen === 'auto' ? bestMethod(server, await followsDdl(database)) : chosen;
  return installLive(database, method);
}

/** With the whole extension if the login may install it, whose event triggers cover new tables; else without. */
async function provideFunctions(database: Queryable): Promise<void> {
  try {
    await installExtension(database);
  } catch (error) {
    if ((error as { readonly code?: string }).code !== insufficientPrivilege) throw error;
    const { version } = await readExtension(database);
    if (version !== null) throw error;
    await installLiveFunctions(database);
  }
}

const mayChange = 'the owner of the tables or a superuser';

const needs: Readonly<Record<LiveMethod, string>> = {
  wal: 'Servers read the replication stream: their login, or that of --live-database-url, needs the attribute REPLICATION.',
  messages: 'Servers read the replication stream: their login, or that of --live-database-url, needs the attribute REPLICATION.',
  table: 'Servers read the table rowgraph.live_change, for which any login will do.',
  notify:
    'Servers listen, for which any login will do. Commits that change tables wait for each other: prefer another method if there are many.',
};

function describeInstalled({ method, covered, uncovered, followsDdl }: Installed): string[] {
  return [
    `Changes of ${count(covered)} are announced by the method ${method}. ${needs[method]}`,
    followsDdl
      ? 'Tables that are created later are covered, too.'
      : 'Tables that are created later are polled until this is run again: event triggers need a superuser ("rowgraph extension apply").',
    ...(uncovered.length === 0 ? [] : ['These are polled:', ...uncovered.map(lineOf)]),
  ];
}

const mostListed = 50;

function describeStatus({ mode, reason, methods, covered, uncovered, followsDdl }: LiveStatus): string {
  const how = mode === 'poll' ? 'by polling' : `by the mode ${mode}`;
  const more = uncovered.length > mostListed ? `, and ${uncovered.length - mostListed} more` : '';
  return [
    `Changes are noticed ${how}: ${reason}.`,
    `Set up: ${methods.length === 0 ? 'nothing ("rowgraph live install")' : methods.join(', ')}. ${count(covered)} covered, ${uncovered.length} polled.`,
    ...(uncovered.length === 0 ? [] : [`Polled: ${uncovered.slice(0, mostListed).join(', ')}${more}.`]),
    ...(methods.length === 0 || followsDdl ? [] : ['New tables are polled until "rowgraph live install" is run again.']),
    '',
  ].join('\n');
}

function lineOf({ table, reason }: { readonly table: string; readonly reason: string }): string {
  return `  ${table}: ${reason}`;
}

function count(tables: number): string {
  return tables === 1 ? '1 table' : `${tables} tables`;
}
