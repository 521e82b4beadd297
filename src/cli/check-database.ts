/**
 * Looks at a database before it is served, so that a wrong setting is one clear line. In: the settings; out: what is to be known of the login role,
 * or a `CommandError` with exit code 2; an `UnreachableError` where the database may be there later.
 */
import { Client } from 'pg';
import { CommandError } from './command-error.ts';

export interface DatabaseSettings {
  readonly databaseUrl: string;
  readonly schemas: readonly string[];
  /** A role that the login role must be able to assume, and the flag that named it. */
  readonly role: string;
  readonly roleFlag: string;
}

export interface DatabaseCheck {
  readonly login: { readonly role: string; readonly isSuperuser: boolean; readonly bypassesRowSecurity: boolean };
  /** Tables of the schemas that the role may write, none of whose rows a policy guards. `rowgraph doctor` says more of each. */
  readonly openTables: readonly string[];
}

/** The database cannot be reached, starts, stops, or has no connection to spare: nothing that other settings would help. */
export class UnreachableError extends CommandError {
  constructor(message: string, cause: unknown) {
    super(message, 1, cause);
    this.name = 'UnreachableError';
  }
}

const oldestVersion = 140_000;
const named = { application_name: 'rowgraph' };

/** Connects once. `patience` is how long that may take, in milliseconds. */
export async function checkDatabase({ databaseUrl, schemas, role, roleFlag }: DatabaseSettings, patience = 10_000): Promise<DatabaseCheck> {
  const client = new Client({ connectionString: databaseUrl, connectionTimeoutMillis: patience, query_timeout: patience, ...named });
  // A connection that breaks later is of no interest here, but takes the process down if nobody listens.
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<Findings>(findingsText, [role, schemas]);
    const findings = rows[0] as Findings;
    judge(findings, role, roleFlag);
    const login = { role: findings.login, isSuperuser: findings.is_superuser, bypassesRowSecurity: findings.bypasses };
    return { login, openTables: findings.open_tables };
  } catch (error) {
    if (error instanceof CommandError) throw error;
    const message = `cannot use the database ${withoutPassword(databaseUrl)}: ${messageOf(error)}`;
    throw isPassing(error) ? new UnreachableError(message, error) : new CommandError(message, 2, error);
  } finally {
    // A server that does not answer does not answer this either.
    void client.end().catch(() => undefined);
  }
}

interface Findings {
  readonly version: number;
  readonly login: string;
  readonly is_superuser: boolean;
  readonly bypasses: boolean;
  /** Null where there is no such role. */
  readonly may_assume: boolean | null;
  readonly missing_schemas: readonly string[];
  readonly open_tables: readonly string[];
}

const findingsText = `select current_setting('server_version_num')::int as version,
  l.rolname::text as login, l.rolsuper as is_superuser, l.rolbypassrls as bypasses,
  pg_has_role(l.oid, r.oid, 'member') as may_assume,
  array(select name from unnest($2::text[]) as name where not exists (select from pg_namespace where nspname = name)) as missing_schemas,
  array(
    select n.nspname || '.' || c.relname
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = any ($2::text[]) and c.relkind in ('r', 'p', 'f') and not c.relrowsecurity
      and not (r.rolsuper or r.rolbypassrls) and has_schema_privilege(r.oid, n.oid, 'usage')
      and (has_any_column_privilege(r.oid, c.oid, 'insert, update') or has_table_privilege(r.oid, c.oid, 'delete'))
    order by 1
  ) as open_tables
  from pg_roles l left join pg_roles r on r.rolname = $1 where l.rolname = session_user`;

function judge({ version, login, may_assume, missing_schemas }: Findings, role: string, roleFlag: string): void {
  if (version < oldestVersion)
    throw new CommandError(`the server is PostgreSQL ${Math.floor(version / 10_000)}; rowgraph needs 14 or newer`, 2);
  if (missing_schemas.length > 0) throw new CommandError(`--schemas names a schema that does not exist: ${missing_schemas.join(', ')}`, 2);
  if (may_assume === null) {
    throw new CommandError(`${roleFlag}: there is no role "${role}" ("rowgraph roles" prints the SQL that creates the roles)`, 2);
  }
  if (!may_assume) throw new CommandError(`${roleFlag}: ${login} may not become ${role}: grant ${role} to ${login}`, 2);
}

/** The URL as it may be shown. */
export function withoutPassword(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  url.password = '';
  url.searchParams.delete('password');
  return url.href;
}

/** What the network says of a server that is not there, or not there yet. */
const networkCodes: ReadonlySet<string> = new Set(
  'ECONNREFUSED ECONNRESET ECONNABORTED EPIPE ENOTFOUND EAI_AGAIN EAI_FAIL ETIMEDOUT EHOSTUNREACH EHOSTDOWN ENETUNREACH ENETDOWN ENOENT'.split(
    ' ',
  ),
);
/** What a server says that starts, stops, is recovering, or has no connection to spare; 08 is the class of broken connections, also at poolers. */
const passingStates = /^(57P0[1-5]|53300|08...)$/;

/** Whether the same settings may do later. */
function isPassing(error: unknown): boolean {
  const { message, code, errors } = error as Error & { readonly code?: string; readonly errors?: readonly unknown[] };
  if (errors !== undefined) return errors.every(isPassing);
  if (code !== undefined) return networkCodes.has(code) || passingStates.test(code);
  // What `pg` says of timeouts, and of a server that hangs up, has no code.
  return /timeout|Connection terminated/i.test(message);
}

/** Several addresses that refuse become an error with no message of its own. */
function messageOf(error: unknown): string {
  const { message, code, errors } = error as Error & { code?: string; errors?: readonly Error[] };
  return errors?.map((each) => each.message).join(', ') || message || code || String(error);
}
