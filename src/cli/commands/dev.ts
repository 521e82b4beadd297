/** `rowgraph dev`: serves an embedded PostgreSQL with the example or the user's SQL, or the user's own database, until it is stopped. */
import { Command } from 'commander';
import { isLoopbackHost } from '../../http/routes/page-actions.ts';
import { CommandError } from '../command-error.ts';
import { type DevelopmentConfiguration, developmentSettings } from '../command-settings.ts';
import { addSettings, type Environment, readSettings } from '../config.ts';
import { Progress } from '../output/terminal.ts';
import { checkPackages, embeddedPackages } from '../package-file.ts';

/** Flags of the embedded database. */
interface Flags extends Readonly<Record<string, string | string[] | true | undefined>> {
  readonly sql?: string[];
  readonly watch?: true;
  readonly dataDir?: string;
  readonly dbPort?: string;
}

export function devCommand(environment: Environment): Command {
  const command = new Command('dev')
    .description('Serve an embedded PostgreSQL with an example schema or your own SQL, or with --database-url your own database')
    .option('--sql <FILE...>', 'SQL files to load instead of the example, in this order')
    .option('--watch', 'Load the files of --sql again, into a new embedded database, whenever they change');
  return addSettings(command, developmentSettings).action(async (flags: Flags) => {
    const { sql, watch, ...others } = flags;
    const configuration = readSettings(developmentSettings, others as Readonly<Record<string, string | true | undefined>>, environment);
    checkFlags(flags, configuration);
    const { databaseUrl } = configuration;
    await (databaseUrl === undefined
      ? serveEmbedded(configuration, sql ?? null, watch ?? false, environment)
      : serveOwn(configuration, databaseUrl, environment));
  });
}

function checkFlags({ sql, watch, dataDir, dbPort }: Flags, configuration: DevelopmentConfiguration): void {
  const { databaseUrl, host, dataDir: folder, operations, graphiql } = configuration;
  if (operations !== undefined && !graphiql) throw new CommandError('--operations is for the page: omit --graphiql off', 2);
  if (operations !== undefined && !isLoopbackHost(host)) {
    const reason = 'whoever reaches it could write files';
    throw new CommandError(`--host ${host}: with --operations, dev listens on this machine alone (127.0.0.1, ::1), as ${reason}`, 2);
  }
  if (databaseUrl !== undefined) {
    const embedded = Object.entries({ '--sql': sql, '--watch': watch, '--data-dir': dataDir, '--db-port': dbPort });
    const flags = embedded.filter(([, value]) => value !== undefined).map(([flag]) => flag);
    if (flags.length > 0)
      throw new CommandError(`--database-url serves your own database, so ${flags.join(', ')} of the embedded one cannot be given`, 2);
    if (!isLoopbackHost(host)) {
      const reason = 'whoever reaches it can act as anybody';
      throw new CommandError(`--host ${host}: with --database-url, dev listens on this machine alone (127.0.0.1, ::1), as ${reason}`, 2);
    }
  }
  if (!watch) return;
  if (sql === undefined) throw new CommandError('--watch requires --sql', 2);
  if (folder !== undefined) throw new CommandError('--watch loads the files into a new database each time: omit --data-dir', 2);
}

async function serveEmbedded(
  configuration: DevelopmentConfiguration,
  sqlFiles: readonly string[] | null,
  watch: boolean,
  environment: Environment,
): Promise<void> {
  checkPackages(embeddedPackages);
  const progress = new Progress((line) => process.stderr.write(`${line}\n`));
  const { openEmbeddedDatabase, readSqlFiles } = await import('../dev/embedded-database.ts');
  const open = () => openEmbeddedDatabase({ ...configuration, environment, sqlFiles, progress });
  // PostgreSQL is compiled on other threads, so this one has time to load the modules.
  const [database, { serveDevelopment }] = await Promise.all([open(), import('../dev/serve-development.ts')]);
  const reload = watch && sqlFiles !== null ? { names: sqlFiles, read: () => readSqlFiles(sqlFiles), open } : null;
  await serveDevelopment(configuration, { database, reload }, environment);
}

async function serveOwn(configuration: DevelopmentConfiguration, databaseUrl: string, environment: Environment): Promise<void> {
  const { openOwnDatabase } = await import('../dev/development-database.ts');
  const opening = openOwnDatabase(databaseUrl, configuration, environment);
  const [database, { serveDevelopment }] = await Promise.all([opening, import('../dev/serve-development.ts')]);
  await serveDevelopment(configuration, { database, reload: null }, environment);
}
