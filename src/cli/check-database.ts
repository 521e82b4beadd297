/** Checks a database before it is served, so that a wrong setting is reported in one clear line. */
import type { Client } from 'pg';
import { Hosts } from '../database/hosts.ts';
import { ApiError } from '../errors/api-error.ts';
import type { ErrorCode } from '../errors/codes.ts';
import { withoutPassword } from '../settings/database-url.ts';
import { CommandError } from './command-error.ts';

interface DatabaseSettings {
  readonly databaseUrl: string;
  readonly schemas: readonly string[];
  readonly extraSearchPath?: readonly string[];
  /** A role that the login role must be able to switch to, and the flag that named it. */
  readonly role: string;
  readonly roleFlag: string;
}

export interface DatabaseCheck {
  readonly login: { readonly role: string; readonly isSuperuser: boolean; readonly bypassesRowSecurity: boolean };
  /** Tables of the schemas that the role may write although no policy guards their rows. `rowgraph doctor` gives details. */
  readonly openTables: readonly string[];
  /** Schemas of the extra search path that do not exist. */
  readonly missingSearchPath: readonly string[];
  /** How many connections the server allows the login role. */
  readonly mostConnections: number;
  /** Why clients find nothing in the API: there is nothing, or neither role has a privilege on a table; null if they do. */
  readonly emptiness: 'no-objects' | 'no-privileges' | null;
}

const oldestVersion = 140_000;

/** Connects once. `patience` limits how long that may take, in milliseconds. */
export function checkDatabase(
  { databaseUrl, schemas, extraSearchPath = [], role, roleFlag }: DatabaseSettings,
  patience?: number,
): Promise<DatabaseCheck> {
  const check = async (client: Client): Promise<DatabaseCheck> => {
    const { rows } = await client.query<Findings>(findingsText, [role, schemas, extraSearchPath]);
    const findings = rows[0] as Findings;
    judge(findings, role, roleFlag);
    const login = { role: findings.login, isSuperuser: findings.is_superuser, bypassesRowSecurity: findings.bypasses };
    return {
      login,
      openTables: findings.open_tables,
      missingSearchPath: findings.missing_search_path,
      mostConnections: findings.most_connections,
      emptiness: emptinessOf(findings),
    };
  };
  return connectOnce(databaseUrl, check, patience);
}

interface Findings {
  readonly version: number;
  readonly login: string;
  readonly is_superuser: boolean;
  readonly bypasses: boolean;
  /** Null if the role does not exist. */
  readonly may_assume: boolean | null;
  /** Ordinary roles without a login that the login role may switch to, for when the role does not exist. */
  readonly others: readonly string[];
  readonly missing_schemas: readonly string[];
  readonly missing_search_path: readonly string[];
  readonly open_tables: readonly string[];
  readonly most_connections: number;
  readonly has_tables: boolean;
  readonly has_routines: boolean;
  /** Whether the role or `authenticated` has a privilege on a table. */
  readonly is_granted: boolean;
}

/** Tables and what is like them, as `c`, in the schemas, as `n`. */
const tablesOfSchemas = `pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = any ($2::text[]) and c.relkind in ('r', 'p', 'v', 'm', 'f')`;

