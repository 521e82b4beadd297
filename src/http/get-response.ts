/**
 * What is particular to the response of a GET request: the headers by which caches keep it, and 304 for a client that has it already. In: the response
 * to a query; out: the response as it is sent.
 */
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Authenticate } from '../auth/look-up-caller.ts';
import type { ResponseBody } from '../engine/assemble-response.ts';
import type { CrossOrigin } from './cross-origin.ts';
import type { Exchange } from './exchange.ts';
import type { GraphqlResponse, RequestState } from './send-graphql-response.ts';

/** How a response may be kept. */
export interface Caching {
  /** The value of Cache-Control. */
  readonly control: string;
  readonly etag: string;
  /** The request headers that affect the response: without them a cache would give the rows of one caller to another. */
  readonly vary: string;
}

interface CachingOptions {
  readonly authenticate: Authenticate | null;
  readonly cacheControl: string;
  readonly crossOrigin: CrossOrigin;
}

/** The host names a project, and not all caches tell hosts apart by themselves. */
const withKeys = 'Host, Accept, apiKey, Authorization';
const withCookies = `${withKeys}, Cookie`;
const nothing: ResponseBody = { chunks: [], length: 0 };

/** Makes a response cacheable, unless it is an error. Notes in the state what its headers are to say. */
export function makeCacheable(
  { headers, cacheControl: ofDocument }: Exchange,
  state: RequestState,
  response: GraphqlResponse,
  { cacheControl, crossOrigin, authenticate }: CachingOptions,
): GraphqlResponse {
  if (response.code === 'METHOD_NOT_ALLOWED') state.headers = [...state.headers, 'allow', 'POST'];
  if (response.code !== null) return response;
  const etag = tagOf(response.body, state.mediaType);
  state.caching = {
    control: ofDocument ?? cacheControl,
    etag,
    vary: `${crossOrigin.keptVary}, ${authenticate === null ? withKeys : withCookies}`,
  };
  return isKnown(headers, etag) ? { status: 304, code: null, body: nothing } : response;
}

/** A response without a body, for a client that has it. */
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

/** Weak: a response has the same tag whether it is compressed or not (RFC 9110, section 8.8.1). */
function tagOf({ chunks }: ResponseBody, mediaType: string): string {
  const hash = createHash('sha256').update(mediaType);
  for (const chunk of chunks) hash.update(chunk);
  return `W/"${hash.digest('base64url').slice(0, 27)}"`;
}

/** Whether the client has a response of this tag (RFC 9110, section 13.1.2). */
function isKnown(headers: IncomingHttpHeaders, etag: string): boolean {
  const known = headers['if-none-match'];
  if (known === undefined) return false;
  if (known.trim() === '*') return true;
  return known.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag.slice(2));
}
