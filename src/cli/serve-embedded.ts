/** Serves the embedded database of `rowgraph dev`, and tells the user where and how, until it is told to stop. */
import { pino } from 'pino';
import { createTelemetry } from '../http/create-telemetry.ts';
import { signKey } from '../http/sign-key.ts';
import { createRowgraph } from '../index.ts';
import type { DevelopmentConfiguration } from './command-settings.ts';
import { describeDevelopment } from './describe-development.ts';
import { type DatabaseSocket, openDatabaseSocket } from './embedded/database-socket.ts';
import type { EmbeddedDatabase } from './embedded/embedded-database.ts';
import { chooseSampleQuery } from './embedded/sample-query.ts';
import { explainListenError, startService } from './start-service.ts';
import { waitForStopSignal } from './stop-signal.ts';

/** Resolves when it was told to stop and has stopped. The database stays open. */
export async function serveEmbedded(configuration: DevelopmentConfiguration, database: EmbeddedDatabase): Promise<void> {
  const { schemas, introspection, anonRole, logLevel, basePath = '' } = configuration;
  const { pglite, jwtSecret } = database;
  const telemetry = createTelemetry({ level: logLevel, destination: pino.destination(2) });
  const graph = await createRowgraph({ database: pglite, schemas, introspection, observe: telemetry.observe });
  const [anonKey, serviceKey] = await Promise.all([signKey(jwtSecret, anonRole), signKey(jwtSecret, 'service_role')]);
  const server = await startService({ configuration, jwtSecret, anonKey, graph, telemetry });
  const socket = await openSocket(database, configuration.dbPort);
  const sampleQuery = await chooseSampleQuery(graph, anonRole);
  const stopped = waitForStopSignal();
  process.stdout.write(
    describeDevelopment({
      url: `${server.url}${basePath}`,
      databaseUrl: socket.url,
      graphiql: configuration.graphiql,
      jwtSecret,
      anonRole,
      anonKey,
      serviceKey,
      sampleQuery,
      content: database.content,
    }),
  );
  await stopped;
  await server.close();
  await socket.close();
  await graph.close();
}

async function openSocket({ pglite }: EmbeddedDatabase, port: number): Promise<DatabaseSocket> {
  try {
    return await openDatabaseSocket(pglite, port);
  } catch (error) {
    throw explainListenError(error, '127.0.0.1', port, '--db-port');
  }
}
