/** Checks documents for a role, and has the valid ones compiled. In: documents by id, the graph and the role; out: the problems by id. */
import type { TrustedDocument } from '../http/documents/trusted-documents.ts';
import { ApiError, type Rowgraph } from '../index.ts';

/**
 * The problems by the id of their document, each prefixed with it. Rejects if requests cannot run as the role, or the database cannot be
 * reached.
 */
export async function checkDocuments(
  documents: ReadonlyMap<string, TrustedDocument>,
  graph: Pick<Rowgraph, 'prepare'>,
  role: string,
): Promise<ReadonlyMap<string, string>> {
  const problems = new Map<string, string>();
  for (const [id, { text }] of documents) {
    const [error] = await graph.prepare(text, { role });
    if (error?.extensions.code === 'UNAUTHENTICATED') throw new ApiError('UNAUTHENTICATED', error.message);
    if (error !== undefined) problems.set(id, `${id}: ${error.message}`);
  }
  return problems;
}
