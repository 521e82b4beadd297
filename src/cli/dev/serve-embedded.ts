/** Serves the embedded database of `rowgraph dev`, and prints where and how, until it is stopped. */
import type { PGlite } from '@electric-sql/pglite';
import { signKey } from '../../auth/sign-key.ts';
import type { Observer } from '../../events.ts';
import type { WatchedDocuments } from '../../http/documents/trusted-document-files.ts';
import { isLoopbackHost } from '../../http/routes/page-actions.ts';
import type { PageOptions } from '../../http/routes/server-routes.ts';
import { createRowgraph, type Rowgraph } from '../../index.ts';
import type { Telemetry } from '../../telemetry/create-telemetry.ts';
import { SilentExitError } from '../command-error.ts';
import { type DevelopmentConfiguration, graphOptionsOf } from '../command-settings.ts';
import type { Environment } from '../config.ts';
import { type Paint, paintFor } from '../output/terminal.ts';
import { boundEnd, watchForEnd } from '../serve/process-end.ts';
import { explainListenError, lastExportMilliseconds, openTelemetry, startService } from '../serve/start-service.ts';
import { tokenRulesOf } from '../serve/token-rules.ts';
import { DocumentCheck, documentRolesOf, openTrustedDocuments } from '../serve/trusted-documents.ts';
import { type DatabaseSocket, openDatabaseSocket } from './database-socket.ts';
import { DevelopmentBackend } from './development-backend.ts';
import { AccessNotes, chooseSampleQuery, type DirectiveNotes, readDirectiveNotes, readExampleOperations } from './development-notes.ts';
import type { EmbeddedDatabase } from './embedded-database.ts';

/** Resolves once it has been stopped. The database stays open. Throws `SilentExitError` after a fault that ended it. */
export async function serveEmbedded(
  configuration: DevelopmentConfiguration,
  database: EmbeddedDatabase,
  environment: Environment,
): Promise<void> {
  const telemetry = openTelemetry(configuration, environment);
  const end = watchForEnd(telemetry.observe);
  boundEnd(end, configuration);
  const opened: { close(): Promise<void> }[] = [];
  try {
    process.stdout.write(await open(configuration, database, telemetry, opened));
    await end.begun;
  } finally {
    // The socket closes before the server: otherwise a transaction that psql left open would keep requests in flight waiting.
    for (const each of opened.reverse()) await each.close();
    await telemetry.stop(lastExportMilliseconds);
  }
  if (end.hasFaults()) throw new SilentExitError(1);
}

/** Opens everything, and records it in `opened`. Its messages are for the user. */
async function open(
  configuration: DevelopmentConfiguration,
  { pglite, jwtSecret, content, isExample }: EmbeddedDatabase,
  telemetry: Telemetry,
  opened: { close(): Promise<void> }[],
): Promise<string> {
  const { schemas, anonRole, dbPort, graphiql, basePath = '' } = configuration;
  const access = new AccessNotes(pglite, configuration);
  const check = new DocumentCheck();
  const observe = reportChanges(access, (event) => {
    telemetry.observe(event);
    check.notice(event);
  });
  const graph = await createRowgraph({ ...graphOptionsOf(configuration), database: pglite, schemaTriggers: true, observe });
  opened.push(graph);
  const documents = await openTrustedDocuments(configuration, observe);
  opened.push({ close: async () => closeDocuments(documents, check) });
  const [anonKey, serviceKey] = await Promise.all([signKey(jwtSecret, anonRole), signKey(jwtSecret, 'service_role')]);
  const tokens = await tokenRulesOf(configuration, telemetry.observe);
  const page = await choosePage(configuration, { pglite, graph, jwtSecret, anonKey });
  const server = await startService({ configuration, jwtSecret, tokens, page, graph, telemetry, documents });
  opened.push(server);
  if (documents !== null) check.begin({ documents, graph, roles: documentRolesOf(configuration), report: telemetry.observe });
  const socket = await openSocket(pglite, dbPort);
  opened.push(socket);
  const sampleQuery = await chooseSampleQuery(graph, anonRole);
  const directives = await readDirectiveNotes(pglite, schemas);
  const hints = [...(await access.describe(graph)), ...(isExample ? [] : await access.describeOpen())];
  const shown = { url: `${server.url}${basePath}`, databaseUrl: socket.url, graphiql, sampleQuery, content, hints, directives };
  return describeDevelopment({ ...shown, jwtSecret, anonRole, anonKey, serviceKey }, paintFor(process.stdout));
}

/** If other machines can reach the server, the page has no backend, because that lets its user act as anybody. */
async function choosePage(
  { host, anonRole }: DevelopmentConfiguration,
  { pglite, graph, jwtSecret, anonKey }: { pglite: PGlite; graph: Rowgraph; jwtSecret: string; anonKey: string },
): Promise<PageOptions> {
  const operations = await readExampleOperations(graph, [anonRole, 'authenticated']);
  if (!isLoopbackHost(host)) return { anonKey, operations };
  return { anonKey, operations, backend: new DevelopmentBackend({ pglite, graph, jwtSecret, anonRole }) };
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

async function openSocket(pglite: PGlite, port: number): Promise<DatabaseSocket> {
  try {
    return await openDatabaseSocket(pglite, port);
  } catch (error) {
    throw explainListenError(error, '127.0.0.1', port, '--db-port');
  }
}

interface Development {
  /** The server's URL, with its base path. */
  readonly url: string;
  readonly databaseUrl: string;
  readonly graphiql: boolean;
  readonly jwtSecret: string;
  readonly anonRole: string;
  readonly anonKey: string;
  readonly serviceKey: string;
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
    ['DB URL', paint('cyan', databaseUrl)],
    ['JWT secret', jwtSecret],
    [`${anonRole} key`, anonKey],
    ['service_role key', serviceKey],
  ] as const;
  return `
${paint('bold', `rowgraph serves ${content}`)}

${alignRows(addresses)}

The service_role key bypasses row level security: keep it out of browsers and apps.

${hints.length > 0 ? `${hints.map((line) => paint('yellow', line)).join('\n')}\n\n` : ''}${describeDirectives(directives, paint)}

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
