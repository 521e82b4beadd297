import cluster from 'node:cluster';
import { existsSync, readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { type Configuration, environmentVariableOf, flagOf, type SettingName, settings } from '../settings/settings.ts';
import { describeFileError } from './command-error.ts';
import {
  type CommandSettings,
  ConfigurationError,
  type ConfigurationSources,
  configVariable,
  type Environment,
  findGivenSettings,
  findUnknownVariables,
  readConfiguration,
} from './config.ts';
import { warn } from './output/terminal.ts';

/** Settings as options of a command: adds them to its `--help`, and reads their values from flags, environment and config file. */

const configFileName = 'rowgraph.config.json';

/** Adds an option for each setting, and `--config`. */
export function addSettings<Name extends SettingName, Required extends Name>(
  command: Command,
  commandSettings: CommandSettings<Name, Required>,
): Command {
  for (const name of commandSettings.names) {
    const { placeholder, description } = settings[name];
    const isRequired = (commandSettings.required as readonly SettingName[]).includes(name);
    const defaultText = commandSettings.defaultTexts?.[name] ?? defaultTextOf(name, commandSettings.defaults[name]);
    const state = isRequired ? 'required' : `default: ${defaultText}`;
    const value = isSwitch(name) ? `[${placeholder}]` : `<${placeholder}>`;
    command.option(`${flagOf(name)} ${value}`, `${description} (${environmentVariableOf(name)}; ${state})`);
  }
  return command.option(
    '--config <FILE>',
    `Read settings from this JSON file (${configVariable}; default: ${configFileName}, if it exists)`,
  );
}

/** A switch may be given without a value, which turns it on. */
function isSwitch(name: SettingName): boolean {
  return settings[name].placeholder.endsWith('on|off');
}

function defaultTextOf(name: SettingName, commandDefault: unknown): string {
  if (commandDefault === undefined) return settings[name].defaultText;
  if (typeof commandDefault === 'boolean') return commandDefault ? 'on' : 'off';
  return String(commandDefault);
}

/** The values of the command's settings. `flags` are those that commander read. */
export function readSettings<Name extends SettingName, Required extends Name>(
  commandSettings: CommandSettings<Name, Required>,
  flags: Readonly<Record<string, string | true | undefined>>,
  environment: Environment,
): Configuration<Name, Required> {
  // Only the primary process warns.
  if (cluster.isPrimary) {
    for (const name of findUnknownVariables(environment)) warn(`${name} is not a setting and is ignored`);
  }
  const texts: Record<string, string | undefined> = {};
  for (const [name, value] of Object.entries(flags)) texts[name] = value === true ? 'on' : value;
  const file = readConfigFile(texts.config ?? environment[configVariable]);
  const sources = { flags: texts, environment, file };
  const configuration = readConfiguration(commandSettings, sources);
  if (cluster.isPrimary) for (const sentence of findIdleSettings(commandSettings, configuration, sources)) warn(sentence);
  return configuration;
}

function readConfigFile(named: string | undefined): ConfigurationSources['file'] {
  const name = named || configFileName;
  if (!named && !existsSync(name)) return undefined;
  try {
    return { name, text: readFileSync(name, 'utf8') };
  } catch (error) {
    throw new ConfigurationError([`${name} cannot be read: ${describeFileError(error)}`]);
  }
}

/**
 * Finds settings that somebody gave although they do nothing without another one. In: a command's settings, their values, and where they were
 * given; out: a sentence for each.
 */

export function findIdleSettings<Name extends SettingName, Required extends Name>(
  { names, idleUnless = [] }: CommandSettings<Name, Required>,
  configuration: Configuration<Name, Required>,
  sources: ConfigurationSources,
): readonly string[] {
  const given = findGivenSettings(names, sources);
  const isOn = (name: Name): boolean => given.has(name) && (configuration[name] as unknown) !== false;
  const found = new Map<Name, readonly Name[]>();
  for (const { names: dependent, needs } of idleUnless) {
    if (needs.some(isOn)) continue;
    for (const name of dependent.filter(isOn)) if (!found.has(name)) found.set(name, needs);
  }
  return [...found].map(([name, needs]) => `${given.get(name)} has no effect without ${needs.map(flagOf).join(' or ')}`);
}
