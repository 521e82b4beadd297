/** Serves the database of `rowgraph dev`, and prints where and how, until it is stopped. */
import type { PGlite } from '@electric-sql/pglite';
import { signKey } from '../../auth/sign-key.ts';
import type { Observer } from '../../events.ts';
import { readStamp, WatchedFiles } from '../../files/watched-files.ts';
import type { WatchedDocuments } from '../../http/documents/trusted-document-files.ts';
import { isLoopbackHost } from '../../http/routes/page-actions.ts';
import type { PageOptions } from '../../http/routes/server-routes.ts';
import { createRowgraph } from '../../index.ts';
import type { Telemetry } from '../../telemetry/create-telemetry.ts';
import { explainLoadError } from '../check-database.ts';
import { SilentExitError } from '../command-error.ts';
import { type DevelopmentConfiguration, graphOptionsOf } from '../command-settings.ts';
import type { Environment } from '../config.ts';
import { type Paint, paintFor } from '../output/terminal.ts';
import { AwaitedGraph } from '../serve/awaited-graph.ts';
import { boundEnd, watchForEnd } from '../serve/process-end.ts';
import { explainListenError, lastExportMilliseconds, openTelemetry, startService } from '../serve/start-service.ts';
import { tokenRulesOf } from '../serve/token-rules.ts';
import { DocumentCheck, documentRolesOf, openTrustedDocuments } from '../serve/trusted-documents.ts';
import { type DatabaseSocket, openDatabaseSocket } from './database-socket.ts';
import { DevelopmentBackend, type DevelopmentSubject, listRoles } from './development-backend.ts';
import type { DevelopmentDatabase, EmbeddedDatabase } from './development-database.ts';
import { AccessNotes, chooseSampleQuery, type DirectiveNotes, readDirectiveNotes, readExampleOperations } from './development-notes.ts';
import { type SqlFile, textOf } from './load-sql.ts';

/** What to serve: a database, and the files to load into a new one whenever they change. */
export interface DevelopmentSource {
  readonly database: DevelopmentDatabase;
  readonly reload: ReloadedFiles | null;
}

export interface ReloadedFiles {
  readonly names: readonly string[];
  readonly read: () => Promise<readonly SqlFile[]>;
  /** Opens a new database with what the files have now. */
  readonly open: () => Promise<DevelopmentDatabase>;
}

interface Closable {
  close(): Promise<void>;
}

/** Resolves once it has been stopped, with the database closed. Throws `SilentExitError` after a fault that ended it. */
export async function serveDevelopment(
  configuration: DevelopmentConfiguration,
  source: DevelopmentSource,
  environment: Environment,
): Promise<void> {
  const telemetry = await openTelemetryOrClose(configuration, source.database, environment);
  const end = watchForEnd(telemetry.observe);
  boundEnd(end, configuration);
  const opened: Closable[] = [];
  try {
    process.stdout.write(await open(configuration, source, telemetry, opened));
    await end.begun;
  } finally {
    // The socket closes before the server: otherwise a transaction that psql left open would keep requests in flight waiting.
    for (const each of opened.reverse()) await each.close();
    await telemetry.stop(lastExportMilliseconds);
  }
  if (end.hasFaults()) throw new SilentExitError(1);
}

