/** `rowgraph cost`: prints what the operations of a document count against each limit. */
import { Command } from 'commander';
import { resolveLimits } from '../../budget/limits.ts';
import type { GraphQLRequest, RequestCost } from '../../index.ts';
import { CommandError } from '../command-error.ts';
import { type InspectConfiguration, inspectSettings } from '../command-settings.ts';
import { addSettings, type Environment, readSettings } from '../config.ts';
import { limitOptionsOf } from '../graph-options.ts';
import { describeCost } from '../output/describe-explanation.ts';
import { addRole, type Flags, parseJsonObject, printReport, readDocument, withGraph } from './with-graph.ts';

/** Without a database, only the text of the document is counted. */
const costSettings = { ...inspectSettings, required: [] };

export function costCommand(environment: Environment): Command {
  const command = new Command('cost')
    .description('Print the cost of each operation in a document against the limits; exits with 1 if one exceeds a limit')
    .argument('<FILE>', 'GraphQL document; - reads standard input')
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
    if ((error as { code?: unknown }).code === 'GRAPHQL_PARSE_FAILED') throw new CommandError((error as Error).message, 2, error);
    throw error;
  }
}
