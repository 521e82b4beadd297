/**
 * Lets pages of other origins read responses (Fetch standard, CORS protocol). Keys are sent in headers and not in cookies, so no response
 * allows credentials.
 */

import type { IncomingHttpHeaders } from 'node:http';
import { checkOrigin } from '../../settings/check-settings.ts';

export interface CrossOrigin {
  /** The headers of a response to a request from this origin, as alternating names and values. */
  readonly headersFor: (origin: string | undefined) => readonly string[];
  /**
   * Whether a page of this origin may send messages of agents. `*` stands for pages of this machine only: the Model Context Protocol demands
   * that servers refuse others, which may have pointed a host name of theirs at this server (DNS rebinding).
   */
  readonly acceptsAgentsOf: (origin: string) => boolean;
  /** The Vary header of the endpoint's responses: the request headers that affect them. */
  readonly vary: string;
  /**
   * The same for responses that caches may keep: a response to a request without an Origin lacks the headers that pages of other origins
   * need.
   */
  readonly keptVary: string;
  /** Whether a page of the origin in these headers may open a WebSocket, for which browsers do not ask. */
  readonly allows: (headers: IncomingHttpHeaders) => boolean;
  /** Whether the headers come from a page of another origin than the server's. */
  readonly isForeign: (headers: IncomingHttpHeaders) => boolean;
  /** The headers of the response to a preflight request; null for other requests. */
  readonly preflightHeaders: (headers: IncomingHttpHeaders) => readonly string[] | null;
}

const noHeaders: readonly string[] = [];
/** For event streams that are reserved (`live/reserved-streams.ts`). */
const furtherMethods = ['PUT', 'DELETE'];
/** In seconds; browsers cache preflight responses for two hours at most. */
const maxAge = '7200';

/** `*` is any origin; an empty list is none. Throws an `Error` as `checkOrigin` does. */
export function createCrossOrigin(origins: readonly string[]): CrossOrigin {
  for (const origin of origins) checkOrigin(origin);
  const isAny = origins.includes('*');
  const exposed = ['access-control-expose-headers', 'x-request-id, retry-after, idempotency-replayed'];
  const byOrigin = new Map(origins.map((origin) => [origin, ['access-control-allow-origin', origin, ...exposed]]));
  const headersFor = (origin: string | undefined): readonly string[] =>
    origin === undefined ? noHeaders : (byOrigin.get(isAny ? '*' : origin) ?? noHeaders);
  const preflightHeaders = (headers: IncomingHttpHeaders): readonly string[] | null => {
    const { origin, 'access-control-request-method': method } = headers;
    // Without both of these headers it is not a preflight request.
    if (origins.length === 0 || origin === undefined || method === undefined) return null;
    const allowed = headersFor(origin);
    if (allowed === noHeaders) return noHeaders;
    const requested = headers['access-control-request-headers'];
    const named = typeof requested === 'string' ? ['access-control-allow-headers', requested] : [];
    const methods = ['GET', 'POST', ...(furtherMethods.includes(method) ? furtherMethods : [])];
    return [...allowed, 'access-control-allow-methods', methods.join(', '), ...named, 'access-control-max-age', maxAge];
  };
  const acceptsAgentsOf = (origin: string): boolean => byOrigin.has(origin) || (isAny && isLocal(origin));
  const allows = (headers: IncomingHttpHeaders): boolean => !isForeign(headers) || isAny || byOrigin.has(headers.origin!);
  const withOrigin = 'Accept-Encoding, Origin';
  const keptVary = origins.length === 0 ? 'Accept-Encoding' : withOrigin;
  return {
    headersFor,
    acceptsAgentsOf,
    vary: isAny || origins.length === 0 ? 'Accept-Encoding' : withOrigin,
    keptVary,
    allows,
    isForeign,
    preflightHeaders,
  };
}

/** Whether an origin is a page that this machine serves itself. */
function isLocal(origin: string): boolean {
  return /^https?:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/.test(origin);
}

/** The scheme is left out: a proxy in front may end TLS. */
function isForeign({ origin, host = '' }: IncomingHttpHeaders): boolean {
  return origin !== undefined && origin.toLowerCase().replace(/^https?:\/\//, '') !== host.toLowerCase();
}
