/** `rowgraph documents`: checks trusted documents for each role that sends them. */
import { Command } from 'commander';
import type { TrustedDocument } from '../../http/documents/trusted-documents.ts';
import type { Rowgraph } from '../../index.ts';
import type { NameIn } from '../../settings/settings.ts';
import { CommandError } from '../command-error.ts';
import { inspectSettings } from '../command-settings.ts';
import { addSettings, type CommandSettings, ConfigurationError, describeMissing, type Environment, readSettings } from '../config.ts';
import { checkDocuments, documentRolesOf } from '../serve/trusted-documents.ts';
import { type Flags, print, withGraph } from './with-graph.ts';

type Name = NameIn<'inspect'> | 'trustedDocuments' | 'documentRoles';
const documentsSettings: CommandSettings<Name, 'databaseUrl'> = {
  ...inspectSettings,
  names: [...inspectSettings.names, 'trustedDocuments', 'documentRoles'],
};

export function documentsCommand(environment: Environment): Command {
  const command = new Command('documents').description(
    'Check trusted documents for the roles that send them; exits with 1 if one is not valid',
  );
  return addSettings(command, documentsSettings).action(async (flags: Flags) => {
    const configuration = readSettings(documentsSettings, flags, environment);
    const { trustedDocuments, documentRoles } = configuration;
    if (trustedDocuments === undefined) throw new ConfigurationError([describeMissing('trustedDocuments')]);
    const documents = await readAll(trustedDocuments);
    await withGraph(configuration, flags, async (graph) => {
      const invalid = new Set<string>();
      for (const role of documentRolesOf(configuration))
        for (const id of await report(documents, graph, role, documentRoles.includes(role))) invalid.add(id);
      if (invalid.size === 0) return;
      const which = invalid.size === 1 ? 'document is' : 'documents are';
      throw new CommandError(`${invalid.size} trusted ${which} not valid for every role`, 1);
    });
  });
}

async function readAll(location: string): Promise<ReadonlyMap<string, TrustedDocument>> {
  const { readDocuments } = await import('../../http/documents/trusted-document-files.ts');
  try {
    return await readDocuments(location);
  } catch (error) {
    throw new ConfigurationError([`--trusted-documents: ${(error as Error).message}`]);
  }
}

/** Prints the problems for a role; resolves to the ids of the invalid documents. A role that was named explicitly must exist. */
async function report(
  documents: ReadonlyMap<string, TrustedDocument>,
  graph: Rowgraph,
  role: string,
  isNamed: boolean,
): Promise<Iterable<string>> {
  try {
    const problems = await checkDocuments(documents, graph, role);
    print(`${role}: ${documents.size - problems.size} of ${documents.size} documents are valid`);
    for (const problem of problems.values()) print(`  ${problem}`);
    for (const [id, { text }] of documents)
      for (const mismatch of await graph.findMismatches(text, { role })) print(`  ${id}: --coercion strict would refuse it: ${mismatch}`);
    return problems.keys();
  } catch (error) {
    if (isNamed) throw new CommandError(`--document-roles: ${(error as Error).message}`, 2, error);
    print(`${role}: not checked: ${(error as Error).message}`);
    return [];
  }
}
