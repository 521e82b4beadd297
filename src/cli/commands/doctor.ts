/** `rowgraph doctor`: reports what is missing from the API of a role, and what is dangerous. */
import { Command } from 'commander';
import { CommandError } from '../command-error.ts';
import { inspectSettings } from '../command-settings.ts';
import { addSettings, type Environment, readSettings } from '../config.ts';
import { describeReport } from '../output/describe-report.ts';
import { paintFor } from '../output/terminal.ts';
import { addRole, type Flags, printReport, withGraph } from './with-graph.ts';

export function doctorCommand(environment: Environment): Command {
  const command = new Command('doctor').description(
    'Report what is missing from the API of a role and why, what is dangerous, and what is slow; exits with 1 if there are errors',
  );
  addRole(command).option('--json', 'Print JSON');
  return addSettings(command, inspectSettings).action(async ({ json, ...flags }: Flags & { readonly json?: boolean }) => {
    const configuration = readSettings(inspectSettings, flags, environment);
    await withGraph(configuration, flags, async (graph, role) => {
      const report = await graph.doctor({ role });
      printReport(report, json, (each) => describeReport(each, paintFor(process.stdout)));
      const errors = report.findings.filter(({ severity }) => severity === 'error').length;
      if (errors > 0) throw new CommandError(`the doctor found ${errors} ${errors === 1 ? 'error' : 'errors'}`, 1);
    });
  });
}
