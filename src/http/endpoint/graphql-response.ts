import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Authenticate } from '../../auth/authenticate.ts';
import { runFromFirstPause } from '../../budget/turns.ts';
import type { Caller } from '../../engine/request.ts';
import type { ResponseBody } from '../../engine/run/response.ts';
import type { ErrorCode } from '../../errors/codes.ts';
import { type AcceptedEncodings, type ContentEncoding, compressBody, compressionThreshold, negotiateEncoding } from './compress-body.ts';
import type { CrossOrigin } from './cross-origin.ts';
import { headersOfError } from './error-response.ts';
import type { Exchange } from './exchange.ts';
import type { MediaType } from './preferences.ts';
import type { RequestTimes } from './request-times.ts';

/**
 * Sends a response of the GraphQL endpoint, compressed if it is large and the client accepts that. In: the exchange, the state of the
 * request, and the response; out: its head and body, handed over.
 */

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

/**
 * What is special about the response to a GET request: the headers that let caches keep it, and 304 for a client that has it already. In:
 * the response to a query; out: the response as it is sent.
 */

/** How a response may be kept. */
export interface Caching {
  /** The value of Cache-Control. */
  readonly control: string;
  readonly etag: string;
  /** The request headers that affect the response: without them, a cache would give one caller's rows to another. */
  readonly vary: string;
}

interface CachingOptions {
  readonly authenticate: Authenticate | null;
  readonly cacheControl: string;
  readonly crossOrigin: Pick<CrossOrigin, 'keptVary'>;
}

/** Host is included because it may select a project, and not all caches distinguish hosts. */
const withKeys = 'Host, Accept, apiKey, Authorization';
const withCookies = `${withKeys}, Cookie`;
const nothing: ResponseBody = { chunks: [], length: 0 };
/** In bytes: after so many, hashing may pause. */
const pieceLength = 256 * 1024;

/**
 * Makes a response cacheable, unless it is an error. Records its caching headers in the state. Rejects with TIMEOUT or CANCELLED if the
 * request is stopped meanwhile.
 */
export async function makeCacheable(
  { headers, cacheControl: ofDocument, deadline }: Pick<Exchange, 'headers' | 'cacheControl' | 'deadline'>,
  state: RequestState,
  response: GraphqlResponse,
  { cacheControl, crossOrigin, authenticate }: CachingOptions,
): Promise<GraphqlResponse> {
  if (response.code === 'METHOD_NOT_ALLOWED') state.headers = [...state.headers, 'allow', 'POST'];
  if (response.code !== null) return response;
  const etag = await runFromFirstPause(tagOf(response.body, state.mediaType), deadline);
  state.caching = {
    control: ofDocument ?? cacheControl,
    etag,
    vary: [crossOrigin.keptVary, authenticate === null ? withKeys : withCookies, ...(response.body.dependsOn ?? [])].join(', '),
  };
  return isKnown(headers, etag) ? { status: 304, code: null, body: nothing } : response;
}

/** Sends a response without a body, to a client that already has it. */
export function sendNotModified(exchange: Exchange, { caching, headers: added }: RequestState): void {
  if (exchange.isGone || caching === null) return;
  const headers = [
    'etag',
    caching.etag,
    'cache-control',
    caching.control,
    'vary',
    caching.vary,
    'x-request-id',
    exchange.requestId,
    ...added,
  ];
  exchange.respond(304, headers, null, false);
}

/** Weak: a response has the same tag whether compressed or not (RFC 9110, section 8.8.1). */
function* tagOf({ chunks }: ResponseBody, mediaType: string): Generator<void, string> {
  const hash = createHash('sha256').update(mediaType);
  let hashed = 0;
  for (const chunk of chunks) {
    for (let start = 0; start < chunk.length; start += pieceLength) {
      if (hashed >= pieceLength) {
        yield;
        hashed = 0;
      }
      const piece = chunk.subarray(start, start + pieceLength);
      hash.update(piece);
      hashed += piece.length;
    }
  }
  return `W/"${hash.digest('base64url').slice(0, 27)}"`;
}

/** Whether the client already has a response with this tag (RFC 9110, section 13.1.2). */
function isKnown(headers: IncomingHttpHeaders, etag: string): boolean {
  const known = headers['if-none-match'];
  if (known === undefined) return false;
  if (known.trim() === '*') return true;
  return known.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag.slice(2));
}

/** Checks a Cache-Control header from a setting or a trusted document. In: its value; out: an error if it is invalid. */
