/** `rowgraph explain`: prints what a request becomes, how PostgreSQL runs it, and what would make it faster. */
import { Command } from 'commander';
import { ApiError } from '../../errors/api-error.ts';
import { CommandError } from '../command-error.ts';
import { inspectSettings } from '../command-settings.ts';
import { addSettings, type Environment, readSettings } from '../config.ts';
import { describeExplanation } from '../output/describe-explanation.ts';
import { paintFor } from '../output/terminal.ts';
import { addClaims, addRole, callerOf, type Flags, parseJsonObject, printReport, readDocument, withGraph } from './with-graph.ts';

export function explainCommand(environment: Environment): Command {
  const command = new Command('explain')
    .description('Print the cost, plan and SQL of an operation, how PostgreSQL runs it, and what would make it faster')
    .argument('<FILE>', 'GraphQL document; - reads standard input')
    .option('--analyze', 'Run the operation in a transaction that is rolled back, and print actual times and rows')
    .option('--variables <JSON>', 'Variables as JSON')
    .option('--operation <NAME>', 'Which operation, if the document has several');
  addClaims(addRole(command)).option('--json', 'Print JSON');
  type Switches = { readonly analyze?: boolean; readonly json?: boolean };
  return addSettings(command, inspectSettings).action(async (file: string, { analyze, json, ...flags }: Flags & Switches) => {
    const configuration = readSettings(inspectSettings, flags, environment);
    const caller = callerOf(flags, configuration);
    const variables = parseJsonObject('--variables', flags.variables, '{"first": 10}');
    const request = { query: readDocument(file), variables, operationName: flags.operation };
    await withGraph(configuration, flags, async (graph) => {
      try {
        const explanation = await graph.explain(request, caller, { mode: analyze ? 'analyze' : 'plan' });
        printReport(explanation, json, (each) => describeExplanation(each, paintFor(process.stdout)));
      } catch (error) {
        throw toCommandError(error);
      }
    });
  });
}

/** An error in the request becomes one line; a bug is thrown as it is. */
function toCommandError(error: unknown): unknown {
  const { errors } = error as { readonly errors?: readonly ApiError[] };
  const first = error instanceof ApiError ? error : errors?.[0];
  return first instanceof ApiError && first.code !== 'INTERNAL_ERROR' ? new CommandError(first.message, 1, error) : error;
}
