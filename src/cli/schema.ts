/** `rowgraph schema`: prints the GraphQL schema that a role sees. */
import { Command } from 'commander';
import type { CommandSettings, Environment } from './config.ts';
import { addSettings, readSettings } from './settings-options.ts';

type Name = 'databaseUrl' | 'schemas' | 'anonRole';
const schemaSettings: CommandSettings<Name, 'databaseUrl'> = {
  names: ['databaseUrl', 'schemas', 'anonRole'],
  required: ['databaseUrl'],
  defaults: {},
};

export function schemaCommand(environment: Environment): Command {
  const command = new Command('schema')
    .description('Print the GraphQL schema that a role sees')
    .option('--role <ROLE>', 'The role (default: that of --anon-role)');
  return addSettings(command, schemaSettings).action(async (flags: Readonly<Record<string, string | undefined>>) => {
    const { databaseUrl, schemas, anonRole } = readSettings(schemaSettings, flags, environment);
    const [{ createRowgraph }, { checkDatabase }] = await Promise.all([import('../index.ts'), import('./check-database.ts')]);
    const role = flags.role ?? anonRole;
    await checkDatabase({ databaseUrl, schemas, role, roleFlag: flags.role === undefined ? '--anon-role' : '--role' });
    const graph = await createRowgraph({ database: databaseUrl, schemas, poolSize: 1 });
    try {
      process.stdout.write(`${await graph.sdl({ role })}\n`);
    } finally {
      await graph.close();
    }
  });
}
