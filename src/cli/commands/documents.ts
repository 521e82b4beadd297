/** `rowgraph documents`: checks trusted documents for each role that sends them. */
import { Command } from 'commander';
import { limitNames, limitSettingOf } from '../../budget/limits.ts';
import type { TrustedDocument } from '../../http/documents/trusted-documents.ts';
import type { Rowgraph } from '../../index.ts';
import { CommandError } from '../command-error.ts';
import { type CommandSettings, ConfigurationError, describeMissing, type Environment } from '../config.ts';
import { limitOptionsOf, modelOptionsOf, modelSettingNames } from '../graph-options.ts';
import { addSettings, readSettings } from '../read-settings.ts';
import { documentRolesOf } from '../serve/trusted-documents.ts';

const names = [
  ...(['databaseUrl', 'schemas', 'extraSearchPath', 'anonRole', 'trustedRoles', 'trustedDocuments', 'documentRoles'] as const),
  ...modelSettingNames,
  'coercion',
  ...(['limits', ...limitNames.map(limitSettingOf), 'unlimitedRoles'] as const),
] as const;
const documentsSettings: CommandSettings<(typeof names)[number], 'databaseUrl'> = { names, required: ['databaseUrl'], defaults: {} };

export function documentsCommand(environment: Environment): Command {
  const command = new Command('documents').description(
    'Check trusted documents for the roles that send them; exits with 1 if one is not valid',
  );
  return addSettings(command, documentsSettings).action(async (flags: Readonly<Record<string, string | undefined>>) => {
    const configuration = readSettings(documentsSettings, flags, environment);
    const { databaseUrl, schemas, extraSearchPath, anonRole, trustedRoles, coercion, trustedDocuments } = configuration;
    if (trustedDocuments === undefined) throw new ConfigurationError([describeMissing('trustedDocuments')]);
    const documents = await readAll(trustedDocuments);
    const [{ createRowgraph }, { checkDatabase }] = await Promise.all([import('../../index.ts'), import('../check-database.ts')]);
    await checkDatabase({ databaseUrl, schemas, role: anonRole, roleFlag: '--anon-role' });
    const options = {
      schemas,
      extraSearchPath,
      trustedRoles,
      coercion,
      ...modelOptionsOf(configuration),
      ...limitOptionsOf(configuration),
    };
    const graph = await createRowgraph({ database: databaseUrl, poolSize: 1, ...options });
    try {
      const invalid = new Set<string>();
      for (const role of documentRolesOf(configuration))
        for (const id of await report(documents, graph, role, configuration.documentRoles.includes(role))) invalid.add(id);
      if (invalid.size > 0)
        throw new CommandError(
          `${invalid.size} trusted ${invalid.size === 1 ? 'document is' : 'documents are'} not valid for every role`,
          1,
        );
    } finally {
      await graph.close();
    }
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
  const { checkDocuments } = await import('../serve/trusted-documents.ts');
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

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
