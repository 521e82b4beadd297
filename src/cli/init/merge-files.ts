/** Additions to files that a project may have already. What is in them stays as it is. */
import { parseEnv } from 'node:util';
import type { Manifest } from './project.ts';

/** A file with what was added; `notes` say for a person what that is, or what was left alone. */
export interface Merged {
  readonly text: string;
  readonly notes: readonly string[];
}

/** What the member `type` should be; `missing`: not "commonjs". */
export type ManifestType = 'module' | 'missing' | 'kept';

interface ManifestAdditions {
  /** For a new package.json. */
  readonly name: string;
  readonly type: ManifestType;
  readonly scripts: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

/** `before`: null if there is no package.json. `isForced`: scripts of the same name are replaced. */
export function mergeManifest(before: string | null, additions: ManifestAdditions, isForced: boolean): Merged {
  const manifest = (before === null ? { name: additions.name, private: true } : JSON.parse(before)) as Manifest;
  const known = { ...manifest.dependencies, ...manifest.devDependencies };
  const missingOf = (packages: Readonly<Record<string, string>>) => Object.entries(packages).filter(([name]) => !(name in known));
  const dependencies = missingOf(additions.dependencies);
  const devDependencies = missingOf(additions.devDependencies);
  const scripts = Object.entries(additions.scripts).filter(([name, script]) => manifest.scripts?.[name] !== script);
  const kept = scripts.filter(([name]) => manifest.scripts?.[name] !== undefined && !isForced);
  const added = scripts.filter((entry) => !kept.includes(entry));
  const isUntyped = additions.type === 'missing' && manifest.type === 'commonjs';
  const type = additions.type === 'module' && manifest.type !== 'module' ? additions.type : null;
  const next = {
    ...manifest,
    ...(type !== null && { type }),
    ...(isUntyped && { type: undefined }),
    ...(added.length > 0 && { scripts: { ...manifest.scripts, ...Object.fromEntries(added) } }),
    ...(dependencies.length > 0 && { dependencies: sorted({ ...manifest.dependencies, ...Object.fromEntries(dependencies) }) }),
    ...(devDependencies.length > 0 && { devDependencies: sorted({ ...manifest.devDependencies, ...Object.fromEntries(devDependencies) }) }),
  };
  const list = (what: string, names: readonly (readonly [string, string])[]): string[] =>
    names.length === 0 ? [] : [`${what} ${names.map(([name]) => name).join(', ')}`];
  const indentation = /^\{\n([ \t]+)/.exec(before ?? '')?.[1] ?? '  ';
  return {
    text: `${JSON.stringify(next, null, indentation)}\n`,
    notes: [
      ...(type === null || before === null
        ? []
        : [`"type": "${type}"${manifest.type === undefined ? '' : `, which was "${manifest.type}"`}`]),
      ...list('scripts', added),
      ...list('packages', [...dependencies, ...devDependencies]),
      ...(isUntyped ? ['its "type": "commonjs" is removed, so that Node runs ES modules, too'] : []),
      ...kept.map(([name, script]) => `its script "${name}" stays; rowgraph's would be: ${script}`),
    ],
  };
}

function sorted(packages: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(packages).sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** The variables of a `.env` file. */
export function readVariables(text: string | null): Readonly<Record<string, string | undefined>> {
  return parseEnv(text ?? '');
}

/** Variables with the comment that comes before them; those that the file has already are left out. */
export function mergeVariables(
  before: string | null,
  groups: readonly (readonly [comment: string, values: Readonly<Record<string, string>>])[],
): Merged {
  const known = readVariables(before);
  let text = before === null || before === '' || before.endsWith('\n') ? (before ?? '') : `${before}\n`;
  const added: string[] = [];
  for (const [comment, values] of groups) {
    const missing = Object.entries(values).filter(([name]) => known[name] === undefined);
    if (missing.length === 0) continue;
    if (text !== '') text += '\n';
    text += `# ${comment}\n${missing.map(([name, value]) => `${name}=${quoteValue(value)}\n`).join('')}`;
    added.push(...missing.map(([name]) => name));
  }
  return { text, notes: added.length === 0 ? [] : [`variables ${added.join(', ')}`] };
}

/** Plain if it can be; single quotes keep all other characters as they are, of which a URL has no single quote itself. */
function quoteValue(value: string): string {
  return /^[\w.:/@-]+$/.test(value) ? value : `'${value.replaceAll("'", '%27')}'`;
}

/** What git ignores, with these lines. */
export function mergeIgnored(before: string | null, lines: readonly string[]): Merged {
  const known = new Set((before ?? '').split('\n').map((line) => line.trim().replace(/^\//, '').replace(/\/$/, '')));
  // A pattern of Next's template covers `.env` as well.
  const missing = lines.filter((line) => !known.has(line) && !(line === '.env' && known.has('.env*')));
  const start = before === null || before === '' || before.endsWith('\n') ? (before ?? '') : `${before}\n`;
  return { text: start + missing.map((line) => `${line}\n`).join(''), notes: missing };
}

/** TypeScript's options, whose comments stay, with a plugin. Null if it is not clear where it belongs. */
export function mergePlugin(before: string, name: string, plugin: object): Merged | null {
  if (before.includes(`"${name}"`)) return { text: before, notes: [] };
  const entry = JSON.stringify({ name, ...plugin });
  const withPlugins = before.replace(/("plugins"\s*:\s*\[)(\s*\]?)/, (_all, start: string, end: string) =>
    end.endsWith(']') ? `${start}${entry}]` : `${start}${entry},${end}`,
  );
  const text = withPlugins === before ? before.replace(/("compilerOptions"\s*:\s*\{)/, `$1\n    "plugins": [${entry}],`) : withPlugins;
  return text === before ? null : { text, notes: [`the plugin ${name}`] };
}
