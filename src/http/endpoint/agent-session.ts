/** Hands a message of an agent to the protocol, with a session that runs requests as any other request of the same caller. */
import type { VerifiedCaller } from '../../auth/caller.ts';
import { explainStop, untilStopped } from '../../budget/deadline.ts';
import type { ExecutionResult, RawResponse } from '../../engine/request.ts';
import { ApiError } from '../../errors/api-error.ts';
import type { AgentProtocol, AgentSession } from '../../mcp/session.ts';
import type { ExecutingGraph } from './endpoint-options.ts';
import { type Call, type ExecuteOptions, executePart, type Run } from './execute-request.ts';

interface AgentCall extends Call<ExecuteOptions & { readonly graph: ExecutingGraph; readonly agents: AgentProtocol | null }> {
  readonly caller: VerifiedCaller;
}

/** The headers of the protocol (https://modelcontextprotocol.io/specification/2026-07-28/basic/transports). */
const protocolHeader = /^mcp-[a-z0-9-]+$/;

/** The response to a message. */
export async function answerAgent(message: unknown, call: AgentCall): Promise<RawResponse & { readonly status: number }> {
  const { agents } = call.options;
  if (agents === null) throw new ApiError('NOT_FOUND', 'Agents are not served here: the handler was made without the option "agents".');
  const headers = Object.entries(call.exchange.headers).filter((entry): entry is [string, string] => protocolHeader.test(entry[0]));
  const { status, body } = await agents.answer(message, Object.fromEntries(headers), openSession(call));
  const bytes = Buffer.from(body);
  return { status, chunks: bytes.length > 0 ? [bytes] : [], length: bytes.length, errorCode: null };
}

function openSession(call: AgentCall): AgentSession {
  const { caller, run, options } = call;
  const { graph, documents } = options;
  const bounded = <Value>(work: Promise<Value>): Promise<Value> => untilStopped(work, run.deadline, explainStop);
  return {
    graph,
    role: caller.role,
    documents: documents.trusted,
    runsAnyDocument: !documents.restricts(caller.role),
    run: (request, isReadOnly) => executePart(request, { ...call, run: { ...run, readOnly: isReadOnly } }),
    introspect: async (query) => readResult(await graph.executeRaw({ query }, caller, withoutKey(run))),
    isValid: async (text) => (await bounded(graph.validate?.(text, { role: caller.role }) ?? Promise.resolve([]))).length === 0,
    explain: graph.explain === undefined ? null : (request) => bounded(graph.explain?.(request, caller) ?? Promise.resolve(null)),
  };
}

/** Describing the schema is not what the idempotency key is for, and it does not end the turn of a large body. */
function withoutKey({ deadline, client, http }: Run): Omit<Run, 'marks'> {
  return { deadline, client, http };
}

function readResult({ chunks }: RawResponse): ExecutionResult {
  return JSON.parse(Buffer.concat(chunks).toString()) as ExecutionResult;
}
