/** Reads the values of settings. No other file reads the environment. */
import cluster from 'node:cluster';
import { existsSync, readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import type { Command } from 'commander';
import { readJson } from '../files/watched-files.ts';
import type { Setting } from '../settings/setting-kinds.ts';
import { type Configuration, environmentVariableOf, flagOf, type SettingName, settingNames, settings } from '../settings/settings.ts';
import { describeFileError } from './command-error.ts';
import { warn } from './output/terminal.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export function readEnvironment(): Environment {
  return process.env;
}

/** Names the config file; not a setting itself. */
const configVariable = 'ROWGRAPH_CONFIG';

/** Environment variables that look like settings but are not: whoever set them expects an effect. */
export function findUnknownVariables(environment: Environment): string[] {
  const recognized = new Set([configVariable, ...settingNames.map(environmentVariableOf)]);
  return Object.keys(environment).filter((name) => name.startsWith('ROWGRAPH_') && !recognized.has(name));
}

/** Missing or wrong settings: one problem per line. */
export class ConfigurationError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'ConfigurationError';
    this.problems = problems;
  }
}

/** The settings that a command accepts, which of them are required, and where its defaults differ. */
export interface CommandSettings<Name extends SettingName, Required extends Name> {
  readonly names: readonly Name[];
  readonly required: readonly Required[];
  /** Whether required settings can only be given in the file. */
  readonly isFileOnly?: boolean;
  /** Settings that only their flag sets; without a value, it takes that of the environment or the file. */
  readonly flagsOnly?: readonly Name[];
  /** Settings that are required unless one of the listed others is given. */
  readonly requiredUnless?: Partial<Record<Name, readonly Name[]>>;
  /** Settings that have no effect unless one of the listed others is given. */
  readonly idleUnless?: readonly IdleUnless<Name>[];
  readonly defaults: Partial<Configuration<Name>>;
  /** The default that `--help` shows if the command determines a value itself. */
  readonly defaultTexts?: Partial<Record<Name, string>>;
}

/** If none of `needs` is given, none of `names` has an effect. */
export interface IdleUnless<Name extends SettingName> {
  readonly names: readonly Name[];
  readonly needs: readonly Name[];
}

export interface ConfigurationInputs {
  /** The texts of the flags, by setting; absent if not given. */
  readonly flags: Readonly<Record<string, string | undefined>>;
  /** Flags that take a value, and were given without one. */
  readonly bare?: ReadonlySet<string>;
  readonly environment: Environment;
  readonly file: { readonly name: string; readonly text: string } | undefined;
}

/**
 * The value of each setting: from its flag, else from the environment, else from the file, else the default. Throws `ConfigurationError`.
 */
export function readConfiguration<Name extends SettingName, Required extends Name>(
  { names, required, requiredUnless = {}, defaults, isFileOnly = false, flagsOnly = [] }: CommandSettings<Name, Required>,
  inputs: ConfigurationInputs,
): Configuration<Name, Required> {
  const problems: string[] = [];
  const fileValues = readFileValues(inputs.file, problems);
  const values: Record<string, unknown> = {};
  const toMissing = (name: SettingName): string =>
    isFileOnly ? `${inputs.file?.name} has no "${name}": ${settings[name].description}` : describeMissing(name);
  const refer = (name: SettingName): string => (isFileOnly ? `"${name}"` : flagOf(name));
  for (const name of names) {
    const isBare = inputs.bare?.has(name) === true;
    const raw = flagsOnly.includes(name) && !isBare ? findFlag(name, inputs) : findRaw(name, inputs, fileValues);
    if (raw !== undefined) values[name] = parseRaw(settings[name], raw, problems);
    else if (isBare) problems.push(`${flagOf(name)} has no value, and ${environmentVariableOf(name)} is not set`);
    else if ((required as readonly SettingName[]).includes(name)) problems.push(toMissing(name));
    else if (requiredUnless[name]?.every((other) => findRaw(other, inputs, fileValues) === undefined))
      problems.push(`${toMissing(name)}; or give ${requiredUnless[name].map(refer).join(' or ')}`);
    else values[name] = defaults[name] ?? settings[name].default;
  }
  if (problems.length > 0) throw new ConfigurationError(problems);
  return values as Configuration<Name, Required>;
}

