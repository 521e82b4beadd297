/**
 * The project that a request is for: the first label of its host, if that looks like a reference. X-Forwarded-Host is ignored: clients can
 * send it through proxies that do not set it.
 */
import { ApiError, quote } from '../errors/api-error.ts';

/** 20 letters and digits. */
const referencePattern = /^[a-z0-9]{20}$/;

/** Whether a text is a reference, in lower case. */
export function isReference(text: string): boolean {
  return referencePattern.test(text);
}

/** RFC 9110, section 7.2: a name or an address, optionally with a port. Names of containers may have underscores. */
const hostPattern = /^(?:\[[0-9a-f:.]+\]|([a-z0-9_-]+(?:\.[a-z0-9_-]+)*)\.?)(?::\d{0,5})?$/;
const longestHost = 261;

/** The parts of a request that contain its host. */
interface RequestTarget {
  readonly url: string;
  readonly headers: { readonly host?: string | undefined };
}

/**
 * The reference in the host of a request; null if there is none. If a domain is configured, the host must be a direct subdomain of it.
 * Throws BAD_REQUEST for a malformed host.
 */
export function readReference({ url, headers }: RequestTarget, domain: string | null): string | null {
  const target = authorityOf(url)?.toLowerCase();
  const host = target ?? headers.host?.toLowerCase() ?? '';
  // RFC 9112, section 3.2: empty if the target has no host. A target that is a whole URL must have one.
  if (host === '' && target === undefined) return null;
  const name = host.length > longestHost ? null : hostPattern.exec(host);
  if (name === null) {
    const place = target === undefined ? 'Host header' : 'host in the request target';
    throw new ApiError('BAD_REQUEST', `The ${place} ${quote(host)} is malformed. Send a host name and, if needed, a port.`);
  }
  // An IPv6 address in brackets.
  if (name[1] === undefined) return null;
  const end = name[1].indexOf('.');
  if (end === -1 || (domain !== null && name[1].slice(end + 1) !== domain)) return null;
  const label = name[1].slice(0, end);
  return isReference(label) ? label : null;
}

/**
 * RFC 9112, section 3.2.2: if the target is a whole URL, its host counts and not the header. It is read literally: a `URL` would decode it, and
 * leave out a user.
 */
function authorityOf(url: string): string | undefined {
  return /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(url)?.[1];
}
