/** Which files `rowgraph init` writes in a project, and what is in them. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ClientName, clientRow } from './clients.ts';
import { type ManifestType, type Merged, mergeIgnored, mergeManifest, mergePlugin, mergeVariables } from './merge-files.ts';
import { type Project, packageNameOf } from './project.ts';
import { adaptConfiguration, adaptSource, firstQueryFile, readTemplate, rootTemplates, variablePrefixes, versionOf } from './templates.ts';

export interface PlannedFile {
  /** Relative to the folder of the project. */
  readonly name: string;
  /** Null if it does not exist. */
  readonly before: string | null;
  readonly after: string;
  /** What is added to a file that exists; null if the file is replaced as a whole. */
  readonly notes: readonly string[] | null;
}

interface Wanted {
  readonly client: ClientName;
  /** Of rowgraph itself. */
  readonly version: string;
  readonly database: { readonly url: string } | { readonly sql: string };
  /** What the first query selects, in braces; null if it is that of the templates. */
  readonly selection: string | null;
  /** Of the file `.env`. */
  readonly variables: readonly (readonly [comment: string, values: Readonly<Record<string, string>>])[];
  readonly isForced: boolean;
}

export function planFiles(project: Project, wanted: Wanted): PlannedFile[] {
  const { client } = wanted;
  const before = (name: string): string | null => readIfExists(join(project.folder, name));
  const whole = (name: string, after: string): PlannedFile => ({ name, before: before(name), after, notes: null });
  const merged = (name: string, { text, notes }: Merged): PlannedFile => ({ name, before: before(name), after: text, notes });
  const sources = join(project.sources, 'graphql');
  const sql = 'sql' in wanted.database ? wanted.database.sql : null;
  return [
    merged('package.json', mergeManifest(before('package.json'), manifestOf(project, wanted), wanted.isForced)),
    merged('.env', mergeVariables(before('.env'), wanted.variables)),
    merged('.gitignore', mergeIgnored(before('.gitignore'), ['node_modules', '.env'])),
    ...(sql !== null && before(sql) === null ? [whole(sql, readTemplate('schema.sql'))] : []),
    ...rootTemplates(client, project).map((name) => whole(name.split('/').at(-1)!, adaptConfiguration(readTemplate(name), project))),
    ...(clientRow(client).keepsSession ? [] : [whole(join(sources, 'session.ts'), adaptSource(readTemplate('session.ts'), project))]),
    whole(join(sources, 'client.ts'), adaptSource(adaptPackages(readTemplate(`${client}/client.ts`), project), project)),
    whole(join(sources, 'first-query.ts'), adaptSource(firstQueryFile(client, wanted.selection), project)),
    ...entryFiles(project).map(([name, text]) => whole(name, text)),
    ...tsconfigFiles(project, client, merged, whole),
  ];
}

function readIfExists(file: string): string | null {
  return existsSync(file) ? readFileSync(file, 'utf8') : null;
}

function manifestOf(project: Project, { client, version, database }: Wanted) {
  const { dependencies, devDependencies, codegen } = clientRow(client);
  const { kind, folder } = project;
  const versions = (names: readonly string[]) => Object.fromEntries(names.map((name) => [packageNameFor(name, project), versionOf(name)]));
  const api = 'url' in database ? 'rowgraph dev --env .env --database-url' : `rowgraph dev --env .env --sql ${database.sql} --watch`;
  return {
    name: packageNameOf(folder),
    type: typeFor(project),
    scripts: {
      api,
      codegen,
      ...(kind === 'next' ? {} : { 'first-query': firstQueryScript(project) }),
      ...(kind === 'plain' && { check: 'tsc --noEmit' }),
    },
    dependencies: versions(dependencies),
    devDependencies: {
      ...versions(kind === 'next' ? devDependencies.filter((name) => !isOfVite(name)) : devDependencies),
      ...versions(kind === 'plain' ? ['typescript', '@types/node'] : ['typescript']),
      rowgraph: `^${version}`,
    },
  };
}

