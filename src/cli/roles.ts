/** `rowgraph roles`: prints the SQL that creates the database roles. */
import { Command } from 'commander';
import type { CommandSettings, Environment } from '../config.ts';
import { roleStatements } from './role-statements.ts';
import { addSettings, readSettings } from './settings-options.ts';

const rolesSettings = { names: ['schemas', 'anonRole'], required: [], defaults: {} } as const satisfies CommandSettings<
  'schemas' | 'anonRole',
  never
>;

export function rolesCommand(environment: Environment): Command {
  const command = new Command('roles').description('Print the SQL that creates the database roles; it may be run again');
  return addSettings(command, rolesSettings).action((flags) => {
    const { schemas, anonRole } = readSettings(rolesSettings, flags, environment);
    process.stdout.write(roleStatements({ schemas, anonRole }));
  });
}
