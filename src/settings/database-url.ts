/**
 * Connection URLs as libpq reads them: with several hosts, and with what the server must be
 * (https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-MULTIPLE-HOSTS). `pg` knows neither.
 */

const attributes = ['any', 'read-write', 'read-only', 'primary', 'standby', 'prefer-standby'] as const;
export type SessionAttributes = (typeof attributes)[number];

interface DatabaseUrl {
  /** A URL for each host, which `pg` can read. */
  readonly hosts: readonly string[];
  /** Null if the URL does not say. */
  readonly attributes: SessionAttributes | null;
  /** Whether to try the hosts in a random order. */
  readonly isBalanced: boolean;
}

/**
 * `pg` 8 checks certificates in these modes as in verify-full, and warns that version 9 will not. They stay as strict here, without a warning.
 */
const verifiedModes = /([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/;

/** Throws an `Error` whose message continues after the name of the setting. */
export function parseDatabaseUrl(text: string): DatabaseUrl {
  // Secrets that are read from files may end with a newline.
  const trimmed = text.trim();
  const url = trimmed.includes('uselibpqcompat=') ? trimmed : trimmed.replace(verifiedModes, '$1verify-full');
  const [, start, user = '', hostList = '', path = '', query = ''] =
    /^(postgres(?:ql)?:\/\/)((?:[^/?#]*@)?)([^/?#@]*)([^?#]*)((?:\?[^#]*)?)$/.exec(url) ?? [];
  // The path of a socket, perhaps.
  if (start === undefined) return { hosts: [url], attributes: null, isBalanced: false };
  const parameters = new URLSearchParams(query);
  const wanted = parameters.get('target_session_attrs');
  const balancing = parameters.get('load_balance_hosts') ?? 'disable';
  const known = attributes.find((each) => each === wanted);
  if (wanted !== null && known === undefined) throw new Error(`must have a target_session_attrs that is one of ${attributes.join(', ')}`);
  if (balancing !== 'disable' && balancing !== 'random') throw new Error('must have a load_balance_hosts that is disable or random');
  const hosts = hostList.includes(',')
    ? hostList.split(',').map((host) => `${start}${user}${host}${path}${query}`)
    : splitParameters(parameters)?.map((search) => `${start}${user}${hostList}${path}?${search}`);
  return { hosts: hosts ?? [url], attributes: known ?? null, isBalanced: balancing === 'random' };
}

/** The query for each host of the parameter `host`, with its own `port`; null if there are not several. */
function splitParameters(parameters: URLSearchParams): readonly string[] | null {
  const hosts = parameters.get('host')?.split(',') ?? [];
  if (hosts.length < 2) return null;
  const ports = parameters.get('port')?.split(',') ?? [];
  if (ports.length > 1 && ports.length !== hosts.length) throw new Error('must have one port for all hosts, or one for each');
  return hosts.map((host, index) => {
    const own = new URLSearchParams(parameters);
    own.set('host', host);
    const port = ports[index] ?? ports[0];
    if (port !== undefined) own.set('port', port);
    return own.toString();
  });
}

const example = 'must be a URL such as postgres://user@host:5432/name';
const escapes = 'in a password, write @ as %40, / as %2F, # as %23, ? as %3F and % as %25';

/** A URL of PostgreSQL, perhaps with several hosts. */
export function checkDatabaseUrl(value: string): void {
  for (const host of parseDatabaseUrl(value).hosts) {
    if (!/^postgres(ql)?:/i.test(host)) throw new Error(example);
    const url = URL.canParse(host) ? new URL(host) : undefined;
    // An @ after the host is what follows a password with such characters.
    if (url === undefined || `${url.pathname}${url.hash}`.includes('@')) throw new Error(`${example}; ${escapes}`);
  }
}

/** A URL of standbys. */
export function checkReplicaUrl(value: string): void {
  checkDatabaseUrl(value);
  const wanted = parseDatabaseUrl(value).attributes;
  if (wanted === 'primary' || wanted === 'read-write') throw new Error(`must be of standbys, not with target_session_attrs=${wanted}`);
}

/** The name of a host in messages: `host:port`. */
export function hostOf(url: string): string {
  const { hostname, port, searchParams } = URL.canParse(url) ? new URL(url) : new URL('postgres://localhost');
  return `${searchParams.get('host') ?? (decodeURIComponent(hostname) || 'localhost')}:${searchParams.get('port') ?? (port || '5432')}`;
}

/** The URL without its password. */
export function withoutPassword(databaseUrl: string): string {
  // One with several hosts is none to Node.
  if (!URL.canParse(databaseUrl)) {
    const withoutUser = databaseUrl.replace(/^(\w+:\/\/[^/?#:@]*):[^/?#]*@/, '$1@');
    return withoutUser.replace(/([?&])password=[^&#]*&?/g, '$1').replace(/[?&]$/, '');
  }
  const url = new URL(databaseUrl);
  url.password = '';
  url.searchParams.delete('password');
  return url.href;
}
