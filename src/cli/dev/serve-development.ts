/** Serves the database of `rowgraph dev`, and prints where and how, until it is stopped. */
import type { PGlite } from '@electric-sql/pglite';
import { signKey } from '../../auth/sign-key.ts';
import type { WatchedDocuments } from '../../http/documents/trusted-document-files.ts';
import { isLoopbackHost } from '../../http/routes/page-actions.ts';
import type { PageOptions } from '../../http/routes/server-routes.ts';
import type { Agents } from '../../mcp/create-agents.ts';
import type { Telemetry } from '../../telemetry/create-telemetry.ts';
import { SilentExitError } from '../command-error.ts';
import type { DevelopmentConfiguration } from '../command-settings.ts';
import type { Environment } from '../config.ts';
import { type Paint, paintFor } from '../output/terminal.ts';
import { boundEnd, watchForEnd } from '../serve/process-end.ts';
import { explainListenError, lastExportMilliseconds, openAgents, openTelemetry, startService } from '../serve/start-service.ts';
import { tokenRulesOf } from '../serve/token-rules.ts';
import { DocumentCheck, documentRolesOf, openTrustedDocuments } from '../serve/trusted-documents.ts';
import { type DatabaseSocket, openDatabaseSocket } from './database-socket.ts';
import { DevelopmentBackend, listRoles } from './development-backend.ts';
import type { DevelopmentDatabase, EmbeddedDatabase } from './development-database.ts';
import { chooseSampleQuery, type DirectiveNotes, readDirectiveNotes, readExampleOperations } from './development-notes.ts';
import { openOperationFiles } from './operation-files.ts';
import { type Closable, type ReloadedFiles, reloadFiles, ServedDatabase } from './served-database.ts';

/** What to serve: a database, and the files to load into a new one whenever they change. */
interface DevelopmentSource {
  readonly database: DevelopmentDatabase;
  readonly reload: ReloadedFiles | null;
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
  const { schemas, anonRole, dbPort, graphiql, mcp, basePath = '', operations: folder } = configuration;
  const { jwtSecret } = database;
  const check = new DocumentCheck();
  let agents: Agents | null = null;
  const served = await ServedDatabase.open(database, configuration, (event) => {
    telemetry.observe(event);
    check.notice(event);
    agents?.notice(event);
  });
  opened.push(served);
  agents = await openAgents(configuration, telemetry.observe);
  const documents = await openTrustedDocuments(configuration, served.observe);
  opened.push({ close: async () => closeDocuments(documents, check) });
  const [anonKey, serviceKey] = await Promise.all([signKey(jwtSecret, anonRole), signKey(jwtSecret, 'service_role')]);
  const tokens = await tokenRulesOf(configuration, telemetry.observe);
  const roleSettings = { anonRole, schemas: database.kind === 'own' ? schemas : null };
  const operations = folder === undefined ? null : await openOperationFiles(folder);
  const page = await choosePage(configuration, served, anonKey, new DevelopmentBackend(served, roleSettings, operations));
  const server = await startService({ configuration, jwtSecret, tokens, page, graph: served.graph, telemetry, documents, agents });
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
  const shown = { url: `${server.url}${basePath}`, databaseUrl: socket?.url ?? null, graphiql, mcp, sampleQuery, hints, directives };
  const keys = { jwtSecret, anonRole, anonKey, serviceKey: hasServiceRole ? serviceKey : null };
  return describeDevelopment({ ...shown, ...keys, content: database.content }, paintFor(process.stdout));
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
  readonly mcp: boolean;
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
  const { url, databaseUrl, graphiql, mcp, jwtSecret, anonRole, anonKey, serviceKey, content, hints, directives } = development;
  const addresses = [
    ['GraphQL URL', paint('cyan', `${url}/graphql/v1`)],
    ...(graphiql ? [['GraphiQL URL', paint('cyan', `${url}/graphiql`)] as const] : []),
    ...(mcp ? [['Agents (MCP)', paint('cyan', `${url}/mcp`)] as const] : []),
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
  return `${paint('bold', 'How the API looks')} (see docs/api/directives.md):

${alignRows(rows)}${sql}`;
}

/** A command line for a POSIX shell. */
function curlLine({ url, anonKey, sampleQuery }: Development): string {
  const body = JSON.stringify({ query: sampleQuery });
  return `curl --silent ${url}/graphql/v1 -H 'apiKey: ${anonKey}' -H 'content-type: application/json' -d '${body}'`;
}
