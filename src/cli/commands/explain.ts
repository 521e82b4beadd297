/** `rowgraph explain`: prints what a request becomes, how PostgreSQL runs it, and what would make it faster. */
import { Command } from 'commander';
import { limitNames, limitSettingOf } from '../../budget/limits.ts';
import { ApiError } from '../../errors/api-error.ts';
import type { Caller, GraphQLRequest } from '../../index.ts';
import { CommandError } from '../command-error.ts';
import type { CommandSettings, Environment } from '../config.ts';
import { limitOptionsOf, modelOptionsOf, modelSettingNames } from '../graph-options.ts';
import { describeExplanation } from '../output/describe-explanation.ts';
import { paintFor } from '../output/terminal.ts';
import { addSettings, readSettings } from '../read-settings.ts';
import { parseJsonObject, readDocument } from './request-options.ts';

const names = [
  ...(['databaseUrl', 'schemas', 'extraSearchPath', 'anonRole', 'trustedRoles', 'coercion', 'requestTimeout', 'limits'] as const),
  ...modelSettingNames,
  ...limitNames.map(limitSettingOf),
  'unlimitedRoles',
] as const;
type Name = (typeof names)[number];
/** The settings of commands that explain requests. */
export const explainSettings: CommandSettings<Name, 'databaseUrl'> = { names, required: ['databaseUrl'], defaults: {} };
export type ExplainConfiguration = ReturnType<typeof readSettings<Name, 'databaseUrl'>>;

interface Flags extends Readonly<Record<string, string | undefined>> {
  readonly role?: string;
  readonly claims?: string;
  readonly variables?: string;
  readonly operation?: string;
}

export function explainCommand(environment: Environment): Command {
  const command = new Command('explain')
    .description('Print the cost, plan and SQL of an operation, how PostgreSQL runs it, and what would make it faster')
    .argument('<FILE>', 'GraphQL document; - reads standard input')
    .option('--analyze', 'Run the operation in a transaction that is rolled back, and print actual times and rows')
    .option('--variables <JSON>', 'Variables as JSON')
    .option('--operation <NAME>', 'Which operation, if the document has several')
    .option('--role <ROLE>', 'Database role (default: that of --anon-role)')
    .option('--claims <JSON>', 'Claims of the caller as JSON, such as {"sub": "…"}')
    .option('--json', 'Print JSON');
  type Switches = { readonly analyze?: boolean; readonly json?: boolean };
  return addSettings(command, explainSettings).action(async (file: string, { analyze, json, ...flags }: Flags & Switches) => {
    const configuration = readSettings(explainSettings, flags, environment);
    const caller = callerOf(flags, configuration);
    const variables = parseJsonObject('--variables', flags.variables, '{"first": 10}');
    const request: GraphQLRequest = { query: readDocument(file), variables, operationName: flags.operation };
    const graph = await openGraph(configuration, caller.role, flags.role === undefined ? '--anon-role' : '--role');
    try {
      const explanation = await graph.explain(request, caller, { mode: analyze ? 'analyze' : 'plan' });
      process.stdout.write(json ? `${JSON.stringify(explanation, null, 2)}\n` : describeExplanation(explanation, paintFor(process.stdout)));
    } catch (error) {
      throw toCommandError(error);
    } finally {
      await graph.close();
    }
  });
}

/** The caller in the flags. */
export function callerOf(flags: Pick<Flags, 'role' | 'claims'>, { anonRole }: ExplainConfiguration): Caller {
  return { role: flags.role ?? anonRole, claims: parseJsonObject('--claims', flags.claims, '{"sub": "42"}') };
}

/** A graph for this command only. */
export async function openGraph(configuration: ExplainConfiguration, role: string, roleFlag: string) {
  const [{ createRowgraph }, { checkDatabase }] = await Promise.all([import('../../index.ts'), import('../check-database.ts')]);
  const { databaseUrl, schemas, extraSearchPath, trustedRoles, coercion, requestTimeout: timeout } = configuration;
  await checkDatabase({ databaseUrl, schemas, role, roleFlag });
  const own = { database: databaseUrl, schemas, extraSearchPath, trustedRoles, coercion, timeout };
  return createRowgraph({ ...own, ...modelOptionsOf(configuration), ...limitOptionsOf(configuration), poolSize: 1 });
}

/** An error in the request becomes one line; a bug is thrown as it is. */
function toCommandError(error: unknown): unknown {
  const { errors } = error as { readonly errors?: readonly ApiError[] };
  const first = error instanceof ApiError ? error : errors?.[0];
  return first instanceof ApiError && first.code !== 'INTERNAL_ERROR' ? new CommandError(first.message, 1, error) : error;
}
