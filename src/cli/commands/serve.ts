/** `rowgraph serve`: serves an existing PostgreSQL until it is stopped. */
import cluster from 'node:cluster';
import { Command } from 'commander';
import { serveSettings } from '../command-settings.ts';
import { addSettings, type Environment, readSettings } from '../config.ts';
import { leave } from '../serve/process-end.ts';

export function serveCommand(environment: Environment): Command {
  const command = new Command('serve').description('Serve an existing PostgreSQL database, version 14 to 18');
  return addSettings(command, serveSettings).action(async (flags) => {
    const configuration = readSettings(serveSettings, flags, environment);
    if (configuration.workers > 1 && cluster.isPrimary) {
      const { superviseWorkers } = await import('../serve/supervise-workers.ts');
      return superviseWorkers(configuration);
    }
    const { servePostgres } = await import('../serve/serve-postgres.ts');
    try {
      await servePostgres(configuration, environment);
    } finally {
      // The channel to the primary would keep a worker running.
      cluster.worker?.disconnect();
      leave();
    }
  });
}