const findingsText = `select current_setting('server_version_num')::int as version,
  l.rolname::text as login, l.rolsuper as is_superuser, l.rolbypassrls as bypasses,
  pg_has_role(l.oid, r.oid, 'member') as may_assume,
  array(
    select o.rolname::text from pg_roles o
    where r.oid is null and not (o.rolcanlogin or o.rolsuper or o.rolbypassrls or o.rolcreaterole or o.rolcreatedb or o.rolreplication)
      and o.rolname !~ '^pg_' and pg_has_role(l.oid, o.oid, 'member')
    order by 1 limit 5
  ) as others,
  array(select name from unnest($2::text[]) as name where not exists (select from pg_namespace where nspname = name)) as missing_schemas,
  array(select name from unnest($3::text[]) as name where not exists (select from pg_namespace where nspname = name)) as missing_search_path,
  array(
    select n.nspname || '.' || c.relname
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = any ($2::text[]) and c.relkind in ('r', 'p', 'f') and not c.relrowsecurity
      and not (r.rolsuper or r.rolbypassrls) and has_schema_privilege(r.oid, n.oid, 'usage')
      and (has_any_column_privilege(r.oid, c.oid, 'insert, update') or has_table_privilege(r.oid, c.oid, 'delete'))
    order by 1
  ) as open_tables,
  least(
    current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
      - coalesce(current_setting('reserved_connections', true), '0')::int,
    (select nullif(d.datconnlimit, -1) from pg_database d where d.datname = current_database()),
    nullif(l.rolconnlimit, -1)
  ) as most_connections,
  exists (select from ${tablesOfSchemas}) as has_tables,
  exists (
    select from pg_proc p join pg_namespace n on n.oid = p.pronamespace
    where n.nspname = any ($2::text[]) and not exists (
      select from pg_depend d where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e'
    )
      and p.prorettype not in ('trigger'::regtype, 'event_trigger'::regtype)
  ) as has_routines,
  exists (
    select from pg_roles a, ${tablesOfSchemas}
      and a.rolname in ($1, 'authenticated') and has_schema_privilege(a.oid, n.oid, 'usage')
      and (has_any_column_privilege(a.oid, c.oid, 'select, insert, update') or has_table_privilege(a.oid, c.oid, 'delete'))
  ) as is_granted
  from pg_roles l left join pg_roles r on r.rolname = $1 where l.rolname = session_user`;

function emptinessOf({ has_routines, has_tables, is_granted }: Findings): DatabaseCheck['emptiness'] {
  if (has_routines || is_granted) return null;
  return has_tables ? 'no-privileges' : 'no-objects';
}

function judge({ version, login, may_assume, others, missing_schemas }: Findings, role: string, roleFlag: string): void {
  if (version < oldestVersion)
    throw new CommandError(`the server runs PostgreSQL ${Math.floor(version / 10_000)}; rowgraph needs 14 or newer`, 2);
  if (missing_schemas.length > 0) throw new CommandError(`--schemas names a schema that does not exist: ${missing_schemas.join(', ')}`, 2);
  if (may_assume === null) {
    const name = others.length === 0 ? '' : `; ${login} may use ${others.join(', ')}, which ${roleFlag} can name`;
    throw new CommandError(
      `${roleFlag}: the role "${role}" does not exist ("rowgraph roles" prints the SQL that creates the roles)${name}`,
      2,
    );
  }
  if (!may_assume) throw new CommandError(`${roleFlag}: ${login} cannot switch to ${role}; run: grant ${role} to ${login}`, 2);
}

/** The database cannot be reached, is starting or stopping, or has no free connection: changing settings would not help. */
export class UnreachableError extends CommandError {
  constructor(message: string, cause: unknown) {
    super(message, 1, cause);
    this.name = 'UnreachableError';
  }
}

/** The database has been reached, but its schema cannot be loaded now: that takes too long, or has no connection. */
export class SlowSchemaError extends UnreachableError {}

/** Codes of errors with which loading the schema fails although it may succeed later. */
const passingCodes: ReadonlySet<ErrorCode> = new Set(['TIMEOUT', 'OVERLOADED', 'CONFLICT']);

interface LoadedDatabase {
  readonly databaseUrl: string;
  readonly schemaTriggers: boolean;
  readonly login: string;
}

/** Explains why the schema of a database that has been checked cannot be loaded; returns other errors unchanged. */
export function explainLoadError(error: unknown, { databaseUrl, schemaTriggers, login }: LoadedDatabase): unknown {
  if (!(error instanceof ApiError)) return error;
  // It was reachable a moment ago.
  if (error.code === 'DATABASE_UNAVAILABLE') return new UnreachableError(error.message, error);
  if (schemaTriggers && error.code === 'PERMISSION_DENIED') {
    const remedy = 'run "rowgraph extension apply" once as a superuser, and leave this setting off';
    return new CommandError(`--schema-triggers: ${login} cannot install event triggers (${error.message}); ${remedy}`, 2, error);
  }
  const message = `cannot load the schema of ${withoutPassword(databaseUrl)}: ${error.message}`;
  return passingCodes.has(error.code) ? new SlowSchemaError(message, error) : new CommandError(message, 1, error);
}

