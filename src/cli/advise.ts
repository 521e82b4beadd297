/**
 * `rowgraph advise`: explains all trusted documents, or all operations in a log of slow operations, and prints what would make them faster.
 */
import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { readDocuments } from '../http/documents/trusted-document-files.ts';
import type { AdvisedDocument } from './advise-documents.ts';
import { CommandError } from './command-error.ts';
import type { Environment } from './config.ts';
import { describeAdviceReport } from './describe-advice.ts';
import { callerOf, explainSettings, openGraph } from './explain.ts';
import { readSlowLog } from './read-slow-log.ts';
import { addSettings, readSettings } from './settings-options.ts';
import { paintFor } from './terminal.ts';

interface Flags extends Readonly<Record<string, string | undefined>> {
  readonly trustedDocuments?: string;
  readonly slowLog?: string;
  readonly role?: string;
  readonly claims?: string;
}

export function adviseCommand(environment: Environment): Command {
  const command = new Command('advise')
    .description('Print what would make trusted documents, or the operations in a slow-operation log, faster; none of them is run')
    .option('--trusted-documents <FILE|FOLDER>', 'JSON map of ids to documents, or a folder of such files')
    .option('--slow-log <FILE>', 'Log with the lines that --slow-operations writes; - reads standard input')
    .option('--role <ROLE>', 'Database role (default: that of --anon-role; in a slow-operation log, that of each operation)')
    .option('--claims <JSON>', 'Claims of the caller as JSON, such as {"sub": "…"}')
    .option('--json', 'Print JSON');
  return addSettings(command, explainSettings).action(async ({ json, ...flags }: Flags & { readonly json?: boolean }) => {
    const configuration = readSettings(explainSettings, flags, environment);
    const caller = callerOf(flags, configuration);
    const documents = await findDocuments(flags);
    const { adviseForDocuments } = await import('./advise-documents.ts');
    const graph = await openGraph(configuration, caller.role, flags.role === undefined ? '--anon-role' : '--role');
    try {
      const report = await adviseForDocuments(graph, documents, caller, flags.role === undefined);
      process.stdout.write(json ? `${JSON.stringify(report, null, 2)}\n` : describeAdviceReport(report, paintFor(process.stdout)));
    } finally {
      await graph.close();
    }
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
