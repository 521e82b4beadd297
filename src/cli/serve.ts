/** `rowgraph serve`: serves an existing PostgreSQL until it is told to stop. */
import { Command } from 'commander';
import type { Environment } from '../config.ts';
import { serveSettings } from './command-settings.ts';
import { addSettings, readSettings } from './settings-options.ts';

export function serveCommand(environment: Environment): Command {
  const command = new Command('serve').description('Serve an existing PostgreSQL, version 14 to 18');
  return addSettings(command, serveSettings).action(async (flags) => {
    const configuration = readSettings(serveSettings, flags, environment);
    const { servePostgres } = await import('./serve-postgres.ts');
    await servePostgres(configuration);
  });
}
