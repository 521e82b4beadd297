/** The session of an agent on a graph in this process: its requests run as one caller. */
import { ApiError } from '../../errors/api-error.ts';
import type { TrustedDocument } from '../../http/documents/trusted-documents.ts';
import type { Caller, Rowgraph } from '../../index.ts';
import type { AgentSession } from '../../mcp/session.ts';

export interface SessionDocuments {
  readonly documents: ReadonlyMap<string, TrustedDocument>;
  /** Whether the agent may run others too. */
  readonly runsAnyDocument: boolean;
}

export function openLocalSession(graph: Rowgraph, caller: Caller, { documents, runsAnyDocument }: SessionDocuments): AgentSession {
  return {
    graph,
    role: caller.role,
    documents,
    runsAnyDocument,
    run: ({ documentId, query, ...rest }, isReadOnly, signal) =>
      graph.executeRaw({ ...rest, query: textOf(documents, { documentId, query }) }, caller, { readOnly: isReadOnly, signal }),
    introspect: (query) => graph.execute({ query }, caller),
    isValid: async (text) => (await graph.validate(text, { role: caller.role })).length === 0,
    explain: (request) => graph.explain(request, caller),
  };
}

/** The document of a request. Throws if its id is that of none, as the documents may have changed. */
export function textOf(
  documents: ReadonlyMap<string, TrustedDocument>,
  { documentId, query }: { readonly documentId: string | undefined; readonly query: string | undefined },
): string {
  if (documentId === undefined) return query ?? '';
  const document = documents.get(documentId);
  if (document === undefined)
    throw new ApiError('PERSISTED_DOCUMENT_NOT_FOUND', 'This document is no longer one of the trusted documents.');
  return document.text;
}

/** Rejects unless requests can run as the caller. */
export async function checkSession(session: AgentSession): Promise<void> {
  const { errors } = await session.introspect('{ __typename }');
  const [error] = errors ?? [];
  if (error !== undefined) throw new ApiError(error.extensions.code, error.message);
}
