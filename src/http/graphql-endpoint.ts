/**
 * The GraphQL endpoint as a handler of `node:http`: key look-ups, JSON body in, one call of the graph, bytes out. In: a POST request at the
 * endpoint's path; out: its answer, and the events that tell of it. Routing, CORS and limits per client are not here.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, OutgoingHttpHeader, ServerResponse } from 'node:http';
import { ApiError, type ErrorCode, errorCodes } from '../errors.ts';
import type { Observer } from '../events.ts';
import type { Caller } from '../pipeline.ts';
import { authenticateRequest } from './authenticate-request.ts';
import { type Body, compressBody, compressionThreshold, type Encoding, negotiateEncoding } from './compress-body.ts';
import { encodeError, headersOfError } from './error-answer.ts';
import { type MediaType, negotiateMediaType } from './negotiate-media-type.ts';
import { checkContentType, parseRequest } from './parse-request.ts';
import { readBody } from './read-body.ts';
import type { ServedGraph } from './served-graph.ts';
import type { TokenVerifier } from './verify-token.ts';

export interface GraphqlEndpointOptions {
  readonly graph: Pick<ServedGraph, 'executeRaw'>;
  readonly verifier: TokenVerifier;
  /** In bytes. */
  readonly bodyLimit: number;
  readonly observe: Observer;
  /** Whether requests are to be refused for now. */
  readonly isOverloaded: () => boolean;
  /** Whether connections are to end with the answer. */
  readonly isClosing: () => boolean;
}

type Headers = Readonly<Record<string, OutgoingHttpHeader | undefined>>;

/** Answers one request. `headers` are those that others (CORS, rate limit) add to the answer. Never rejects. */
export type GraphqlEndpoint = (request: IncomingMessage, response: ServerResponse, headers?: Headers) => Promise<void>;

/** What is known of one request, filled in as it is handled. */
interface Exchange {
  readonly requestId: string;
  mediaType: MediaType;
  caller: Caller | null;
}

interface Answer {
  readonly status: number;
  readonly code: ErrorCode | null;
  readonly body: Body;
}

/** In bytes. Beyond it the copies of a text cost more than a second piece to write. */
const longestText = 16 * 1024;

const requestStarted = { kind: 'request-started' } as const;

/** The endpoint over a graph. */
export function createGraphqlEndpoint(options: GraphqlEndpointOptions): GraphqlEndpoint {
  const { observe, isClosing } = options;
  const nextRequestId = createRequestIds();
  return async (request, response, moreHeaders) => {
    const started = performance.now();
    observe(requestStarted);
    const exchange: Exchange = { requestId: readRequestId(request) ?? nextRequestId(), mediaType: 'application/json', caller: null };
    let encoding: Encoding | null = null;
    let answer: Answer;
    try {
      answer = await answerRequest(request, exchange, options);
      encoding = chooseEncoding(request, answer);
      if (encoding !== null) answer = { ...answer, body: await compressBody(answer.body, encoding) };
    } catch (error) {
      answer = answerError(error, exchange.requestId, observe);
      encoding = null;
    }
    const { status, code, body } = answer;
    const headers = listHeaders(answer, exchange, encoding, isClosing());
    if (moreHeaders !== undefined) addHeaders(headers, moreHeaders);
    response.writeHead(status, headers);
    writeBody(response, body);
    const role = exchange.caller === null ? null : exchange.caller.role;
    const seconds = (performance.now() - started) / 1000;
    observe({ kind: 'request-finished', requestId: exchange.requestId, role, code, status, seconds, bytes: body.length });
  };
}

/** Nothing runs, and the body is not even read, before it is clear who asks. */
async function answerRequest(request: IncomingMessage, exchange: Exchange, options: GraphqlEndpointOptions): Promise<Answer> {
  exchange.mediaType = negotiateMediaType(request.headers.accept);
  if (options.isOverloaded()) throw new ApiError('OVERLOADED', 'The server has more work than it can do: try again in a while.');
  const authenticated = authenticateRequest(request.headers, options.verifier);
  // A known token costs no turn of the event loop.
  const caller = authenticated instanceof Promise ? await authenticated : authenticated;
  exchange.caller = caller;
  checkContentType(request.headers);
  const body = await options.graph.executeRaw(parseRequest(await readBody(request, options.bodyLimit)), caller);
  return { status: statusOf(body.errorCode, exchange.mediaType), code: body.errorCode, body };
}

/**
 * The status of an answer that the graph gave. A request that is wrong as GraphQL is a good answer to clients of `application/json`, and
 * one of 400 to those of the newer type (https://graphql.github.io/graphql-over-http/draft/#sec-Responses).
 */
function statusOf(code: ErrorCode | null, mediaType: MediaType): number {
  if (code === null) return 200;
  const { status } = errorCodes[code];
  return status === 400 && mediaType === 'application/json' ? 200 : status;
}

function answerError(error: unknown, requestId: string, observe: Observer): Answer {
  let told: ApiError;
  if (error instanceof ApiError) told = error;
  else {
    observe({ kind: 'defect-found', requestId, error });
    told = new ApiError('INTERNAL_ERROR', `Internal error. The log of the server has more under the request id ${requestId}.`);
  }
  const body = encodeError(told);
  return { status: errorCodes[told.code].status, code: told.code, body: { chunks: [body], length: body.length } };
}

function chooseEncoding(request: IncomingMessage, { body }: Answer): Encoding | null {
  const accepted = request.headers['accept-encoding'];
  return body.length >= compressionThreshold && typeof accepted === 'string' ? negotiateEncoding(accepted) : null;
}

/** Names and values in turn: a flat list is what Node writes fastest. */
function listHeaders({ code, body }: Answer, { mediaType, requestId }: Exchange, encoding: Encoding | null, isLast: boolean): string[] {
  const headers = [
    'content-type',
    mediaType === 'application/json' ? 'application/json; charset=utf-8' : 'application/graphql-response+json; charset=utf-8',
    'content-length',
    String(body.length),
    'cache-control',
    'no-store',
    'x-content-type-options',
    'nosniff',
    'x-request-id',
    requestId,
  ];
  if (code !== null) headers.push(...headersOfError(code));
  if (encoding !== null) headers.push('content-encoding', encoding);
  if (isLast) headers.push('connection', 'close');
  return headers;
}

/**
 * Head and pieces in one write. Node writes head and body at once where both are text, in latin1 every byte as it is: that saves an eighth of a small
 * request's CPU.
 */
function writeBody(response: ServerResponse, body: Body): void {
  const text = body.latin1 ?? shortText(body);
  if (text !== undefined) {
    response.end(text, 'latin1');
    return;
  }
  const { chunks } = body;
  const last = chunks.length - 1;
  if (last > 0) response.cork();
  for (const chunk of chunks.slice(0, last)) response.write(chunk);
  response.end(chunks[last]);
}

function shortText({ chunks, length }: Body): string | undefined {
  return chunks.length === 1 && length < longestText ? chunks[0]!.toString('latin1') : undefined;
}

function addHeaders(headers: string[], more: Headers): void {
  for (const [name, value] of Object.entries(more)) if (value !== undefined) headers.push(name, String(value));
}

/** The id that a proxy or client gave the request, if it is fit to be written to a log. */
function readRequestId(request: IncomingMessage): string | undefined {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && /^[\w.:=+/@-]{1,128}$/.test(given) ? given : undefined;
}

/** Ids that are unique over processes: a random part for the process, and a count. */
function createRequestIds(): () => string {
  const prefix = randomUUID().slice(0, 13);
  let count = 0;
  return () => {
    count += 1;
    return `${prefix}-${count.toString(36)}`;
  };
}
