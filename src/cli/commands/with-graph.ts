/** What commands share that open a graph to look at it: their settings and flags, and the graph for as long as they work. */
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import type { Observer } from '../../events.ts';
import type { Caller, Rowgraph } from '../../index.ts';
import { checkDatabase } from '../check-database.ts';
import { CommandError, describeFileError } from '../command-error.ts';
import { graphOptionsOf, type InspectConfiguration } from '../command-settings.ts';

export type Flags = Readonly<Record<string, string | undefined>>;

/** The role of the flag `--role`, or the anonymous one. */
export function addRole(command: Command, otherwise = 'that of --anon-role'): Command {
  return command.option('--role <ROLE>', `Database role (default: ${otherwise})`);
}

export function addClaims(command: Command): Command {
  return command.option('--claims <JSON>', 'Claims of the caller as JSON, such as {"sub": "…"}');
}

export function callerOf({ role, claims }: Flags, { anonRole }: InspectConfiguration): Caller {
  return { role: role ?? anonRole, claims: parseJsonObject('--claims', claims, '{"sub": "42"}') };
}

type InspectedDatabase = InspectConfiguration & { readonly databaseUrl: string };

/** Opens the graph of a database that has the role. `roleFlag` named it. Rejects with a `CommandError` if the settings are wrong. */
export async function openGraph(
  configuration: InspectedDatabase,
  role: string,
  roleFlag: string,
  observe: Observer = () => undefined,
): Promise<Rowgraph> {
  const { databaseUrl, schemas } = configuration;
  await checkDatabase({ databaseUrl, schemas, role, roleFlag });
  const { createRowgraph } = await import('../../index.ts');
  return createRowgraph({ ...graphOptionsOf(configuration), database: databaseUrl, poolSize: 1, observe });
}

export async function withGraph<Result>(
  configuration: InspectedDatabase,
  flags: Flags,
  work: (graph: Rowgraph, role: string) => Promise<Result>,
  observe?: Observer,
): Promise<Result> {
  const role = flags.role ?? configuration.anonRole;
  const graph = await openGraph(configuration, role, flags.role === undefined ? '--anon-role' : '--role', observe);
  try {
    return await work(graph, role);
  } finally {
    await graph.close();
  }
}

/** The text of a file; `-` is standard input. What is no file but has braces, as every document does, is the document itself. */
export function readDocument(file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch (error) {
    if (file.includes('{')) return file;
    throw new CommandError(`${file} cannot be read: ${describeFileError(error)}`, 2, error);
  }
}

/** The JSON object in a flag; undefined if the flag is not given. */
export function parseJsonObject(flag: string, text: string | undefined, example?: string): Record<string, unknown> | undefined {
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  } catch {
    // Reported below.
  }
  throw new CommandError(`${flag} must be a JSON object${example === undefined ? '' : `, such as ${example}`}`, 2);
}

/** A parser for commander of an argument that must be one of a few words. `name` begins its message: `the action`, `--grants`. */
export function choiceParser(name: string, choices: readonly string[]): (value: string) => string {
  const list = new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(choices);
  return (value) => {
    if (!choices.includes(value)) throw new CommandError(`${name} must be ${list} (it is "${value}")`, 2);
    return value;
  };
}

export function print(...lines: readonly string[]): void {
  for (const line of lines) process.stdout.write(`${line}\n`);
}

/** As JSON, or as text for a person. */
export function printReport<Report>(report: Report, json: boolean | undefined, describe: (report: Report) => string): void {
  process.stdout.write(json ? `${JSON.stringify(report, null, 2)}\n` : describe(report));
}
