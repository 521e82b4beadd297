/** The commands that look at an API from outside: `explain` and `cost` at an operation, `doctor` and `access` at the whole. */
import { Command } from 'commander';
import { resolveLimits } from '../../budget/limits.ts';
import { ApiError } from '../../errors/api-error.ts';
import type { GraphQLRequest, RequestCost } from '../../index.ts';
import type { NameIn } from '../../settings/settings.ts';
import { CommandError } from '../command-error.ts';
import { type InspectConfiguration, inspectSettings, limitOptionsOf } from '../command-settings.ts';
import { addSettings, type CommandSettings, type Environment, readSettings } from '../config.ts';
import { describeAccess } from '../output/describe-access.ts';
import { describeCost, describeExplanation } from '../output/describe-explanation.ts';
import { describeReport } from '../output/describe-report.ts';
import { paintFor } from '../output/terminal.ts';
import { addClaims, addRole, callerOf, type Flags, parseJsonObject, printReport, readDocument, withGraph } from './with-graph.ts';

export function explainCommand(environment: Environment): Command {
  const command = new Command('explain')
    .description('Print the cost, plan and SQL of an operation, how PostgreSQL runs it, and what would make it faster')
    .argument('<FILE>', 'File with the GraphQL document, or the document itself, such as "{ … }"; - reads standard input')
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
  return first instanceof ApiError && first.code !== 'INTERNAL_ERROR' ? new CommandError(describePlaced(first), 1, error) : error;
}

function describePlaced({ message, locations }: ApiError): string {
  const place = locations?.[0];
  return place === undefined ? message : `line ${place.line}, column ${place.column}: ${message}`;
}

/** Without a database, only the text of the document is counted. */
const costSettings = { ...inspectSettings, required: [] };

export function costCommand(environment: Environment): Command {
  const command = new Command('cost')
    .description('Print the cost of each operation in a document against the limits; exits with 1 if one exceeds a limit')
    .argument('<FILE>', 'File with the GraphQL document, or the document itself, such as "{ … }"; - reads standard input')
    .option('--variables <JSON>', 'Variables as JSON; page sizes and list lengths change the cost')
    .option('--operation <NAME>', 'Only this operation');
  addRole(command).option('--json', 'Print JSON');
  return addSettings(command, costSettings).action(async (file: string, { json, ...flags }: Flags & { readonly json?: boolean }) => {
    const configuration = readSettings(costSettings, flags, environment);
    const request = {
      query: readDocument(file),
      variables: parseJsonObject('--variables', flags.variables, '{"first": 10}'),
      operationName: flags.operation,
    };
    const cost = await readCost(request, flags, configuration);
    if (cost.operations.length === 0) throw new CommandError(`${file} contains no such operation`, 2);
    printReport(cost, json, describeCost);
    const over = cost.operations.filter(({ exceeded }) => exceeded.length > 0).length;
    if (over > 0) throw new CommandError(`${over} of ${cost.operations.length} operations would be rejected`, 1);
  });
}

async function readCost(request: GraphQLRequest, flags: Flags, configuration: InspectConfiguration): Promise<RequestCost> {
  const { databaseUrl, anonRole } = configuration;
  try {
    if (databaseUrl !== undefined)
      return await withGraph({ ...configuration, databaseUrl }, flags, (graph, role) => graph.cost(request, { role }));
    const { costOfText } = await import('../../engine/request-cost.ts');
    const { limits, roleLimits } = limitOptionsOf(configuration);
    return costOfText(request, resolveLimits(roleLimits[flags.role ?? anonRole] ?? limits));
  } catch (error) {
    if (error instanceof ApiError && error.code === 'GRAPHQL_PARSE_FAILED') throw new CommandError(describePlaced(error), 2, error);
    throw error;
  }
}

const doctorSettings: CommandSettings<NameIn<'inspect'> | 'replicaUrl' | 'maxReplicaLag', 'databaseUrl'> = {
  ...inspectSettings,
  names: [...inspectSettings.names, 'replicaUrl', 'maxReplicaLag'],
};

export function doctorCommand(environment: Environment): Command {
  const command = new Command('doctor').description(
    'Report what is missing from the API of a role and why, what is dangerous, and what is slow; exits with 1 if there are errors',
  );
  addRole(command).option('--json', 'Print JSON');
  return addSettings(command, doctorSettings).action(async ({ json, ...flags }: Flags & { readonly json?: boolean }) => {
    const configuration = readSettings(doctorSettings, flags, environment);
    await withGraph(configuration, flags, async (graph, role) => {
      const report = await graph.doctor({ role });
      printReport(report, json, (each) => describeReport(each, paintFor(process.stdout)));
      const errors = report.findings.filter(({ severity }) => severity === 'error').length;
      if (errors > 0) throw new CommandError(`the doctor found ${errors} ${errors === 1 ? 'error' : 'errors'}`, 1);
    });
  });
}

export function accessCommand(environment: Environment): Command {
  const command = new Command('access')
    .description('Print who may do what with which rows, as grants and policies decide it, in plain words; with TABLE, the SQL too')
    .argument('[TABLE]', 'Name of a table or view, with or without its schema')
    .option('--role <ROLE>', 'Only of this database role (default: all roles that a grant or policy names)')
    .option('--json', 'Print JSON');
  type Switches = { readonly json?: boolean };
  return addSettings(command, inspectSettings).action(async (table: string | undefined, { json, ...flags }: Flags & Switches) => {
    const configuration = readSettings(inspectSettings, flags, environment);
    await withGraph(configuration, flags, async (graph) => {
      const { role } = flags;
      const report = await graph.access({ ...(role !== undefined && { roles: [role] }), ...(table !== undefined && { table }) });
      if (report.tables.length === 0 && table !== undefined)
        throw new CommandError(`there is no table "${table}" in the schemas ${configuration.schemas.join(', ')}`, 2);
      printReport(report, json, (each) => describeAccess(each, table !== undefined, paintFor(process.stdout)));
    });
  });
}
