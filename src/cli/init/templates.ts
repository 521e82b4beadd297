/** The files of `templates/`, as they are in a project: with its variables, paths and first query. */
import { readFileSync } from 'node:fs';
import { type ClientName, clientRow } from './clients.ts';
import type { Project, ProjectKind } from './project.ts';

const folder = new URL('../../../templates/', import.meta.url);

/** How the names of variables begin that a bundler puts into the program. */
export const variablePrefixes: Readonly<Record<ProjectKind, string>> = { plain: '', vite: 'VITE_', next: 'NEXT_PUBLIC_' };

export function readTemplate(name: string): string {
  return readFileSync(new URL(name, folder), 'utf8');
}

/** The tested version of a package, and all that are compatible with it. */
export function versionOf(name: string): string {
  const { dependencies } = JSON.parse(readTemplate('package.json')) as { dependencies: Record<string, string> };
  const version = dependencies[name];
  if (version === undefined) throw new Error(`templates/package.json has no ${name}`);
  return `^${version}`;
}

/** A source file in the program: with the variables of its bundler, and imports as its compiler takes them. */
export function adaptSource(text: string, { kind }: Project): string {
  const adapted = withPrefix(kind === 'plain' ? text : forBrowsers(text), kind);
  if (kind === 'vite') return adapted.replaceAll('process.env.', 'import.meta.env.');
  // Next's options do not allow the names of TypeScript's files.
  return kind === 'next' ? withoutExtensions(adapted) : adapted;
}

/** A program that a server may run, too, to render pages: its modules, and so the session, are those of all users there. */
function forBrowsers(text: string): string {
  const refusal = 'setTokenSource is for the browser, such as in an effect: a server has many users, and this session is of one';
  return text.replace(
    /^export function setTokenSource.*\n/m,
    (head) => `${head}  if (!('window' in globalThis)) throw new Error('${refusal}');\n`,
  );
}

/** A file that a tool runs in Node, such as codegen.ts. */
export function adaptConfiguration(text: string, { kind, sources }: Project): string {
  const adapted = withPrefix(text, kind);
  const placed =
    sources === 'src'
      ? adapted
      : adapted
          .replaceAll('./src/', './')
          .replaceAll('src/graphql', 'graphql')
          .replaceAll('src/**', '{app,components,graphql,lib,pages}/**')
          .replaceAll('"./src"', '"."');
  return kind === 'next' ? placed.replace("importExtension: '.ts'", "importExtension: ''") : placed;
}

function withPrefix(text: string, kind: ProjectKind): string {
  const prefix = variablePrefixes[kind];
  return text.replaceAll(/\b(GRAPHQL_URL|ANON_KEY|SUPABASE_URL)\b/g, `${prefix}$1`);
}

function withoutExtensions(text: string): string {
  return text.replaceAll(/(from '\.{1,2}\/[^']*?)(?:\.d)?\.tsx?';/g, "$1';");
}

/** The file with the first query. `selection`: what it selects, in braces. */
export function firstQueryFile(name: ClientName, selection: string | null): string {
  const text = readTemplate(`${name}/first-query.ts`);
  return selection === null
    ? text
    : text.replace(/^( {2}query \w+) \{\n[\s\S]*?^ {2}\}$/m, (_all, head: string) => `${head} ${selection.replaceAll('`', '')}`);
}

/** Names of the files in the root of the project that only this client has. */
export function rootTemplates(name: ClientName, { kind, manifest }: Project): readonly string[] {
  const { rootFiles = [], isBundled = false, types } = clientRow(name);
  const isNew = kind === 'plain' || (kind === 'vite' && manifest === null);
  const own = [...rootFiles, ...(isBundled && isNew ? ['vite.config.ts'] : [])].map((file) => `${name}/${file}`);
  return [types === 'client preset' ? 'codegen.ts' : 'download-schema.ts', ...own];
}