/** The origin of each setting that is set: a flag, an environment variable, or a member of the file. */
function originsOf(names: readonly SettingName[], inputs: ConfigurationInputs): ReadonlyMap<SettingName, string> {
  const fileValues = readFileValues(inputs.file, []);
  return new Map(
    names.flatMap((name) => {
      const raw = findRaw(name, inputs, fileValues);
      return raw === undefined ? [] : [[name, raw.origin] as const];
    }),
  );
}

export function describeMissing(name: SettingName): string {
  return `${flagOf(name)} is missing (or set ${environmentVariableOf(name)}): ${settings[name].description}`;
}

interface RawSetting {
  readonly origin: string;
  readonly text: string;
}

function findFlag(name: SettingName, { flags }: ConfigurationInputs): RawSetting | undefined {
  const text = flags[name];
  return text === undefined ? undefined : { origin: flagOf(name), text };
}

function findRaw(name: SettingName, inputs: ConfigurationInputs, fileValues: Readonly<Record<string, string>>): RawSetting | undefined {
  const flag = findFlag(name, inputs);
  if (flag !== undefined) return flag;
  const variable = environmentVariableOf(name);
  const fromEnvironment = inputs.environment[variable];
  // An empty variable counts as unset: compose files and CI jobs disable variables that way.
  if (fromEnvironment) return { origin: variable, text: fromEnvironment };
  const fromFile = fileValues[name];
  return fromFile === undefined ? undefined : { origin: `"${name}" in ${inputs.file?.name}`, text: fromFile };
}

function parseRaw(setting: Setting<unknown>, raw: RawSetting, problems: string[]): unknown {
  try {
    return setting.parse(raw.text);
  } catch (error) {
    const shown = setting.isSecret ? '' : ` (it is ${JSON.stringify(raw.text)})`;
    problems.push(`${raw.origin} ${(error as Error).message}${shown}`);
    return undefined;
  }
}

/** The members of the config file, as the texts that flags would have; each name must be a setting. */
function readFileValues(file: ConfigurationInputs['file'], problems: string[]): Record<string, string> {
  if (file === undefined) return {};
  let members: unknown;
  try {
    members = readJson(file.text);
  } catch (error) {
    problems.push(`${file.name} ${(error as Error).message}`);
    return {};
  }
  if (members === null || typeof members !== 'object' || Array.isArray(members)) {
    problems.push(`${file.name} must hold a JSON object`);
    return {};
  }
  const values: Record<string, string> = {};
  for (const [name, value] of Object.entries(members)) {
    if (!Object.hasOwn(settings, name))
      problems.push(`${file.name} has "${name}", which is not a setting; the settings are ${settingNames.join(', ')}`);
    else values[name] = textOfFileValue(value);
  }
  return values;
}