function isOfVite(name: string): boolean {
  return name === 'vite' || name.startsWith('@rolldown/');
}

/** TanStack Query has a package for each framework, which exports the same and more. */
function packageNameFor(name: string, { manifest }: Project): string {
  const known = { ...manifest?.dependencies, ...manifest?.devDependencies };
  const framework = ['react', 'vue', 'svelte', 'solid-js'].find((each) => each in known);
  return name === '@tanstack/query-core' && framework !== undefined ? `@tanstack/${framework.replace('-js', '')}-query` : name;
}

function adaptPackages(text: string, project: Project): string {
  return text.replaceAll("'@tanstack/query-core'", `'${packageNameFor('@tanstack/query-core', project)}'`);
}

/** The member `type` of package.json: programs that are there already may be CommonJS, and Node runs both kinds where it is missing. */
function typeFor({ kind, manifest, folder, sources }: Project): ManifestType {
  if (kind === 'next' || (kind === 'vite' && manifest !== null)) return 'kept';
  if (manifest === null || manifest.type === 'module') return 'module';
  const isProgram = (name: string): boolean => /\.[jt]sx?$/.test(name) && !ownPrograms.includes(name);
  const hasPrograms = (each: string): boolean => existsSync(each) && readdirSync(each).some(isProgram);
  const main = join(folder, manifest.main ?? 'index.js');
  return existsSync(main) || hasPrograms(folder) || hasPrograms(join(folder, sources)) ? 'missing' : 'module';
}

/** Those of an earlier run. */
const ownPrograms = ['codegen.ts', 'download-schema.ts', 'first-query.ts'];

function firstQueryScript({ kind, sources }: Project): string {
  const file = `${sources}/first-query.ts`;
  if (kind === 'plain') return `node --env-file=.env ${file}`;
  const folder = 'node_modules/.first-query';
  return `vite build --ssr ${file} --outDir ${folder} --logLevel warn && node ${folder}/first-query.js`;
}

/** What shows the first query: a page in Next, a program elsewhere. */
function entryFiles(project: Project): readonly (readonly [name: string, text: string])[] {
  const { kind, sources, appRouter } = project;
  if (kind !== 'next') return [[join(sources, 'first-query.ts'), readTemplate('print-first-query.ts')]];
  return appRouter === null ? [] : [[join(appRouter, 'first-query/page.tsx'), readTemplate('page.tsx')]];
}

const tadaPlugin = 'gql.tada/ts-plugin';

function tsconfigFiles(
  project: Project,
  client: ClientName,
  merged: (name: string, merged: Merged) => PlannedFile,
  whole: (name: string, after: string) => PlannedFile,
): PlannedFile[] {
  const { kind, tsconfig, folder, sources } = project;
  const options = { schema: './schema.graphql', tadaOutputLocation: `./${join(sources, 'graphql/graphql-env.d.ts')}` };
  if (tsconfig !== null) {
    const plugged = client === 'gql-tada' ? mergePlugin(readFileSync(join(folder, tsconfig), 'utf8'), tadaPlugin, options) : null;
    return plugged === null ? [] : [merged(tsconfig, plugged)];
  }
  // Next writes its own.
  if (kind === 'next') return [];
  const text = readTemplate('tsconfig.json').replace(
    '"types": ["node"]',
    kind === 'vite' ? '"types": ["vite/client"]' : '"types": ["node"]',
  );
  return [whole('tsconfig.json', client === 'gql-tada' ? (mergePlugin(text, tadaPlugin, options)?.text ?? text) : text)];
}

/** The names of the program's variables. */
export function programVariables({ kind }: Project, client: ClientName, url: string, anonKey: string): Record<string, string> {
  const prefix = variablePrefixes[kind];
  const { variables = {} } = clientRow(client);
  const values = { GRAPHQL_URL: url, ANON_KEY: anonKey, ...variables };
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [prefix + name, value]));
}
