/** The session of an agent on a running server: its requests go to the GraphQL endpoint, which decides what the key and the token may. */
import { parse } from 'graphql';
import { ApiError, isJsonObject } from '../../errors/api-error.ts';
import { type ErrorCode, errorCodes } from '../../errors/codes.ts';
import type { ExecutionResult, RawResponse } from '../../index.ts';
import type { AgentRequest, AgentSession } from '../../mcp/session.ts';
import { type SessionDocuments, textOf } from './local-session.ts';

interface RemoteServer {
  readonly url: string;
  readonly apiKey: string | undefined;
  readonly token: string | undefined;
  /** In milliseconds. */
  readonly timeout: number;
}

/** In bytes: more than any response that a tool could use. */
const longestResponse = 32 * 1024 ** 2;

export function openRemoteSession(server: RemoteServer, { documents, runsAnyDocument }: SessionDocuments): AgentSession {
  return {
    graph: server,
    role: '',
    documents,
    runsAnyDocument,
    run: async (request, isReadOnly, signal) => {
      if (isReadOnly) refuseMutation(textOf(documents, { documentId: request.documentId, query: request.query }), request.operationName);
      return toResponse(await send(server, request, signal));
    },
    introspect: async (query) => JSON.parse(await send(server, { query })) as ExecutionResult,
    isValid: null,
    explain: null,
  };
}

/** Throws METHOD_NOT_ALLOWED if a mutation could run, as an endpoint itself does for a GET request. */
function refuseMutation(text: string, name: string | null | undefined): void {
  for (const node of parseOrNone(text))
    if (node.kind === 'OperationDefinition' && node.operation !== 'query' && (name ?? node.name?.value) === node.name?.value)
      throw new ApiError('METHOD_NOT_ALLOWED', 'The operation is a mutation.');
}

/** The server reports what is not GraphQL. */
function parseOrNone(text: string) {
  try {
    return parse(text, { noLocation: true }).definitions;
  } catch {
    return [];
  }
}

/** The body of the response, which is JSON with `data` or `errors`. Rejects with `ApiError` if there is none. */
async function send({ url, apiKey, token, timeout }: RemoteServer, request: AgentRequest, signal?: AbortSignal): Promise<string> {
  const limit = AbortSignal.timeout(timeout);
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json',
    ...(apiKey !== undefined && { apikey: apiKey }),
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  };
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers,
      body: JSON.stringify(request),
      // A redirect might take the key somewhere else.
      redirect: 'error',
      signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
    });
    const text = await readBody(response);
    if (!isResult(text))
      throw new ApiError('DATABASE_UNAVAILABLE', `${originOf(url)} answered with status ${response.status}, not with GraphQL.`);
    return text;
  } catch (error) {
    if (error instanceof ApiError) throw error;
    if (limit.aborted) throw new ApiError('TIMEOUT', `${originOf(url)} did not answer within ${timeout} ms.`);
    if (signal?.aborted) throw new ApiError('CANCELLED', 'The request was cancelled.');
    throw new ApiError('DATABASE_UNAVAILABLE', `${originOf(url)} cannot be reached: ${causeOf(error)}.`, { cause: error });
  }
}

async function readBody(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.length;
    if (length > longestResponse)
      throw new ApiError('RESPONSE_TOO_LARGE', `The response has more than ${longestResponse} bytes. Ask for less.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function isResult(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) && ('data' in value || Array.isArray(value.errors));
  } catch {
    return false;
  }
}

function toResponse(text: string): RawResponse {
  const bytes = Buffer.from(text);
  const { errors = [] } = JSON.parse(text) as { readonly errors?: readonly { readonly extensions?: { readonly code?: unknown } }[] };
  const [first] = errors;
  return { chunks: [bytes], length: bytes.length, errorCode: first === undefined ? null : codeOf(first.extensions?.code) };
}

/** A proxy in front may have codes of its own. */
function codeOf(code: unknown): ErrorCode {
  return Object.keys(errorCodes).find((known): known is ErrorCode => known === code) ?? 'INTERNAL_ERROR';
}

/** Without what may be secret in it. */
function originOf(url: string): string {
  return new URL(url).origin;
}

function causeOf(error: unknown): string {
  const { cause, message } = error as Error & { readonly cause?: Error & { readonly code?: string } };
  return cause?.message || cause?.code || message;
}
