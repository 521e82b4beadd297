/**
 * Finds settings that somebody gave although they do nothing without another one. In: a command's settings, their values, and where they were
 * given; out: a sentence for each.
 */
import { type CommandSettings, type ConfigurationSources, findGivenSettings } from './config.ts';
import { type Configuration, flagOf, type SettingName } from './settings.ts';

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
