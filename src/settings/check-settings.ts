/**
 * The syntax of single settings. Each check throws an `Error` whose message completes a sentence that begins with the name of the setting.
 */
import { BlockList, isIP, isIPv6 } from 'node:net';

export function checkRedisUrl(value: string): void {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url?.protocol !== 'redis:' && url?.protocol !== 'rediss:') throw new Error('must be a URL such as redis://user:password@host:6379/0');
}

/** A path without a trailing slash. */
export function checkBasePath(value: string): void {
  if (!/^(\/[\w.~-]+)+$/.test(value)) throw new Error('must look like /api, without a trailing slash');
}

/** A name of at least two labels, in lower case. */
export function checkDomain(value: string): void {
  if (!/^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/.test(value)) throw new Error('must be a domain in lower case, such as example.com');
}

/** HS256 requires a key at least as long as its hash (RFC 7518, section 3.2). */
export function checkJwtSecret(value: string): void {
  if (value.length < 32) throw new Error('must have at least 32 characters');
}

export function checkMetricsKey(value: string): void {
  if (!/^[!-~]{16,}$/.test(value)) throw new Error('must have at least 16 ASCII characters and no spaces');
}

/** A path of names, as `readClaim` follows it. */
export function checkClaimPath(value: string): void {
  parseClaimPath(value);
}

/** An origin that a browser can send. */
export function checkCorsOrigin(value: string): void {
  try {
    checkOrigin(value);
  } catch {
    throw new Error('must be origins such as https://example.com, without a path, separated by commas');
  }
}

/** Addresses, networks and names of ranges. */
export function checkProxies(value: string): void {
  try {
    readProxyTrust(value);
  } catch {
    throw new Error('must be addresses, networks such as 10.0.0.0/8, loopback, linklocal or uniquelocal, separated by commas');
  }
}

/**
 * The names and indexes in a path: `.role`, `.realm_access.roles[0]`, `."https://example.com/claims".role`. Throws an `Error` that says
 * what was expected.
 */
