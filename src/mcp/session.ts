/** What the tools run on: the requests of one caller. Types only; `http/` and the command `rowgraph mcp` make sessions. */
import type { ExecutionResult, GraphQLRequest, RawResponse } from '../engine/request.ts';

export interface AgentSession {
  /** The same object for all sessions over one database: what is known of its documents is kept with it. */
  readonly graph: object;
  readonly role: string;
  /** The trusted documents, by id. Another map after each change. */
  readonly documents: ReadonlyMap<string, { readonly text: string }>;
  /** Whether the role may run documents that are not trusted. */
  readonly runsAnyDocument: boolean;
  /** Runs a request, unless the agent cancels it. The response reports failures, or it rejects with `ApiError`. */
  run(request: AgentRequest, isReadOnly: boolean, signal: AbortSignal): Promise<RawResponse>;
  /** Runs a query that introspects the schema, whatever documents the role may run. */
  introspect(query: string): Promise<ExecutionResult>;
  /** Whether a document is valid for the role; null if that cannot be found out without running it. */
  readonly isValid: ((text: string) => Promise<boolean>) | null;
  /** Explains a request, as JSON; null where explaining is not possible. Rejects with `ApiError` or an error that has `errors`. */
  readonly explain: ((request: GraphQLRequest) => Promise<unknown>) | null;
}

/** A request with its document, or with the id of a trusted one. */
export interface AgentRequest extends Omit<GraphQLRequest, 'query'> {
  readonly query?: string;
  readonly documentId?: string;
}

/** What agents may do beyond reading, and how much a tool returns. */
export interface AgentSettings {
  readonly allowsWrites: boolean;
  readonly allowsExplain: boolean;
  /** In bytes. */
  readonly resultSize: number;
}

/** Answers the messages that agents post, without keeping anything between two of them (Model Context Protocol, streamable HTTP). */
export interface AgentProtocol {
  /** `headers`: those of the protocol. Never rejects because of the message. */
  answer(message: unknown, headers: Readonly<Record<string, string>>, session: AgentSession): Promise<AgentAnswer>;
}

interface AgentAnswer {
  readonly status: number;
  /** JSON, or '' if there is nothing to say. */
  readonly body: string;
}
