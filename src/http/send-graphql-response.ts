/**
 * Sends what the GraphQL endpoint responds, compressed where the client wants it and it is large. In: the exchange, what is known of the request, and the
 * response; out: its head and body, handed to the socket.
 */
import type { ResponseBody } from '../engine/assemble-response.ts';
import type { Caller } from '../engine/request.ts';
import type { ErrorCode } from '../errors.ts';
import { type AcceptedEncodings, type ContentEncoding, compressBody, compressionThreshold, negotiateEncoding } from './compress-body.ts';
import type { CrossOrigin } from './cross-origin.ts';
import { headersOfError } from './error-response.ts';
import type { Exchange } from './exchange.ts';
import type { MediaType } from './negotiate-media-type.ts';
import { writeBody } from './write-body.ts';

/** What is known of one request, filled in as it is handled. */
export interface RequestState {
  mediaType: MediaType;
  /** Null where it was not looked at, as nothing can be wrong with it. */
  encodings: AcceptedEncodings | null;
  caller: Caller | null;
  /** Whether another request may follow on the connection. Not so where the head leaves it open what belongs to the request. */
  isHeadClear: boolean;
  /** What CORS and the limit of rates add to the response. */
  headers: readonly string[];
}

export interface GraphqlResponse {
  readonly status: number;
  readonly code: ErrorCode | null;
  readonly body: ResponseBody;
}

/** What holds for all responses of a server. */
interface SendOptions {
  /** Whether connections are to end with the response. */
  readonly isClosing: () => boolean;
  readonly crossOrigin: CrossOrigin;
}

/** A promise only where there is something to wait for: waiting costs turns of the event loop's queue. */
export function sendGraphqlResponse(
  exchange: Exchange,
  state: RequestState,
  response: GraphqlResponse,
  options: SendOptions,
): Promise<void> | undefined {
  if (exchange.isGone) return undefined;
  const encoding = chooseEncoding(exchange, state, response);
  if (encoding !== null) return sendCompressed(exchange, state, response, encoding, options);
  writeGraphqlResponse(exchange, state, response, null, options);
  return undefined;
}

async function sendCompressed(
  exchange: Exchange,
  state: RequestState,
  response: GraphqlResponse,
  encoding: ContentEncoding,
  options: SendOptions,
): Promise<void> {
  const body = await compressBody(response.body, encoding);
  exchange.hold(body.length - response.body.length);
  // It may have gone meanwhile; writing to it would be harmless, and of no use.
  if (!exchange.isGone) writeGraphqlResponse(exchange, state, { ...response, body }, encoding, options);
}

function writeGraphqlResponse(
  exchange: Exchange,
  state: RequestState,
  response: GraphqlResponse,
  encoding: ContentEncoding | null,
  { isClosing, crossOrigin }: SendOptions,
): void {
  const { status, code, body } = response;
  const isLast = !state.isHeadClear || code === 'REQUEST_TIMEOUT' || exchange.connection.endsWith(exchange, isClosing());
  exchange.response.writeHead(status, listHeaders(exchange, state, code, body, encoding, isLast, crossOrigin.vary));
  writeBody(exchange.response, body);
}

function chooseEncoding({ request }: Exchange, { encodings }: RequestState, { body }: GraphqlResponse): ContentEncoding | null {
  const isLarge = body.length >= compressionThreshold;
  if (encodings !== null) return isLarge || !encodings.allowsIdentity ? encodings.best : null;
  const accepted = request.headers['accept-encoding'];
  return isLarge && typeof accepted === 'string' ? negotiateEncoding(accepted).best : null;
}

/** Names and values in turn: a flat list is what Node writes fastest. */
function listHeaders(
  { requestId }: Exchange,
  { mediaType, headers: added }: RequestState,
  code: ErrorCode | null,
  body: ResponseBody,
  encoding: ContentEncoding | null,
  isLast: boolean,
  vary: string,
): string[] {
  const headers = [
    'content-type',
    mediaType === 'application/json' ? 'application/json; charset=utf-8' : 'application/graphql-response+json; charset=utf-8',
    'content-length',
    String(body.length),
    'cache-control',
    'no-store',
    'x-content-type-options',
    'nosniff',
    'vary',
    vary,
    'x-request-id',
    requestId,
  ];
  if (code !== null) headers.push(...headersOfError(code));
  if (added.length > 0) headers.push(...added);
  if (encoding !== null) headers.push('content-encoding', encoding);
  if (isLast) headers.push('connection', 'close');
  return headers;
}