export function parseClaimPath(path: string): readonly string[] {
  if (!/^(\.([\w-]+|"[^"]+")(\[\d+\])*)+$/.test(path))
    throw new Error('must be a path such as .role, .app_metadata.role, .roles[0] or ."https://example.com/role"');
  return [...path.matchAll(/"([^"]+)"|([\w-]+)/g)].map(([, quoted, plain]) => (quoted ?? plain)!);
}

/** Origins of browsers, and of apps with pages of their own, such as capacitor://localhost. */
const originPattern = /^[a-z][a-z\d+.-]*:\/\/[^\s/?#@*]+$/;

/**
 * Throws an `Error` unless it is `*`, `null` or an origin as browsers send it (HTML standard, serialization of an origin): anything else
 * would never match.
 */
export function checkOrigin(origin: string): void {
  if (origin === '*' || origin === 'null') return;
  const sent = URL.canParse(origin) && !origin.includes('*') ? new URL(origin).origin : 'null';
  // `URL` computes origins only for the schemes of the web.
  if (sent === origin || (sent === 'null' && originPattern.test(origin))) return;
  throw new Error(
    `${JSON.stringify(origin)} is not an origin that browsers send. Write it like ${sent === 'null' ? 'https://example.com' : sent}.`,
  );
}

/** Names of the usual address ranges of proxies. */
const namedRanges: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1/128'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
};

/** Whether an address belongs to a trusted proxy. */
export type ProxyTrust = (address: string) => boolean;

/**
 * Parses the setting for trusted proxies: true for any, or addresses, networks (10.0.0.0/8) and the names `loopback`, `linklocal` and
 * `uniquelocal`, separated by commas. Null if no proxy is trusted. Throws an `Error` that names any invalid part.
 */
export function readProxyTrust(setting: boolean | string): ProxyTrust | null {
  if (setting === false) return null;
  if (setting === true) return () => true;
  const trusted = new BlockList();
  for (const item of setting.split(',').map((part) => part.trim()))
    for (const range of namedRanges[item] ?? [item]) addRange(trusted, range);
  return (address) => trusted.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}

function addRange(list: BlockList, range: string): void {
  const [address = '', bits] = range.split('/');
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
  const most = family === 'ipv6' ? 128 : 32;
  const prefix = bits === undefined ? most : Number(bits);
  if (isIP(address) === 0 || (bits !== undefined && !/^\d{1,3}$/.test(bits)) || prefix > most)
    throw new Error(`${JSON.stringify(range)} is not a proxy address. Use addresses, networks such as 10.0.0.0/8, or ${nameList}.`);
  list.addSubnet(address, prefix, family);
}

const nameList = Object.keys(namedRanges).join(', ');

/** With a remote URL without TLS, anybody on the network path could decide who may sign tokens. */
export function checkKeysUrl(value: string): void {
  if (/^[a-z]+:\/\//i.test(value) && !isTrustworthy(value)) throw new Error('must begin with https:// if it is a URL');
}

/** A URL of a server to send requests to. */
export function checkServerUrl(value: string): void {
  if (!/^https?:\/\//.test(value) || !URL.canParse(value)) throw new Error('must be a URL such as https://example.com/graphql/v1');
}

/** What a header carries: a text without spaces or control characters. */
export function checkCredential(value: string): void {
  if (!/^[\x21-\x7e]+$/.test(value)) throw new Error('must not be empty, and have no spaces');
}

/** A reference, or a URL without a path. */
export function checkSupabaseProject(value: string): void {
  const isUrl = /^https?:\/\/[\w.-]+(:\d+)?\/?$/.test(value) && isTrustworthy(value);
  if (!/^[a-z0-9]{20}$/.test(value) && !isUrl)
    throw new Error('must be a reference of 20 letters and digits, or a URL such as https://abcdefghijklmnopqrst.supabase.co');
}

/** Whether nobody else on the network can answer at the URL. */
function isTrustworthy(value: string): boolean {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const isLocal = url !== undefined && /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
  return url?.protocol === 'https:' || (url?.protocol === 'http:' && isLocal);
}

/**
 * Throws an `Error` unless the value has the syntax of RFC 9111, section 5.2, which prevents the injection of other headers. `subject`
 * begins the message.
 */
export function checkCacheControl(value: string, subject = ''): void {
  if (!/^[\w-]+(=(\d+|"[^"\\\p{Cc}]*"))?(, *[\w-]+(=(\d+|"[^"\\\p{Cc}]*"))?)*$/u.test(value))
    throw new Error(`${subject}must be directives such as no-store or private, max-age=60`);
}

export type RequestPart = { readonly kind: 'claim' | 'header'; readonly key: string } | { readonly kind: 'headers' | 'method' | 'path' };

/** What every such name begins with, or is. */
export const requestSettingPrefixes = ['request.jwt.claim.', 'jwt.claims.', 'request.header', 'request.method', 'request.path'] as const;

/** In a list of settings: those that the definitions of the database read. */
export const automatic = 'auto';

/** PostgreSQL's rule for the names of settings that it does not know (`valid_custom_variable_name`). */
const settingName = /^[a-z_][\w$]*(\.[a-z_][\w$]*)+$/i;

/** The part of a request that a setting holds; null if it is not one of those above. Names are not case-sensitive. */
export function requestPart(name: string): RequestPart | null {
  if (!settingName.test(name)) return null;
  const [, , claim] = /^(request\.jwt\.claim|jwt\.claims)\.(.+)$/i.exec(name) ?? [];
  if (claim !== undefined) return { kind: 'claim', key: claim };
  const [, header] = /^request\.header\.(.+)$/i.exec(name) ?? [];
  if (header !== undefined) return { kind: 'header', key: header.toLowerCase() };
  const [, whole] = /^request\.(headers|method|path)$/i.exec(name) ?? [];
  return whole === undefined ? null : { kind: whole.toLowerCase() as 'headers' | 'method' | 'path' };
}

/** Throws an `Error` that says what was expected, unless the text may stand in a list of settings. */
export function checkRequestSetting(name: string): void {
  if (name !== automatic && requestPart(name) === null)
    throw new Error(
      'must be auto, request.headers, request.method, request.path, or such as request.jwt.claim.sub, jwt.claims.sub or request.header.origin',
    );
}

/** Throws an `Error` unless the text is the name of a header (RFC 9110, section 5.1). */
export function checkHeaderName(name: string): void {
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) throw new Error('must be the name of a header, such as x-tenant');
}

/**
 * The headers in `request.headers` unless others are listed. None of them is a credential; what a policy compares with another must be
 * listed.
 */
export const defaultRequestHeaders = ['accept-language', 'origin', 'referer', 'user-agent', 'x-client-info', 'x-forwarded-for'] as const;
