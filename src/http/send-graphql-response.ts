/**
 * Sends a response of the GraphQL endpoint, compressed if it is large and the client accepts that. In: the exchange, the state of the
 * request, and the response; out: its head and body, handed over.
 */

import type { Caller } from '../engine/request.ts';
import type { ResponseBody } from '../engine/run/response.ts';
import type { ErrorCode } from '../errors/codes.ts';
import { type AcceptedEncodings, type ContentEncoding, compressBody, compressionThreshold, negotiateEncoding } from './compress-body.ts';
import type { CrossOrigin } from './cross-origin.ts';
import { headersOfError } from './error-response.ts';
import type { Exchange } from './exchange.ts';
import type { Caching } from './get-response.ts';
import type { MediaType } from './negotiate-media-type.ts';
import type { RequestTimes } from './request-times.ts';

/** The state of one request, filled in while it is handled. */
export interface RequestState {
  mediaType: MediaType;
  /** Null if the header was not parsed, because it cannot reject anything. */
  encodings: AcceptedEncodings | null;
  caller: Caller | null;
  /** Headers that CORS and rate limiting add to the response. */
  headers: readonly string[];
  /** How the response may be cached; null if it must not be. */
  caching: Caching | null;
  /** Null unless the response or its event reports them. */
  times: RequestTimes | null;
}

export interface GraphqlResponse {
  readonly status: number;
  readonly code: ErrorCode | null;
  readonly body: ResponseBody;
}

/** Returns a promise only if there is something to wait for: awaiting costs turns of the microtask queue. */
export function sendGraphqlResponse(
  exchange: Exchange,
  state: RequestState,
  response: GraphqlResponse,
  { vary }: CrossOrigin,
): Promise<void> | undefined {
  if (exchange.isGone) return undefined;
  const encoding = chooseEncoding(exchange, state, response);
  if (encoding !== null) return sendCompressed(exchange, state, response, encoding, vary);
  writeGraphqlResponse(exchange, state, response, null, vary);
  return undefined;
}

async function sendCompressed(
  exchange: Exchange,
  state: RequestState,
  response: GraphqlResponse,
  encoding: ContentEncoding,
  vary: string,
): Promise<void> {
  // A client that rejects uncompressed responses has to wait for the compression.
  const deadline = state.encodings?.allowsIdentity === false ? null : exchange.deadline;
  const body = await compressBody(response.body, encoding, deadline);
  if (body !== null) exchange.hold(body.length - response.body.length);
  // The client may have disconnected meanwhile; writing would be harmless but useless.
  if (exchange.isGone) return;
  if (body === null) writeGraphqlResponse(exchange, state, response, null, vary);
  else writeGraphqlResponse(exchange, state, { ...response, body }, encoding, vary);
}

function writeGraphqlResponse(
  exchange: Exchange,
  state: RequestState,
  response: GraphqlResponse,
  encoding: ContentEncoding | null,
  vary: string,
): void {
  const { status, code, body } = response;
  exchange.respond(status, listHeaders(exchange, state, code, body, encoding, vary), body, code === 'REQUEST_TIMEOUT');
}

function chooseEncoding({ headers }: Exchange, { encodings }: RequestState, { body }: GraphqlResponse): ContentEncoding | null {
  const isLarge = body.length >= compressionThreshold;
  if (encodings !== null) return isLarge || !encodings.allowsIdentity ? encodings.best : null;
  const accepted = headers['accept-encoding'];
  return isLarge && typeof accepted === 'string' ? negotiateEncoding(accepted).best : null;
}

/** Alternating names and values, because Node writes a flat list fastest. */
function listHeaders(
  { requestId }: Exchange,
  { mediaType, headers: added, caching }: RequestState,
  code: ErrorCode | null,
  body: ResponseBody,
  encoding: ContentEncoding | null,
  vary: string,
): string[] {
  const headers = [
    'content-type',
    mediaType === 'application/json' ? 'application/json; charset=utf-8' : 'application/graphql-response+json; charset=utf-8',
    'content-length',
    String(body.length),
    'cache-control',
    caching === null ? 'no-store' : caching.control,
    'x-content-type-options',
    'nosniff',
    'vary',
    caching === null ? vary : caching.vary,
    'x-request-id',
    requestId,
  ];
  if (code !== null) headers.push(...headersOfError(code));
  if (caching !== null) headers.push('etag', caching.etag);
  if (added.length > 0) headers.push(...added);
  if (encoding !== null) headers.push('content-encoding', encoding);
  return headers;
}
