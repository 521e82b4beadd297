/** `rowgraph cost`: prints what the operations of a document count against each limit. */
import { Command } from 'commander';
import { limitNames, limitSettingOf, resolveLimits } from '../../budget/limits.ts';
import type { GraphQLRequest, RequestCost } from '../../index.ts';
import { CommandError } from '../command-error.ts';
import type { CommandSettings, Environment } from '../config.ts';
import { limitOptionsOf, modelOptionsOf, modelSettingNames } from '../graph-options.ts';
import { describeCost } from '../output/describe-explanation.ts';
import { addSettings, readSettings } from '../read-settings.ts';
import { parseJsonObject, readDocument } from './request-options.ts';

const names = [
  'databaseUrl',
  'schemas',
  'anonRole',
  ...modelSettingNames,
  'coercion',
  'limits',
  ...limitNames.map(limitSettingOf),
  'unlimitedRoles',
] as const;
const costSettings: CommandSettings<(typeof names)[number], never> = { names, required: [], defaults: {} };
type CostConfiguration = ReturnType<typeof readSettings<(typeof names)[number], never>>;

interface Flags extends Readonly<Record<string, string | undefined>> {
  readonly role?: string;
  readonly variables?: string;
  readonly operation?: string;
}

export function costCommand(environment: Environment): Command {
  const command = new Command('cost')
    .description('Print the cost of each operation in a document against the limits; exits with 1 if one exceeds a limit')
    .argument('<FILE>', 'GraphQL document; - reads standard input')
    .option('--variables <JSON>', 'Variables as JSON; page sizes and list lengths change the cost')
    .option('--operation <NAME>', 'Only this operation')
    .option('--role <ROLE>', 'Database role (default: that of --anon-role)')
    .option('--json', 'Print JSON');
  return addSettings(command, costSettings).action(async (file: string, { json, ...flags }: Flags & { readonly json?: boolean }) => {
    const configuration = readSettings(costSettings, flags, environment);
    const role = flags.role ?? configuration.anonRole;
    const request = {
      query: readDocument(file),
      variables: parseJsonObject('--variables', flags.variables, '{"first": 10}'),
      operationName: flags.operation,
    };
    const cost = await readCost(request, role, configuration, flags.role === undefined ? '--anon-role' : '--role');
    if (cost.operations.length === 0) throw new CommandError(`${file} contains no such operation`, 2);
    process.stdout.write(json ? `${JSON.stringify(cost, null, 2)}\n` : describeCost(cost));
    const over = cost.operations.filter(({ exceeded }) => exceeded.length > 0).length;
    if (over > 0) throw new CommandError(`${over} of ${cost.operations.length} operations would be rejected`, 1);
  });
}

/** Without a database, only the counts of the text. */
async function readCost(request: GraphQLRequest, role: string, configuration: CostConfiguration, roleFlag: string): Promise<RequestCost> {
  const { databaseUrl, schemas, coercion } = configuration;
  const options = { coercion, ...limitOptionsOf(configuration) };
  try {
    if (databaseUrl === undefined) {
      const { costOfText } = await import('../../engine/request-cost.ts');
      return costOfText(request, resolveLimits(options.roleLimits[role] ?? options.limits));
    }
    const [{ createRowgraph }, { checkDatabase }] = await Promise.all([import('../../index.ts'), import('../check-database.ts')]);
    await checkDatabase({ databaseUrl, schemas, role, roleFlag });
    const graph = await createRowgraph({ database: databaseUrl, schemas, poolSize: 1, ...modelOptionsOf(configuration), ...options });
    try {
      return await graph.cost(request, { role });
    } finally {
      await graph.close();
    }
  } catch (error) {
    if ((error as { code?: unknown }).code === 'GRAPHQL_PARSE_FAILED') throw new CommandError((error as Error).message, 2, error);
    throw error;
  }
}
