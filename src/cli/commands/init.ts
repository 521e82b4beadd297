/** `rowgraph init`: writes a typed client, with a first query and what it needs, into a new or existing project. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { Command } from 'commander';
import { settings } from '../../settings/settings.ts';
import { CommandError } from '../command-error.ts';
import { addSettings, type CommandSettings, type Environment, readSettings } from '../config.ts';
import { type ClientName, clientNames, clientRow } from '../init/clients.ts';
import { readVariables } from '../init/merge-files.ts';
import { type PlannedFile, planFiles, programVariables } from '../init/plan-files.ts';
import { commandsOf, hasNativeTypeScript, type Project, readProject } from '../init/project.ts';
import { readTemplate } from '../init/templates.ts';
import { Progress } from '../output/terminal.ts';
import { choiceParser, print } from './with-graph.ts';

type InitSettingName = 'databaseUrl' | 'schemas' | 'anonRole' | 'port';
const initSettings: CommandSettings<InitSettingName, never> = {
  names: ['databaseUrl', 'schemas', 'anonRole', 'port'],
  required: [],
  defaults: {},
};

interface Flags {
  readonly client?: ClientName;
  readonly force?: true;
  readonly dryRun?: true;
}

const sqlFile = 'schema.sql';
const secretBytes = 32;

export function initCommand(environment: Environment): Command {
  const command = new Command('init')
    .description('Write a typed client, with a first query and what it needs, into this folder: a new project, a Vite app or a Next app')
    .argument('[FOLDER]', 'The project', '.');
  command
    .option('--client <CLIENT>', `${clientNames.join(', ')}; asked for on a terminal`, choiceParser('--client', clientNames))
    .option('--force', 'Replace files and scripts that exist')
    .option('--dry-run', 'Print what would be written, and write nothing');
  return addSettings(command, initSettings).action(async (folder: string, { client, force, dryRun, ...flags }: Flags) => {
    const configuration = readSettings(initSettings, flags as Readonly<Record<string, string | undefined>>, environment);
    const isTerminal = process.stdin.isTTY && process.stdout.isTTY;
    if (client === undefined && !isTerminal) throw new CommandError(`--client is missing: ${listClients()}`, 2);
    const answers = client === undefined ? await ask(configuration.databaseUrl) : { client, databaseUrl: configuration.databaseUrl };
    if (configuration.port === 0) throw new CommandError('--port must be a port, at which the client finds the API', 2);
    const project = placeProject(readProject(resolve(folder), environment.npm_config_user_agent), answers.client);
    if (clientRow(answers.client).needsFormerTypeScript === true && hasNativeTypeScript(project) && !force)
      throw new CommandError(`${answers.client} does not work with TypeScript 7 yet: install typescript@5, or choose another client`, 2);
    const files = await planProject(project, { ...configuration, ...answers }, force ?? false, environment);
    writeFiles(project, files, { isForced: force ?? false, isDry: dryRun ?? false });
    if (!dryRun) print(...describeNext(project, answers.client, folder, configuration.port));
  });
}

function listClients(): string {
  return clientNames.map((name) => `${name} (${clientRow(name).description})`).join(', ');
}

interface Answers {
  readonly client: ClientName;
  readonly databaseUrl: string | undefined;
}

/** Asks on the terminal. An empty answer takes the first client, and a file of SQL as the database. Rejects if the user ends it. */
async function ask(givenUrl: string | undefined): Promise<Answers> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  // It keeps lines that come before their question, and ends with Ctrl-C and Ctrl-D.
  const lines = terminal[Symbol.asyncIterator]();
  const question = async (text: string): Promise<string> => {
    terminal.setPrompt(text);
    terminal.prompt();
    const { value, done } = await lines.next();
    if (done) throw new CommandError('nothing was written', 2);
    return value;
  };
  try {
    print('Which client?', ...clientNames.map((name, index) => `  ${index + 1}  ${name.padEnd(16)} ${clientRow(name).description}`));
    let client: ClientName | undefined;
    while (client === undefined) client = findClient(await question(`Its number or name (${clientNames[0]}): `));
    if (givenUrl !== undefined) return { client, databaseUrl: givenUrl };
    print(`The URL of your database, such as postgres://user@localhost:5432/app. Without one, an embedded PostgreSQL serves ${sqlFile}.`);
    const databaseUrl = (await question('URL (none): ')).trim();
    return { client, databaseUrl: databaseUrl === '' ? undefined : parseUrl(databaseUrl) };
  } finally {
    terminal.close();
  }
}

function parseUrl(answer: string): string | undefined {
  try {
    return settings.databaseUrl.parse(answer);
  } catch (error) {
    throw new CommandError(`the URL ${(error as Error).message}`, 2, error);
  }
}

function findClient(answer: string): ClientName | undefined {
  const text = answer.trim();
  return text === '' ? clientNames[0] : clientNames.find((name, index) => name === text || String(index + 1) === text);
}