function textOfFileValue(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (Array.isArray(value)) return value.join(',');
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The user's folder for data that can be regenerated, by the conventions of the platform. */
export function userCacheFolder(environment: Environment, platform: string, home: string): string {
  if (platform === 'win32') return `${environment.LOCALAPPDATA ?? `${home}\\AppData\\Local`}\\rowgraph`;
  if (platform === 'darwin') return `${home}/Library/Caches/rowgraph`;
  return `${environment.XDG_CACHE_HOME ?? `${home}/.cache`}/rowgraph`;
}

const configFileName = 'rowgraph.config.json';

export function addSettings<Name extends SettingName, Required extends Name>(
  command: Command,
  commandSettings: CommandSettings<Name, Required>,
): Command {
  for (const name of commandSettings.names) {
    // Commands that print JSON with --json have the setting of that name in the environment and the file alone.
    if (command.options.some(({ long }) => long === flagOf(name))) continue;
    const { placeholder, description } = settings[name];
    const isRequired = (commandSettings.required as readonly SettingName[]).includes(name);
    const defaultText = commandSettings.defaultTexts?.[name] ?? defaultTextOf(name, commandSettings.defaults[name]);
    const isFlagOnly = commandSettings.flagsOnly?.includes(name) === true;
    const variable = isFlagOnly ? '' : `${environmentVariableOf(name)}; `;
    const bare = isFlagOnly && !isSwitch(name) ? `without a value: ${environmentVariableOf(name)}; ` : '';
    const state = isRequired ? 'required' : `default: ${defaultText}`;
    const value = isFlagOnly || isSwitch(name) ? `[${placeholder}]` : `<${placeholder}>`;
    const text = `${description} (${variable}${bare}${state})`;
    if (settings[name].isRepeatable) command.option(`${flagOf(name)} ${value}`, text, joinTexts);
    else command.option(`${flagOf(name)} ${value}`, text);
  }
  return command
    .option('--env <FILE>', 'Read variables of the environment from this file, such as .env; those that are set already stay')
    .option('--config <FILE>', `Read settings from this JSON file (${configVariable}; default: ${configFileName}, if it exists)`);
}

function joinTexts(text: string, previous: string | undefined): string {
  return previous === undefined ? text : `${previous},${text}`;
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
  ownEnvironment: Environment,
): Configuration<Name, Required> {
  const environment = typeof flags.env === 'string' ? withVariables(flags.env, ownEnvironment) : ownEnvironment;
  // Only the primary process warns.
  if (cluster.isPrimary) {
    for (const name of findUnknownVariables(environment)) warn(`${name} is not a setting and is ignored`);
  }
  const texts: Record<string, string | undefined> = {};
  const bare = new Set<string>();
  for (const [name, value] of Object.entries(flags)) {
    if (value === true && commandSettings.flagsOnly?.some((each) => each === name && !isSwitch(each))) bare.add(name);
    else texts[name] = value === true ? 'on' : value;
  }
  const file = readConfigFile(texts.config ?? environment[configVariable]);
  const inputs = { flags: texts, bare, environment, file };
  const configuration = readConfiguration(commandSettings, inputs);
  if (cluster.isPrimary) for (const sentence of findIdleSettings(commandSettings, configuration, inputs)) warn(sentence);
  return configuration;
}

/** The environment with the variables of a file, which may be empty there: an empty variable counts as unset. */
function withVariables(file: string, environment: Environment): Environment {
  try {
    return { ...parseEnv(readFileSync(file, 'utf8')), ...environment };
  } catch (error) {
    throw new ConfigurationError([`--env ${file} cannot be read: ${describeFileError(error)}`]);
  }
}

function readConfigFile(named: string | undefined): ConfigurationInputs['file'] {
  const name = named || configFileName;
  if (!named && !existsSync(name)) return undefined;
  try {
    return { name, text: readFileSync(name, 'utf8') };
  } catch (error) {
    throw new ConfigurationError([`${name} cannot be read: ${describeFileError(error)}`]);
  }
}

export function findIdleSettings<Name extends SettingName, Required extends Name>(
  { names, idleUnless = [] }: CommandSettings<Name, Required>,
  configuration: Configuration<Name, Required>,
  inputs: ConfigurationInputs,
): readonly string[] {
  const origins = originsOf(names, inputs);
  const isOn = (name: Name): boolean => {
    const value: unknown = configuration[name];
    return origins.has(name) && value !== undefined && value !== false;
  };
  const found = new Map<Name, readonly Name[]>();
  for (const { names: dependent, needs } of idleUnless) {
    if (needs.some(isOn)) continue;
    for (const name of dependent.filter(isOn)) if (!found.has(name)) found.set(name, needs);
  }
  return [...found].map(([name, needs]) => `${origins.get(name)} has no effect without ${needs.map(flagOf).join(' or ')}`);
}
