/** `rowgraph schema`: prints the GraphQL schema that a role sees, or keeps a file of it up to date. */
import { Command } from 'commander';
import type { Observer } from '../events.ts';
import { CommandError } from './command-error.ts';
import type { CommandSettings, Environment } from './config.ts';
import { modelOptionsOf, modelSettingNames } from './model-options.ts';
import { SchemaFile } from './schema-file.ts';
import { addSettings, readSettings } from './settings-options.ts';

const names = ['databaseUrl', 'schemas', 'anonRole', ...modelSettingNames] as const;
type Name = (typeof names)[number];
const schemaSettings: CommandSettings<Name, 'databaseUrl'> = {
  names,
  required: ['databaseUrl'],
  defaults: {},
};

interface Flags extends Readonly<Record<string, string | undefined>> {
  readonly role?: string;
  readonly out?: string;
}

export function schemaCommand(environment: Environment): Command {
  const command = new Command('schema')
    .description('Print the GraphQL schema that a role sees')
    .option('--role <ROLE>', 'Database role (default: that of --anon-role)')
    .option('--out <FILE>', 'Write the schema to this file, for editors and code generators')
    .option('--watch', 'Keep running, and rewrite the file whenever the schema changes');
  return addSettings(command, schemaSettings).action(async ({ watch = false, ...flags }: Flags & { readonly watch?: boolean }) => {
    const configuration = readSettings(schemaSettings, flags, environment);
    const { databaseUrl, schemas, anonRole } = configuration;
    if (watch && flags.out === undefined) throw new CommandError('--watch needs --out: the file to keep up to date', 2);
    const [{ createRowgraph }, { checkDatabase }] = await Promise.all([import('../index.ts'), import('./check-database.ts')]);
    const role = flags.role ?? anonRole;
    await checkDatabase({ databaseUrl, schemas, role, roleFlag: flags.role === undefined ? '--anon-role' : '--role' });
    let onLoad: (() => void) | null = null;
    const observe: Observer = ({ kind }) => (kind === 'schema-loaded' ? onLoad?.() : undefined);
    const graph = await createRowgraph({ database: databaseUrl, schemas, poolSize: 1, ...modelOptionsOf(configuration), observe });
    // Neither the wait for a signal nor the watch keeps the process alive: it would end when the database closes its connections.
    const staysAlive = watch ? setInterval(() => undefined, 2 ** 30) : undefined;
    try {
      const read = () => graph.sdl({ role });
      if (flags.out === undefined) {
        process.stdout.write(`${await read()}\n`);
        return;
      }
      const file = new SchemaFile(flags.out, read);
      const end = watch ? nextSignal() : null;
      // What was loaded takes effect only after this turn of the event loop.
      onLoad = () => void setImmediate(() => void file.update().catch(report));
      await file.update();
      await end;
    } finally {
      clearInterval(staysAlive);
      onLoad = null;
      await graph.close();
    }
  });
}

/** Resolves at Ctrl-C or SIGTERM. */
function nextSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
}

/** The file stays as it is; the next change is another chance. */
function report(error: unknown): void {
  process.stderr.write(`rowgraph: ${(error as Error).message}\n`);
}
