/** `rowgraph triggers`: installs or removes the event triggers by which rowgraph learns of schema changes, or says whether they are there. */
import { Argument, Command } from 'commander';
import type { Client } from 'pg';
import { installSchemaTriggers, readTriggersState, removeSchemaTriggers, type SchemaTriggersState } from '../freshness/schema-triggers.ts';
import { CommandError, SilentExitError } from './command-error.ts';
import type { CommandSettings, Environment } from './config.ts';
import { connectOnce } from './connect-once.ts';
import { addSettings, readSettings } from './settings-options.ts';

const triggersSettings: CommandSettings<'databaseUrl', 'databaseUrl'> = { names: ['databaseUrl'], required: ['databaseUrl'], defaults: {} };

const states: Readonly<Record<SchemaTriggersState, string>> = {
  installed: 'The schema triggers are installed.',
  outdated: 'The schema triggers are disabled, incomplete or of another version. Run "rowgraph triggers install".',
  absent: 'The schema triggers are not installed. rowgraph checks for schema changes every second instead.',
};

const actions = {
  install: installSchemaTriggers,
  remove: removeSchemaTriggers,
  status: async () => undefined,
} as const;
type Action = keyof typeof actions;

export function triggersCommand(environment: Environment): Command {
  const command = new Command('triggers')
    .description('Install or remove the event triggers that notify rowgraph of schema changes, or print whether they are installed')
    .addArgument(new Argument('<action>', '"status" exits with 1 unless they are installed').choices(Object.keys(actions)));
  return addSettings(command, triggersSettings).action(async (action: Action, flags: Readonly<Record<string, string | undefined>>) => {
    const { databaseUrl } = readSettings(triggersSettings, flags, environment);
    const state = await connectOnce(databaseUrl, (client) => act(client, action));
    process.stdout.write(`${states[state]}\n`);
    if (action === 'status' && state !== 'installed') throw new SilentExitError(1);
  });
}

async function act(client: Client, action: Action): Promise<SchemaTriggersState> {
  const asText = { rowMode: 'array', types: { getTypeParser: () => String } } as const;
  const database = { query: async (text: string) => (await client.query<(string | null)[]>({ text, ...asText })).rows };
  try {
    await actions[action](database);
    return await readTriggersState(database);
  } catch (error) {
    const { code, message } = error as Error & { readonly code?: string };
    // 42501: insufficient privilege.
    if (code !== '42501') throw error;
    throw new CommandError(`${client.user} cannot ${action} event triggers (${message}); log in as a superuser`, 2, error);
  }
}
