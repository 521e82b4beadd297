/**
 * Sends the responses of the GraphQL endpoint: compressed if they are large and the client accepts that, cacheable if the request was a
 * GET.
 */
import { createHash } from 'node:crypto';
import { runFromFirstPause } from '../../budget/turns.ts';
import type { ResponseBody } from '../../engine/run/response.ts';
import type { ErrorCode } from '../../errors/codes.ts';
import { type AcceptedEncodings, type ContentEncoding, compressBody, compressionThreshold, negotiateEncoding } from './compress-body.ts';
import { headersOfError } from './error-response.ts';
import type { Exchange } from './exchange.ts';
import type { MediaType } from './preferences.ts';

/** What is added to a response while its request is handled. */
export interface ResponseState {
  mediaType: MediaType;
  /** Headers that CORS and rate limiting add. */
  headers: readonly string[];
  /** Null if the response must not be cached. */
  caching: Caching | null;
}

interface Caching {
  /** The value of Cache-Control. */
  readonly control: string;
  readonly etag: string;
  readonly vary: string;
}

export interface GraphqlResponse {
  readonly status: number;
  readonly code: ErrorCode | null;
  readonly body: ResponseBody;
}

/** The request headers that affect a response. Host may select a project, and not all caches distinguish hosts. */
const withKeys = 'Host, Accept, apiKey, Authorization';
const nothing: ResponseBody = { chunks: [], length: 0 };
/** In bytes: after so many, hashing may pause. */
const pieceLength = 256 * 1024;

/** Sends a response. `vary` are the request headers that affect it. Returns a promise only if there is something to wait for. */
export function sendGraphqlResponse(
  exchange: Exchange,
  state: ResponseState,
  response: GraphqlResponse,
  vary: string,
): Promise<void> | undefined {
  if (exchange.isGone) return undefined;
  const { status, code, body } = response;
  if (status === 304) exchange.respond(304, listCommonHeaders(exchange, state, vary), null, false);
  else {
    const accepted = exchange.headers['accept-encoding'];
    const encodings = typeof accepted === 'string' && mayCompress(accepted, body) ? negotiateEncoding(accepted) : null;
    if (encodings !== null && encodings.best !== null && (body.length >= compressionThreshold || !encodings.allowsIdentity))
      return sendCompressed(exchange, state, response, encodings.best, encodings, vary);
    exchange.respond(status, listHeaders(exchange, state, response, null, vary), body, code === 'REQUEST_TIMEOUT');
  }
  return undefined;
}

/** A small response is compressed only if the client rejects it otherwise, for which its header must have a quality. */
function mayCompress(accepted: string, { length }: ResponseBody): boolean {
  return length >= compressionThreshold || accepted.includes('=');
}

async function sendCompressed(
  exchange: Exchange,
  state: ResponseState,
  response: GraphqlResponse,
  encoding: ContentEncoding,
  { allowsIdentity }: AcceptedEncodings,
  vary: string,
): Promise<void> {
  // A client that rejects uncompressed responses has to wait for the compression.
  const compressed = await compressBody(response.body, encoding, allowsIdentity ? exchange.deadline : null);
  if (compressed !== null) exchange.hold(compressed.length - response.body.length);
  // The client may have disconnected meanwhile; writing would be harmless but useless.
  if (exchange.isGone) return;
  const sent = compressed === null ? response : { ...response, body: compressed };
  const headers = listHeaders(exchange, state, sent, compressed === null ? null : encoding, vary);
  exchange.respond(sent.status, headers, sent.body, sent.code === 'REQUEST_TIMEOUT');
}

/** Alternating names and values, because Node writes a flat list fastest. */
function listHeaders(
  exchange: Exchange,
  state: ResponseState,
  { code, body }: GraphqlResponse,
  encoding: ContentEncoding | null,
  vary: string,
): string[] {
  const type = `${state.mediaType}; charset=utf-8`;
  const headers = ['content-type', type, 'content-length', String(body.length), 'x-content-type-options', 'nosniff'];
  headers.push(...listCommonHeaders(exchange, state, vary));
  if (code !== null) headers.push(...headersOfError(code));
  if (encoding !== null) headers.push('content-encoding', encoding);
  return headers;
}

function listCommonHeaders({ requestId }: Exchange, { caching, headers: added }: ResponseState, vary: string): string[] {
  const headers = ['cache-control', caching?.control ?? 'no-store', 'vary', caching?.vary ?? vary, 'x-request-id', requestId, ...added];
  if (caching !== null) headers.push('etag', caching.etag);
  return headers;
}

interface CachingOptions {
  readonly cacheControl: string;
  /** The request headers that affect a response beside those with keys. */
  readonly vary: string;
  readonly usesCookies: boolean;
}

/**
 * Makes the response to a GET request cacheable, unless it is an error; 304 if the client has it already. Rejects with TIMEOUT or CANCELLED
 * if the request is stopped meanwhile.
 */
export async function makeCacheable(
  { headers, cacheControl: ofDocument, deadline }: Pick<Exchange, 'headers' | 'cacheControl' | 'deadline'>,
  state: ResponseState,
  response: GraphqlResponse,
  { cacheControl, vary, usesCookies }: CachingOptions,
): Promise<GraphqlResponse> {
  if (response.code === 'METHOD_NOT_ALLOWED') state.headers = [...state.headers, 'allow', 'POST'];
  if (response.code !== null) return response;
  const etag = await runFromFirstPause(tagOf(response.body, state.mediaType), deadline);
  const names = [vary, withKeys, ...(usesCookies ? ['Cookie'] : []), ...(response.body.dependsOn ?? [])];
  state.caching = { control: ofDocument ?? cacheControl, etag, vary: names.join(', ') };
  return matchesTag(headers['if-none-match'], etag) ? { status: 304, code: null, body: nothing } : response;
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

/** Whether the If-None-Match header names this tag (RFC 9110, section 13.1.2). */
function matchesTag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header.trim() === '*') return true;
  return header.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag.slice(2));
}
