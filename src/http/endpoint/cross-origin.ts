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
  /** The headers of the response to a preflight request; null for other requests. */
  readonly preflightHeaders: (headers: IncomingHttpHeaders) => readonly string[] | null;
}

const noHeaders: readonly string[] = [];
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
    const { origin } = headers;
    // Without both of these headers it is not a preflight request.
    if (origins.length === 0 || origin === undefined || headers['access-control-request-method'] === undefined) return null;
    const allowed = headersFor(origin);
    if (allowed === noHeaders) return noHeaders;
    const requested = headers['access-control-request-headers'];
    const named = typeof requested === 'string' ? ['access-control-allow-headers', requested] : [];
    return [...allowed, 'access-control-allow-methods', 'GET, POST', ...named, 'access-control-max-age', maxAge];
  };
  const acceptsAgentsOf = (origin: string): boolean => byOrigin.has(origin) || (isAny && isLocal(origin));
  const withOrigin = 'Accept-Encoding, Origin';
  const keptVary = origins.length === 0 ? 'Accept-Encoding' : withOrigin;
  return { headersFor, acceptsAgentsOf, vary: isAny || origins.length === 0 ? 'Accept-Encoding' : withOrigin, keptVary, preflightHeaders };
}

/** Whether an origin is a page that this machine serves itself. */
function isLocal(origin: string): boolean {
  return /^https?:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/.test(origin);
}
