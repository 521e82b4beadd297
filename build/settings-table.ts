/** Writes the tables of docs/settings.md from the table of settings: node build/settings-table.ts */
import { readFileSync, writeFileSync } from 'node:fs';
import { limitNames, limitSettingOf } from '../src/budget/limits.ts';
import { developmentSettings } from '../src/cli/command-settings.ts';
import { environmentVariableOf, flagOf, settingNames, settings } from '../src/settings/settings.ts';

/** Those of the limits have a page of their own; the first stands for all. */
const [firstLimit, ...otherLimits] = limitNames.map(limitSettingOf);

/** The page with current tables. */
export function withSettings(page: string): string {
  const rows = settingNames
    .filter((name) => !(otherLimits as readonly string[]).includes(name))
    .map((name) => {
      const { placeholder, description, defaultText } = settings[name];
      const meaning = name === firstLimit ? `${description}; so for each of [the limits](limits.md)` : description;
      return [`\`${name}\``, `\`${flagOf(name)} ${placeholder}\``, `\`${environmentVariableOf(name)}\``, defaultText, meaning];
    });
  const { defaults, defaultTexts } = developmentSettings;
  const differences = Object.entries({ ...defaults, ...defaultTexts }).map(([name, value]) => [
    `\`${name}\``,
    value === true ? 'on' : String(value),
  ]);
  const whole = replaceTable(page, ['setting', 'flag', 'environment variable', 'default', 'meaning'], rows);
  return replaceTable(whole, ['setting', 'default'], differences);
}

export function replaceTable(page: string, heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const head = `${rowOf(heads)}\n|${'---|'.repeat(heads.length)}\n`;
  const start = page.indexOf(head);
  if (start === -1) throw new Error(`The page has no table ${rowOf(heads)}`);
  const rest = page.slice(start + head.length).replace(/^(\|.*\n)*/, '');
  return `${page.slice(0, start)}${head}${rows.map((row) => `${rowOf(row)}\n`).join('')}${rest}`;
}

function rowOf(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

if (import.meta.main) {
  const file = new URL('../docs/settings.md', import.meta.url);
  writeFileSync(file, withSettings(readFileSync(file, 'utf8')));
}
