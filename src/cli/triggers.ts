/**
 * `rowgraph triggers`: installs or removes the event triggers that report schema changes to rowgraph, or reports whether they are
 * installed. They come with the whole extension, as plain SQL.
 */
import { Argument, Command } from 'commander';
import { applyExtension, removeExtension } from '../extension/install-extension.ts';
import { type Installation, judgeExtension } from '../extension/read-extension.ts';
import { actOnExtension } from './act-on-extension.ts';
import { choiceParser } from './choice-parser.ts';
import { SilentExitError } from './command-error.ts';
import type { CommandSettings, Environment } from './config.ts';
import { addSettings, readSettings } from './settings-options.ts';

const triggersSettings: CommandSettings<'databaseUrl', 'databaseUrl'> = { names: ['databaseUrl'], required: ['databaseUrl'], defaults: {} };

const states: Readonly<Record<Installation, string>> = {
  installed: 'The schema triggers are installed.',
  outdated: 'The schema triggers are disabled, incomplete or of another version. Run "rowgraph triggers install".',
  absent: 'The schema triggers are not installed. rowgraph checks for schema changes every second instead.',
};

const actions = {
  install: applyExtension,
  remove: removeExtension,
  status: undefined,
} as const;
type Action = keyof typeof actions;

export function triggersCommand(environment: Environment): Command {
  const command = new Command('triggers')
    .description('Install or remove the event triggers that notify rowgraph of schema changes, or check whether they are installed')
    .addArgument(
      new Argument('<action>', '"status" exits with 1 unless they are installed').argParser(
        choiceParser('the action', Object.keys(actions)),
      ),
    );
  return addSettings(command, triggersSettings).action(async (action: Action, flags: Readonly<Record<string, string | undefined>>) => {
    const { databaseUrl } = readSettings(triggersSettings, flags, environment);
    const state = judgeExtension(await actOnExtension(databaseUrl, `${action} event triggers`, actions[action]));
    process.stdout.write(`${states[state]}\n`);
    if (action === 'status' && state !== 'installed') throw new SilentExitError(1);
  });
}