/**
 * Connects, does some work, and disconnects. `patience` limits connecting and each query, in milliseconds. Rejects with a `CommandError`:
 * with exit code 2 if the settings are wrong, or with `UnreachableError` if the same settings may work later.
 */
export async function connectOnce<T>(databaseUrl: string, work: (client: Client) => Promise<T>, patience = 10_000): Promise<T> {
  const { Client } = await import('pg');
  const clients: Client[] = [];
  const connect = async (url: string): Promise<Client> => {
    const client = makeClient(Client, url, patience);
    clients.push(client);
    // A connection that fails later does not matter here, but without a listener it would end the process.
    client.on('error', () => undefined);
    await client.connect();
    return client;
  };
  try {
    return await work(await new Hosts(databaseUrl).connect(connect));
  } catch (error) {
    if (error instanceof CommandError) throw error;
    const message = describeFailure(databaseUrl, error);
    throw isPassing(error) ? new UnreachableError(message, error) : new CommandError(message, 2, error);
  } finally {
    // An unresponsive server never confirms the end.
    for (const client of clients) void client.end().catch(() => undefined);
  }
}

/** `pg` reads the URL and the files that it names, such as `sslrootcert`. Errors in them are permanent. */
function makeClient(Client: typeof import('pg').Client, databaseUrl: string, patience: number): Client {
  const bounds = { connectionTimeoutMillis: patience, query_timeout: patience };
  try {
    return new Client({ connectionString: databaseUrl, application_name: 'rowgraph', ...bounds });
  } catch (error) {
    throw new CommandError(describeFailure(databaseUrl, error), 2, error);
  }
}

function describeFailure(databaseUrl: string, error: unknown): string {
  return `cannot use the database ${withoutPassword(databaseUrl)}: ${messageOf(error)}`;
}

/** Network errors of a server that is not running, or not yet. */
const networkCodes: ReadonlySet<string> = new Set(
  'ECONNREFUSED ECONNRESET ECONNABORTED EPIPE ENOTFOUND EAI_AGAIN EAI_FAIL ETIMEDOUT EHOSTUNREACH EHOSTDOWN ENETUNREACH ENETDOWN ENOENT'.split(
    ' ',
  ),
);
/**
 * States of a server that is starting, stopping or recovering, or has no connection to spare; class 08 is for broken connections, including
 * those of poolers.
 */
const passingStates = /^(57P0[1-5]|53300|08...)$/;

/** PgBouncer's messages about unknown names and unsupported settings. It reports all of its errors with one code (08P01). */
const permanentMessages = /^(no such (database|user)|unsupported startup parameter|bouncer config error)/;

/** Whether the same settings may work later. */
function isPassing(error: unknown): boolean {
  const { message, code, errors } = error as Error & { readonly code?: string; readonly errors?: readonly unknown[] };
  if (errors !== undefined) return errors.every(isPassing);
  if (code === '08P01' && permanentMessages.test(message)) return false;
  if (code !== undefined) return networkCodes.has(code) || passingStates.test(code);
  // `pg`'s errors about timeouts and about servers that hang up have no code.
  return /timeout|Connection terminated/i.test(message);
}

/**
 * OpenSSL's error codes for a certificate whose authority it does not know (https://nodejs.org/api/tls.html#x509-certificate-error-codes).
 */
const unknownAuthority =
  /^(UNABLE_TO_GET_ISSUER_CERT(_LOCALLY)?|UNABLE_TO_VERIFY_LEAF_SIGNATURE|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN)$/;

/** If several addresses refuse the connection, the error has no message of its own. */
function messageOf(error: unknown): string {
  const { message, code, errors } = error as Error & { code?: string; errors?: readonly Error[] };
  if (code !== undefined && unknownAuthority.test(code))
    return 'its certificate is signed by an unknown authority; add the certificate of that authority to the URL: sslrootcert=FILE';
  return errors?.map((each) => each.message).join(', ') || message || code || String(error);
}