/** Closes the database if the settings of telemetry are wrong: left open, it would keep the process from ending. */
async function openTelemetryOrClose(
  configuration: DevelopmentConfiguration,
  database: DevelopmentDatabase,
  environment: Environment,
): Promise<Telemetry> {
  try {
    return openTelemetry(configuration, environment);
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** Opens everything, and records it in `opened`. Its messages are for the user. */
async function open(
  configuration: DevelopmentConfiguration,
  { database, reload }: DevelopmentSource,
  telemetry: Telemetry,
  opened: Closable[],
): Promise<string> {
  const { schemas, anonRole, dbPort, graphiql, basePath = '' } = configuration;
  const { jwtSecret } = database;
  const check = new DocumentCheck();
  const served = await ServedDatabase.open(database, configuration, (event) => {
    telemetry.observe(event);
    check.notice(event);
  });
  opened.push(served);
  const documents = await openTrustedDocuments(configuration, served.observe);
  opened.push({ close: async () => closeDocuments(documents, check) });
  const [anonKey, serviceKey] = await Promise.all([signKey(jwtSecret, anonRole), signKey(jwtSecret, 'service_role')]);
  const tokens = await tokenRulesOf(configuration, telemetry.observe);
  const roleSettings = { anonRole, schemas: database.kind === 'own' ? schemas : null };
  const page = await choosePage(configuration, served, anonKey, new DevelopmentBackend(served, roleSettings));
  const server = await startService({ configuration, jwtSecret, tokens, page, graph: served.graph, telemetry, documents });
  opened.push(server);
  const checkOnGraph = (): void => {
    const { graph } = served.current;
    if (documents !== null) check.begin({ documents, graph, roles: documentRolesOf(configuration), report: telemetry.observe });
  };
  checkOnGraph();
  const socket = database.kind === 'own' ? null : await openSocket(() => (served.current.database as EmbeddedDatabase).pglite, dbPort);
  if (socket !== null) opened.push(socket);
  const { graph, reader } = served.current;
  const sampleQuery = await chooseSampleQuery(graph, anonRole);
  const directives = await readDirectiveNotes(reader, schemas);
  const power = describePower(database);
  const notes = await served.describe();
  const hints = [...power, ...(power.length > 0 && notes.length > 0 ? [''] : []), ...notes];
  const hasServiceRole = database.kind === 'embedded' || (await listRoles(reader, roleSettings)).includes('service_role');
  if (reload !== null && database.kind === 'embedded') {
    opened.push(
      await reloadFiles(reload, database.files, async (next) => {
        await served.replace(next, async () => socket?.disconnect());
        checkOnGraph();
        return served.describe();
      }),
    );
  }
  const shown = { url: `${server.url}${basePath}`, databaseUrl: socket?.url ?? null, graphiql, sampleQuery, hints, directives };
  const keys = { jwtSecret, anonRole, anonKey, serviceKey: hasServiceRole ? serviceKey : null };
  return describeDevelopment({ ...shown, ...keys, content: database.content }, paintFor(process.stdout));
}

interface Opened extends DevelopmentSubject {
  readonly database: DevelopmentDatabase;
  readonly access: AccessNotes;
}

/** The database with its graph. Another database can take its place, which requests then use. */
class ServedDatabase {
  readonly graph = new AwaitedGraph();
  readonly observe: Observer;
  readonly #configuration: DevelopmentConfiguration;
  /** Begins anew with each process, after which the schema may be another. */
  readonly #start = Date.now();
  #changes = 0;
  #current: Opened | null = null;

  private constructor(configuration: DevelopmentConfiguration, observe: Observer) {
    this.#configuration = configuration;
    this.observe = (event) => {
      if (event.kind === 'schema-loaded') this.#changes += 1;
      observe(event);
    };
  }

  /** Closes the database if its schema cannot be loaded. */
  static async open(database: DevelopmentDatabase, configuration: DevelopmentConfiguration, observe: Observer): Promise<ServedDatabase> {
    const served = new ServedDatabase(configuration, observe);
    await served.replace(database, async () => {});
    return served;
  }

  get current(): Opened {
    if (this.#current === null) throw new Error('The database is not open yet');
    return this.#current;
  }

  get schemaVersion(): string {
    return `${this.#start}-${this.#changes}`;
  }

  /** `leave` ends what still uses the previous database, which is closed afterwards. */
  async replace(database: DevelopmentDatabase, leave: () => Promise<unknown>): Promise<void> {
    const previous = this.#current;
    this.#current = await this.#load(database);
    this.graph.open(this.#current.graph);
    this.#changes += 1;
    await leave();
    if (previous !== null) await closeOpened(previous);
  }

  /** What the user should know of the API as it is now. */
  async describe(): Promise<string[]> {
    const { access, database, graph } = this.current;
    const isExample = database.kind === 'embedded' && database.isExample;
    return [...(await access.describe(graph)), ...(isExample ? [] : await access.describeOpen())];
  }

  close(): Promise<void> {
    return closeOpened(this.current);
  }

  async #load(database: DevelopmentDatabase): Promise<Opened> {
    const { schemas, anonRole, schemaTriggers } = this.#configuration;
    const isOwn = database.kind === 'own';
    const access = new AccessNotes(database.reader, { schemas, anonRole, isOwn });
    try {
      const graph = await createRowgraph({
        ...graphOptionsOf(this.#configuration),
        database: isOwn ? database.url : database.pglite,
        schemaTriggers: schemaTriggers || !isOwn,
        observe: reportChanges(access, this.observe),
      });
      return { database, reader: database.reader, jwtSecret: database.jwtSecret, access, graph };
    } catch (error) {
      await database.close();
      throw isOwn ? explainLoadError(error, { databaseUrl: database.url, schemaTriggers, login: database.login.role }) : error;
    }
  }
}

async function closeOpened({ graph, database }: Opened): Promise<void> {
  await graph.close();
  await database.close();
}

/** How often the files are checked, in milliseconds. */
const reloadInterval = 300;

/** Opens a new database whenever the files have changed, and hands it over; if their SQL fails, says so. */
async function reloadFiles(
  { names, read, open: openAgain }: ReloadedFiles,
  loaded: readonly SqlFile[],
  handOver: (database: DevelopmentDatabase) => Promise<readonly string[]>,
): Promise<Closable> {
  const say = (line: string): unknown => process.stderr.write(`${line}\n`);
  let latest = textOf(loaded);
  let reloading: Promise<void> = Promise.resolve();
  const reload = async (files: readonly SqlFile[]): Promise<void> => {
    const text = textOf(files);
    if (text === latest) return;
    latest = text;
    try {
      const hints = await handOver(await openAgain());
      for (const line of [`Loaded ${names.join(', ')} again; the API follows.`, ...hints]) say(line);
    } catch (error) {
      say(`rowgraph: ${(error as Error).message}`);
      say('The database and the API stay as they were.');
    }
  };
  const onLoad = (files: readonly SqlFile[]): void => {
    reloading = reloading.then(() => reload(files));
  };
  const onFailure = ({ message }: Error): unknown => say(`rowgraph: ${message}`);
  const watched = await WatchedFiles.open({ read, readStamp: () => readStamp(names), onLoad, onFailure }, reloadInterval);
  return {
    async close() {
      watched.stop();
      await reloading;
    },
  };
}

/** The page has no backend if other machines can reach the server, because that lets its user act as anybody. */
async function choosePage(
  { host, anonRole }: DevelopmentConfiguration,
  served: ServedDatabase,
  anonKey: string,
  backend: DevelopmentBackend,
): Promise<PageOptions> {
  const { database, graph } = served.current;
  const operations = database.kind === 'own' ? [] : await readExampleOperations(graph, [anonRole, 'authenticated']);
  return { anonKey, operations, ...(isLoopbackHost(host) && { backend }) };
}

function closeDocuments(documents: WatchedDocuments | null, check: DocumentCheck): void {
  documents?.stop();
  check.end();
}

/** An observer that also reports on the terminal when a schema change leaves something out of the API. */
function reportChanges(access: AccessNotes, observe: Observer): Observer {
  let reporting: Promise<void> = Promise.resolve();
  const report = async (): Promise<void> => {
    for (const line of await access.describeChange()) process.stderr.write(`${line}\n`);
  };
  return (event) => {
    observe(event);
    // Errors are ignored: the database may be closing.
    if (event.kind === 'schema-loaded') reporting = reporting.then(report).catch(() => undefined);
  };
}

/** What most people have on their machine, and nobody should have where others can reach it. */
function describePower(database: DevelopmentDatabase): string[] {
  if (database.kind === 'embedded') return [];
  const { role, isSuperuser, bypassesRowSecurity } = database.login;
  if (!isSuperuser && !bypassesRowSecurity) return [];
  const power = isSuperuser ? 'is a superuser' : 'bypasses row level security';
  return [`The login role "${role}" ${power}: fine on your machine, but "rowgraph serve" warns of it, and "serve --strict" refuses it.`];
}

async function openSocket(pglite: () => PGlite, port: number): Promise<DatabaseSocket> {
  try {
    return await openDatabaseSocket(pglite, port);
  } catch (error) {
    throw explainListenError(error, '127.0.0.1', port, '--db-port');
  }
}

interface Development {
  /** The server's URL, with its base path. */
  readonly url: string;
  /** Of the embedded database; null if it is the user's own. */
  readonly databaseUrl: string | null;
  readonly graphiql: boolean;
  readonly jwtSecret: string;
  readonly anonRole: string;
  readonly anonKey: string;
  /** Null if the database has no role of that name. */
  readonly serviceKey: string | null;
  readonly sampleQuery: string;
  readonly content: string;
  /** What may be missing from the API, and which commands to run. */
  readonly hints: readonly string[];
  readonly directives: DirectiveNotes;
}

/** The text, for people. */
function describeDevelopment(development: Development, paint: Paint): string {
  const { url, databaseUrl, graphiql, jwtSecret, anonRole, anonKey, serviceKey, content, hints, directives } = development;
  const addresses = [
    ['GraphQL URL', paint('cyan', `${url}/graphql/v1`)],
    ...(graphiql ? [['GraphiQL URL', paint('cyan', `${url}/graphiql`)] as const] : []),
    ...(databaseUrl === null ? [] : [['DB URL', paint('cyan', databaseUrl)] as const]),
    ['JWT secret', jwtSecret],
    [`${anonRole} key`, anonKey],
    ...(serviceKey === null ? [] : [['service_role key', serviceKey] as const]),
  ] as const;
  return `
${paint('bold', `rowgraph serves ${content}`)}

${alignRows(addresses)}

${serviceKey === null ? '' : 'The service_role key bypasses row level security: keep it out of browsers and apps.\n\n'}${hints.length > 0 ? `${hints.map((line) => paint('yellow', line)).join('\n')}\n\n` : ''}${describeDirectives(directives, paint)}

${paint('bold', 'A first request:')}

  ${curlLine(development)}

Ctrl-C stops.
`;
}

function alignRows(rows: readonly (readonly [name: string, value: string])[]): string {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, value]) => `  ${`${name}:`.padEnd(width + 2)} ${value}`).join('\n');
}

function describeDirectives({ rows, isSuggestion, statements }: DirectiveNotes, paint: Paint): string {
  const heading = isSuggestion ? 'To change that, run this in psql or add it to your SQL:' : 'Set by comments in the database:';
  const sql = statements.length > 0 ? `\n\n${heading}\n\n${statements.map((statement) => `  ${statement}`).join('\n')}` : '';
  return `${paint('bold', 'How the API looks')} (see docs/api.md):

${alignRows(rows)}${sql}`;
}

/** A command line for a POSIX shell. */
function curlLine({ url, anonKey, sampleQuery }: Development): string {
  const body = JSON.stringify({ query: sampleQuery });
  return `curl --silent ${url}/graphql/v1 -H 'apiKey: ${anonKey}' -H 'content-type: application/json' -d '${body}'`;
}
