/** Serves a PostgreSQL server until it is told to stop, alone or as one of the workers of `supervise-workers.ts`. */
import cluster from 'node:cluster';
import { pino } from 'pino';
import { createTelemetry } from '../http/create-telemetry.ts';
import { createRowgraph } from '../index.ts';
import { checkDatabase } from './check-database.ts';
import type { ServeConfiguration } from './command-settings.ts';
import { cacheSizesOf, startService } from './start-service.ts';
import { waitForStopSignal } from './stop-signal.ts';

/** Resolves when it was told to stop and the requests in flight are answered. */
export async function servePostgres(configuration: ServeConfiguration): Promise<void> {
  const { databaseUrl, schemas, anonRole, poolSize, prepare, introspection, jwtSecret, logLevel } = configuration;
  const caches = cacheSizesOf(configuration);
  await checkDatabase({ databaseUrl, schemas, role: anonRole, roleFlag: '--anon-role' });
  const telemetry = createTelemetry({ level: logLevel, destination: pino.destination(2) });
  const { observe } = telemetry;
  const graph = await createRowgraph({ database: databaseUrl, schemas, poolSize, prepare, introspection, caches, observe });
  try {
    const server = await startService({ configuration, jwtSecret, anonKey: null, graph, telemetry });
    const stopped = waitForStopSignal();
    const url = `${server.url}${configuration.basePath ?? ''}/graphql/v1`;
    if (cluster.worker) cluster.worker.send(url);
    else process.stdout.write(`rowgraph serves ${url}\n`);
    await stopped;
    await server.close();
  } finally {
    await graph.close();
  }
}
