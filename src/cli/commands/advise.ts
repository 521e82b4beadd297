/**
 * `rowgraph advise`: explains all trusted documents, or all operations in a log of slow operations, and prints what would make them faster.
 */
import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { readDocuments } from '../../http/documents/trusted-document-files.ts';
import { CommandError } from '../command-error.ts';
import { inspectSettings } from '../command-settings.ts';
import { addSettings, type Environment, readSettings } from '../config.ts';
import { describeAdviceReport } from '../output/describe-explanation.ts';
import { paintFor } from '../output/terminal.ts';
import type { AdvisedDocument } from './advise-documents.ts';
import { addClaims, addRole, callerOf, type Flags, printReport, withGraph } from './with-graph.ts';

export function adviseCommand(environment: Environment): Command {
  const command = new Command('advise')
    .description('Print what would make trusted documents, or the operations in a slow-operation log, faster; none of them is run')
    .option('--trusted-documents <FILE|FOLDER>', 'JSON map of ids to documents, or a folder of such files')
    .option('--slow-log <FILE>', 'Log with the lines that --slow-operations writes; - reads standard input');
  addClaims(addRole(command, 'that of --anon-role; in a slow-operation log, that of each operation')).option('--json', 'Print JSON');
  return addSettings(command, inspectSettings).action(async ({ json, ...flags }: Flags & { readonly json?: boolean }) => {
    const configuration = readSettings(inspectSettings, flags, environment);
    const caller = callerOf(flags, configuration);
    const documents = await findDocuments(flags);
    const { adviseForDocuments } = await import('./advise-documents.ts');
    await withGraph(configuration, flags, async (graph) => {
      const report = await adviseForDocuments(graph, documents, caller, flags.role === undefined);
      printReport(report, json, (each) => describeAdviceReport(each, paintFor(process.stdout)));
    });
  });
}

async function findDocuments({ trustedDocuments, slowLog }: Flags): Promise<readonly AdvisedDocument[]> {
  if ((trustedDocuments === undefined) === (slowLog === undefined))
    throw new CommandError('give either --trusted-documents or --slow-log', 2);
  try {
    if (slowLog !== undefined) return readSlowLog(readFileSync(slowLog === '-' ? 0 : slowLog, 'utf8'));
    const documents = await readDocuments(trustedDocuments!);
    return [...documents].map(([id, { text }]) => ({ id, text, count: 1, milliseconds: null }));
  } catch (error) {
    throw new CommandError(`${slowLog === undefined ? '--trusted-documents' : '--slow-log'}: ${(error as Error).message}`, 2, error);
  }
}

/** The message of these lines, as `telemetry/create-telemetry.ts` writes it. */
const message = 'slow operation';

/** The operations, in the order in which they first appear. Throws an `Error` if the log has none. */
function readSlowLog(text: string): AdvisedDocument[] {
  const found = new Map<string, AdvisedDocument>();
  for (const line of text.split('\n')) {
    const entry = readLine(line);
    if (entry === null) continue;
    const key = JSON.stringify([entry.text, entry.operationName, entry.role]);
    const previous = found.get(key);
    const milliseconds = (previous?.milliseconds ?? 0) + (entry.milliseconds ?? 0);
    // Keeps the values of the last line: those of the slowest are no more typical.
    found.set(key, { ...entry, count: (previous?.count ?? 0) + 1, milliseconds });
  }
  if (found.size === 0) throw new Error('the log has no slow operations; start the server with --slow-operations');
  return [...found.values()];
}

function readLine(line: string): AdvisedDocument | null {
  if (!line.includes(message)) return null;
  let entry: Readonly<Record<string, unknown>>;
  try {
    entry = JSON.parse(line) as Readonly<Record<string, unknown>>;
  } catch {
    return null;
  }
  const { msg, document, documentHash, operation, variables, role, milliseconds } = entry ?? {};
  if (msg !== message || typeof document !== 'string') return null;
  return {
    id: textOf(documentHash)?.slice(0, 12) ?? 'unnamed operation',
    text: document,
    operationName: textOf(operation),
    variables: typeof variables === 'object' && variables !== null ? (variables as Record<string, unknown>) : undefined,
    role: textOf(role),
    count: 1,
    milliseconds: typeof milliseconds === 'number' ? milliseconds : null,
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