/** A client whose documents are compiled into the program makes a new project one of Vite's. */
function placeProject(project: Project, client: ClientName): Project {
  return project.kind === 'plain' && clientRow(client).isBundled === true ? { ...project, kind: 'vite' } : project;
}

interface Choices extends Answers {
  readonly schemas: readonly string[];
  readonly anonRole: string;
  /** Of `rowgraph dev`. */
  readonly port: number;
}

async function planProject(project: Project, choices: Choices, isForced: boolean, environment: Environment): Promise<PlannedFile[]> {
  const { client, databaseUrl, schemas, anonRole, port } = choices;
  const { signKey } = await import('../../auth/sign-key.ts');
  const { selection, typesRole } = await findSelection(project, choices, environment);
  const given = readVariables(readOrNull(join(project.folder, '.env')));
  const secret = given.ROWGRAPH_JWT_SECRET ?? randomBytes(secretBytes).toString('base64url');
  const ofServer = {
    ROWGRAPH_JWT_SECRET: secret,
    ...(databaseUrl !== undefined && { ROWGRAPH_DATABASE_URL: databaseUrl }),
    ...(anonRole !== 'anon' && { ROWGRAPH_ANON_ROLE: anonRole }),
    ...(port !== settings.port.default && { ROWGRAPH_PORT: String(port) }),
    ...(schemas.join() !== 'public' && { ROWGRAPH_SCHEMAS: schemas.join() }),
  };
  return planFiles(project, {
    client,
    version: readVersion(),
    database: databaseUrl === undefined ? { sql: sqlFile } : { url: databaseUrl },
    selection,
    variables: [
      [
        'Where the API is, and the key that may be public.',
        programVariables(project, client, `http://127.0.0.1:${port}/graphql/v1`, await signKey(secret, anonRole)),
      ],
      ['For rowgraph in development: these are secrets.', ofServer],
      ['As whom types are made.', { CODEGEN_TOKEN: await signKey(secret, typesRole) }],
    ],
    isForced,
  });
}

function readVersion(): string {
  return (JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as { version: string }).version;
}

function readOrNull(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}

async function findSelection(project: Project, { databaseUrl, ...roles }: Choices, environment: Environment) {
  const { selectFromDatabase, selectFromFile } = await import('../init/first-selection.ts');
  if (databaseUrl !== undefined) return selectFromDatabase(databaseUrl, roles);
  const file = join(project.folder, sqlFile);
  // The first query of the templates is for their own schema.
  if ([null, readTemplate(sqlFile)].includes(readOrNull(file))) return { selection: null, typesRole: 'authenticated' };
  return selectFromFile(file, roles, environment, new Progress((line) => process.stderr.write(`${line}\n`)));
}

/** Throws `CommandError` before anything is written if a file would be replaced. */
function writeFiles({ folder }: Project, files: readonly PlannedFile[], { isForced, isDry }: { isForced: boolean; isDry: boolean }): void {
  const changed = files.filter(({ before, after }) => before !== after);
  const replaced = changed.filter(({ before, notes }) => before !== null && notes === null);
  if (replaced.length > 0 && !isForced && !isDry) {
    const names = replaced.map(({ name }) => name).join(', ');
    throw new CommandError(`nothing was written, because it would replace ${names}: --force replaces them, --dry-run lists everything`, 2);
  }
  for (const { name, after } of isDry ? [] : changed) {
    const file = join(folder, name);
    mkdirSync(dirname(file), { recursive: true });
    // The file of variables has secrets.
    writeFileSync(file, after, name === '.env' ? { mode: 0o600 } : {});
  }
  const verb = isDry ? 'would ' : '';
  for (const file of changed) print(`  ${verb}${describeChange(file)}`);
  for (const { name, before, notes } of files)
    if (before !== null && notes === null && !changed.some((each) => each.name === name)) print(`  ${name} is as it should be`);
}

function describeChange({ name, before, notes }: PlannedFile): string {
  if (before === null) return `write ${name}`;
  return notes === null ? `replace ${name}` : `add to ${name}: ${notes.join('; ')}`;
}

function describeNext(project: Project, client: ClientName, folder: string, port: number): string[] {
  const { install, run } = commandsOf(project.packageManager);
  const { kind, appRouter, sources, manifest } = project;
  const byHand = manifest === null || kind === 'plain' ? [] : (clientRow(client).byHand?.(project) ?? []);
  const first = kind === 'next' ? `open http://localhost:3000/first-query, once "${run} dev" serves the app` : `${run} first-query`;
  const steps = [
    ...(folder === '.' ? [] : [`cd ${folder}`]),
    install,
    `${run} api, which serves the API and a page to try it at http://127.0.0.1:${port}/graphiql; then in another terminal:`,
    `${run} codegen, which makes the types, and again when the schema or a document changes`,
    ...(kind === 'next' && appRouter === null ? [`call firstQuery() of ${join(sources, 'graphql/first-query.ts')}`] : [first]),
  ];
  return ['', 'Next:', ...[...byHand, ...steps].map((step, index) => `  ${index + 1}. ${step}`)];
}
