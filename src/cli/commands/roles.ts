/** `rowgraph roles`: prints the SQL that creates the database roles. */
import { randomBytes } from 'node:crypto';
import { Command, Option } from 'commander';
import { addSettings, type CommandSettings, type Environment, readSettings } from '../config.ts';
import { type Grants, grantChoices, roleStatements } from './role-statements.ts';
import { choiceParser } from './with-graph.ts';

const rolesSettings = { names: ['schemas', 'anonRole'], required: [], defaults: {} } as const satisfies CommandSettings<
  'schemas' | 'anonRole',
  never
>;

const passwordBytes = 24;

interface Flags extends Readonly<Record<string, string | undefined>> {
  readonly grants: Grants;
}

export function rolesCommand(environment: Environment): Command {
  const command = new Command('roles')
    .description('Print the SQL that creates the database roles; it is safe to run again')
    .addOption(
      new Option(
        '--grants <GRANTS>',
        'What the anonymous role and "authenticated" may do with tables; row level security restricts the rows',
      )
        .choices(grantChoices)
        .argParser(choiceParser('--grants', grantChoices))
        .default('none'),
    );
  return addSettings(command, rolesSettings).action(({ grants, ...flags }: Flags) => {
    const { schemas, anonRole } = readSettings(rolesSettings, flags, environment);
    process.stdout.write(roleStatements({ schemas, anonRole, grants, password: randomBytes(passwordBytes).toString('base64url') }));
  });
}
