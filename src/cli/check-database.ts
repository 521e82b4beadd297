/**
 * Checks a database before it is served, so that a wrong setting is reported in one clear line. In: the settings; out: facts about the
 * login role, or a `CommandError` with exit code 2; an `UnreachableError` if the database may become reachable later.
 */
import type { Client } from 'pg';
import { CommandError } from './command-error.ts';
import { connectOnce } from './connect-once.ts';

export interface DatabaseSettings {
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
    return { login, openTables: findings.open_tables, missingSearchPath: findings.missing_search_path };
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
  readonly missing_schemas: readonly string[];
  readonly missing_search_path: readonly string[];
  readonly open_tables: readonly string[];
}

const findingsText = `select current_setting('server_version_num')::int as version,
  l.rolname::text as login, l.rolsuper as is_superuser, l.rolbypassrls as bypasses,
  pg_has_role(l.oid, r.oid, 'member') as may_assume,
  array(select name from unnest($2::text[]) as name where not exists (select from pg_namespace where nspname = name)) as missing_schemas,
  array(select name from unnest($3::text[]) as name where not exists (select from pg_namespace where nspname = name)) as missing_search_path,
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
    throw new CommandError(`the server runs PostgreSQL ${Math.floor(version / 10_000)}; rowgraph needs 14 or newer`, 2);
  if (missing_schemas.length > 0) throw new CommandError(`--schemas names a schema that does not exist: ${missing_schemas.join(', ')}`, 2);
  if (may_assume === null) {
    throw new CommandError(`${roleFlag}: the role "${role}" does not exist ("rowgraph roles" prints the SQL that creates the roles)`, 2);
  }
  if (!may_assume) throw new CommandError(`${roleFlag}: ${login} cannot switch to ${role}; run: grant ${role} to ${login}`, 2);
}
