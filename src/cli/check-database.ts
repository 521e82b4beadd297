/** Looks at a database before it is served, so that a wrong setting is told in one line. In: the settings; out: nothing, or a `CommandError`. */
import { Client } from 'pg';
import { CommandError } from './command-error.ts';

export interface DatabaseSettings {
  readonly databaseUrl: string;
  readonly schemas: readonly string[];
  /** A role that the login role must be able to assume, and the flag that named it. */
  readonly role: string;
  readonly roleFlag: string;
}

const oldestVersion = 140_000;

/** Connects once. */
export async function checkDatabase({ databaseUrl, schemas, role, roleFlag }: DatabaseSettings): Promise<void> {
  const client = new Client({ connectionString: databaseUrl, connectionTimeoutMillis: 10_000, application_name: 'rowgraph' });
  // A connection that breaks later is of no interest here, but takes the process down if nobody listens.
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<Findings>(findingsText, [role, schemas]);
    if (rows[0]) judge(rows[0], role, roleFlag);
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(`cannot use the database ${withoutPassword(databaseUrl)}: ${messageOf(error)}`, 2, error);
  } finally {
    await client.end().catch(() => undefined);
  }
}

interface Findings {
  readonly version: number;
  readonly login: string;
  /** Null where there is no such role. */
  readonly may_assume: boolean | null;
  readonly missing_schemas: readonly string[];
}

const findingsText = `select current_setting('server_version_num')::int as version, current_user::text as login,
  (select pg_has_role(current_user, oid, 'member') from pg_roles where rolname = $1) as may_assume,
  array(select name from unnest($2::text[]) as name where not exists (select from pg_namespace where nspname = name)) as missing_schemas`;

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

/** Several addresses that refuse become an error with no message of its own. */
function messageOf(error: unknown): string {
  const { message, code, errors } = error as Error & { code?: string; errors?: readonly Error[] };
  return errors?.map((each) => each.message).join(', ') || message || code || String(error);
}
