/**
 * The table of settings. Flags, environment variables, members of config files, what projects inherit, options of programs with their
 * checks and defaults, and the table in docs/settings.md derive from it. To add a setting, add a row to one of its two parts, and use it in
 * one place.
 */
import { graphSettings } from './graph-settings.ts';
import { serviceSettings } from './service-settings.ts';
import type { Scope, Setting } from './setting-kinds.ts';

export const settings = { ...graphSettings, ...serviceSettings } as const satisfies Record<string, Setting<unknown>>;

export type SettingName = keyof typeof settings;
type ValueOf<Name extends SettingName> = (typeof settings)[Name]['default'];

/** The settings that hold in a scope. */
export type NameIn<In extends Scope> = {
  [Name in SettingName]: In extends (typeof settings)[Name]['scopes'][number] ? Name : never;
}[SettingName];

/** The values of some settings, of which the `Required` ones must be given. */
export type Configuration<Name extends SettingName, Required extends Name = never> = {
  readonly [Key in Name]: Key extends Required ? Exclude<ValueOf<Key>, undefined> : ValueOf<Key>;
};

export const settingNames = Object.keys(settings) as readonly SettingName[];

export function namesIn<In extends Scope>(scope: In): readonly NameIn<In>[] {
  return settingNames.filter((name): name is NameIn<In> => (settings[name].scopes as readonly Scope[]).includes(scope));
}

/** The values that a configuration has for the options of a scope, without those that are unset or off by default. */
export function optionsIn<In extends Scope>(
  scope: In,
  configuration: Readonly<Partial<Record<SettingName, unknown>>>,
): { readonly [Name in NameIn<In>]?: Exclude<ValueOf<Name>, undefined | (number extends ValueOf<Name> ? 'off' : never)> } {
  const options = namesIn(scope).flatMap((name) => {
    const value = configuration[name];
    return value === undefined || (value === 'off' && settings[name].default === 'off') ? [] : [[name, value]];
  });
  return Object.fromEntries(options);
}

/** The checks of the options of a scope. */
export function checksIn<In extends Scope>(scope: In): { readonly [Name in NameIn<In>]: Setting<unknown>['check'] } {
  return Object.fromEntries(namesIn(scope).map((name) => [name, settings[name].check])) as {
    readonly [Name in NameIn<In>]: Setting<unknown>['check'];
  };
}

/** The flag of a setting. */
export function flagOf(name: SettingName): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** The environment variable of a setting. */
export function environmentVariableOf(name: SettingName): string {
  return `ROWGRAPH_${flagOf(name).slice(2).replaceAll('-', '_').toUpperCase()}`;
}
