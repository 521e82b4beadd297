/** `rowgraph dev`: serves an embedded PostgreSQL with the example, or with the user's SQL, until it is stopped. */
import { Command } from 'commander';
import { developmentSettings } from './command-settings.ts';
import type { Environment } from './config.ts';
import { checkPackages } from './embedded/check-packages.ts';
import { Progress } from './progress.ts';
import { addSettings, readSettings } from './settings-options.ts';

export function devCommand(environment: Environment): Command {
  const command = new Command('dev')
    .description('Serve an embedded PostgreSQL with an example schema or your own SQL')
    .option('--sql <FILE...>', 'SQL files to load instead of the example, in this order');
  return addSettings(command, developmentSettings).action(async ({ sql, ...flags }: { readonly sql?: string[] }) => {
    const configuration = readSettings(developmentSettings, flags, environment);
    checkPackages();
    const progress = new Progress((line) => process.stderr.write(`${line}\n`));
    const { openEmbeddedDatabase } = await import('./embedded/embedded-database.ts');
    const opening = openEmbeddedDatabase({ ...configuration, environment, sqlFiles: sql ?? null, progress });
    // PostgreSQL is compiled on other threads, so this one has time to load the modules.
    const [database, { serveEmbedded }] = await Promise.all([opening, import('./serve-embedded.ts')]);
    try {
      await serveEmbedded(configuration, database, environment);
    } finally {
      await database.close();
    }
  });
}
