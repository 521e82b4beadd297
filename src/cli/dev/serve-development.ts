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
import { paintFor } from '../output/terminal.ts';
import { boundEnd, watchForEnd } from '../serve/process-end.ts';
import { explainListenError, lastExportMilliseconds, openAgents, openTelemetry, startService } from '../serve/start-service.ts';
import { tokenRulesOf } from '../serve/token-rules.ts';
import { DocumentCheck, documentRolesOf, openTrustedDocuments } from '../serve/trusted-documents.ts';
import { type DatabaseSocket, openDatabaseSocket } from './database-socket.ts';
import { type Development, describeDevelopment } from './describe-development.ts';
import { DevelopmentBackend, listRoles } from './development-backend.ts';
import type { DevelopmentDatabase, EmbeddedDatabase } from './development-database.ts';
import { readDirectiveNotes } from './directive-notes.ts';
import { openOperationFiles } from './operation-files.ts';
import { chooseSampleQuery, readExampleOperations } from './sample-operations.ts';
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
  const { schemas, anonRole, dbPort, basePath = '', operations: folder } = configuration;
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
  const hasServiceRole = database.kind === 'embedded' || (await listRoles(served.current.reader, roleSettings)).includes('service_role');
  const development = {
    ...(await describeApi(served, configuration)),
    ...{ url: `${server.url}${basePath}`, databaseUrl: socket?.url ?? null },
    ...{ jwtSecret, anonKey, serviceKey: hasServiceRole ? serviceKey : null },
  };
  if (reload !== null && database.kind === 'embedded') {
    opened.push(
      await reloadFiles(reload, database.files, async (next) => {
        await served.replace(next, async () => socket?.disconnect());
        checkOnGraph();
        return served.describe();
      }),
    );
  }
  return describeDevelopment(development, paintFor(process.stdout));
}

/** What there is to say of the API and its database, without addresses and keys. */
async function describeApi(
  served: ServedDatabase,
  { schemas, anonRole, graphiql, mcp }: DevelopmentConfiguration,
): Promise<Omit<Development, 'url' | 'databaseUrl' | 'jwtSecret' | 'anonKey' | 'serviceKey'>> {
  const { database, graph, reader } = served.current;
  const sampleQuery = await chooseSampleQuery(graph, anonRole);
  const directives = await readDirectiveNotes(reader, schemas);
  const power = describePower(database);
  const notes = await served.describe();
  const hints = [...power, ...(power.length > 0 && notes.length > 0 ? [''] : []), ...notes];
  return { anonRole, graphiql, mcp, sampleQuery, directives, hints, content: database.content };
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
