/**
 * What is special about the response to a GET request: the headers that let caches keep it, and 304 for a client that has it already. In:
 * the response to a query; out: the response as it is sent.
 */
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Authenticate } from '../auth/look-up-caller.ts';
import { runFromFirstPause } from '../budget/turns.ts';
import type { ResponseBody } from '../engine/run/response.ts';
import type { CrossOrigin } from './cross-origin.ts';
import type { Exchange } from './exchange.ts';
import type { GraphqlResponse, RequestState } from './send-graphql-response.ts';

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
