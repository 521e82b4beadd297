/** Writes the tables of docs/settings.md from the table of settings: node build/settings-table.ts */
import { readFileSync, writeFileSync } from 'node:fs';
import { developmentSettings } from '../src/cli/command-settings.ts';
import { environmentVariableOf, flagOf, settingNames, settings } from '../src/settings/settings.ts';

/** The page with current tables. */
export function withSettings(page: string): string {
  const rows = settingNames.map((name) => {
    const { placeholder, description, defaultText } = settings[name];
    return [`\`${name}\``, `\`${flagOf(name)} ${placeholder}\``, `\`${environmentVariableOf(name)}\``, defaultText, description];
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
