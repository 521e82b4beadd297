/**
 * The documents that the page at `/graphiql` opens at first if the example is served. In: the graph; out: documents, none for any other
 * schema.
 */
import { readdir, readFile } from 'node:fs/promises';
import type { Rowgraph } from '../../index.ts';

const folder = new URL('../../../examples/bird-club/operations/', import.meta.url);

/** The example's operations, if each is valid for one of the roles. */
export async function readExampleOperations(graph: Rowgraph, roles: readonly string[]): Promise<readonly string[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.graphql')).sort();
  const documents = await Promise.all(names.map((name) => readFile(new URL(name, folder), 'utf8')));
  for (const document of documents) if (!(await isValid(graph, document, roles))) return [];
  return documents;
}

async function isValid(graph: Rowgraph, document: string, roles: readonly string[]): Promise<boolean> {
  for (const role of roles) if ((await graph.validate(document, { role })).length === 0) return true;
  return false;
}
