/** Serves the embedded database of `rowgraph dev`, and tells the user where and how, until it is told to stop. */
import type { PGlite } from '@electric-sql/pglite';
import { pino } from 'pino';
import { createTelemetry } from '../http/create-telemetry.ts';
import { signKey } from '../http/sign-key.ts';
import { createRowgraph } from '../index.ts';
import type { DevelopmentConfiguration } from './command-settings.ts';
import { describeDevelopment } from './describe-development.ts';
import { type DatabaseSocket, openDatabaseSocket } from './embedded/database-socket.ts';
import type { EmbeddedDatabase } from './embedded/embedded-database.ts';
import { chooseSampleQuery } from './embedded/sample-query.ts';
import { cacheSizesOf, explainListenError, startService } from './start-service.ts';
import { waitForStopSignal } from './stop-signal.ts';

/** Resolves when it was told to stop and has stopped. The database stays open. */
export async function serveEmbedded(configuration: DevelopmentConfiguration, database: EmbeddedDatabase): Promise<void> {
  const opened: { close(): Promise<void> }[] = [];
  try {
    const announcement = await open(configuration, database, opened);
    const stopped = waitForStopSignal();
    process.stdout.write(announcement);
    await stopped;
  } finally {
    // The socket before the server: a transaction that psql has open would keep the requests in flight waiting.
    for (const each of opened.reverse()) await each.close();
  }
}

/** Opens all there is to open, and notes it in `opened`. What is said of it goes to the user. */
async function open(
  configuration: DevelopmentConfiguration,
  { pglite, jwtSecret, content }: EmbeddedDatabase,
  opened: { close(): Promise<void> }[],
): Promise<string> {
  const { schemas, introspection, anonRole, logLevel, dbPort, graphiql, basePath = '' } = configuration;
  const telemetry = createTelemetry({ level: logLevel, destination: pino.destination(2) });
  const caches = cacheSizesOf(configuration);
  const { observe } = telemetry;
  const graph = await createRowgraph({ database: pglite, schemas, introspection, caches, schemaTriggers: true, observe });
  opened.push(graph);
  const [anonKey, serviceKey] = await Promise.all([signKey(jwtSecret, anonRole), signKey(jwtSecret, 'service_role')]);
  const server = await startService({ configuration, jwtSecret, anonKey, graph, telemetry });
  opened.push(server);
  const socket = await openSocket(pglite, dbPort);
  opened.push(socket);
  const sampleQuery = await chooseSampleQuery(graph, anonRole);
  const [url, databaseUrl] = [`${server.url}${basePath}`, socket.url];
  return describeDevelopment({ url, databaseUrl, graphiql, jwtSecret, anonRole, anonKey, serviceKey, sampleQuery, content });
}

async function openSocket(pglite: PGlite, port: number): Promise<DatabaseSocket> {
  try {
    return await openDatabaseSocket(pglite, port);
  } catch (error) {
    throw explainListenError(error, '127.0.0.1', port, '--db-port');
  }
}
