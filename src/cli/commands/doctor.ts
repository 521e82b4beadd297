/** `rowgraph doctor`: reports what is missing from the API of a role, and what is dangerous. */
import { Command } from 'commander';
import { CommandError } from '../command-error.ts';
import type { CommandSettings, Environment } from '../config.ts';
import { modelOptionsOf, modelSettingNames } from '../graph-options.ts';
import { describeReport } from '../output/describe-report.ts';
import { paintFor } from '../output/terminal.ts';
import { addSettings, readSettings } from '../read-settings.ts';

const names = ['databaseUrl', 'schemas', 'extraSearchPath', 'anonRole', 'requestSettings', 'requestHeaders', ...modelSettingNames] as const;
type Name = (typeof names)[number];
const doctorSettings: CommandSettings<Name, 'databaseUrl'> = {
  names,
  required: ['databaseUrl'],
  defaults: {},
};

interface Flags extends Readonly<Record<string, string | undefined>> {
  readonly role?: string;
}

export function doctorCommand(environment: Environment): Command {
  const command = new Command('doctor')
    .description(
      'Report what is missing from the API of a role and why, what is dangerous, and what is slow; exits with 1 if there are errors',
    )
    .option('--role <ROLE>', 'Database role (default: that of --anon-role)')
    .option('--json', 'Print JSON');
  return addSettings(command, doctorSettings).action(async ({ json, ...flags }: Flags & { readonly json?: boolean }) => {
    const configuration = readSettings(doctorSettings, flags, environment);
    const { databaseUrl, schemas, extraSearchPath, anonRole, requestSettings, requestHeaders } = configuration;
    const [{ createRowgraph }, { checkDatabase }] = await Promise.all([import('../../index.ts'), import('../check-database.ts')]);
    const role = flags.role ?? anonRole;
    await checkDatabase({ databaseUrl, schemas, role, roleFlag: flags.role === undefined ? '--anon-role' : '--role' });
    const settings = { schemas, extraSearchPath, requestSettings, requestHeaders };
    const graph = await createRowgraph({ database: databaseUrl, ...settings, poolSize: 1, ...modelOptionsOf(configuration) });
    try {
      const report = await graph.doctor({ role });
      process.stdout.write(json ? `${JSON.stringify(report, null, 2)}\n` : describeReport(report, paintFor(process.stdout)));
      const errors = report.findings.filter(({ severity }) => severity === 'error').length;
      if (errors > 0) throw new CommandError(`the doctor found ${errors} ${errors === 1 ? 'error' : 'errors'}`, 1);
    } finally {
      await graph.close();
    }
  });
}
