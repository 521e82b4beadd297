/**
 * What the page of `rowgraph dev` may do beyond the endpoint: sign tokens for any caller that the developer chooses, and explain requests.
 */
import { expiryOf, signKey } from '../../auth/sign-key.ts';
import { ApiError } from '../../errors/api-error.ts';
import type { CallerChoices, PageBackend, SavedOperations, SignedToken } from '../../http/routes/graphiql-page.ts';
import type { AccessReport, Caller, DoctorReport, Explanation, Finding, GraphQLRequest, Rowgraph } from '../../index.ts';
import { identifier, render } from '../../sql/sql.ts';
import { developmentSettings } from '../command-settings.ts';
import type { DatabaseReader } from './development-database.ts';

/** What the page works with at the moment. */
export interface DevelopmentSubject {
  readonly reader: DatabaseReader;
  readonly graph: Rowgraph;
  readonly jwtSecret: string;
}

/** Gives the current one. */
interface SubjectSource {
  readonly current: DevelopmentSubject;
  /** Differs after each change of the schema. */
  readonly schemaVersion: string;
}

interface RoleSettings {
  readonly anonRole: string;
  /**
   * A superuser may become anybody, so with such a login only roles with privileges on relations of these schemas are listed, of those that can
   * log in only with privileges of their own; null lists all.
   */
  readonly schemas: readonly string[] | null;
}

const lifetime = '1 hour';
/** What `dev` searches without being asked to, for the extensions of Supabase's projects: no finding if it is missing. */
const defaultSearchPath: readonly string[] = developmentSettings.defaults.extraSearchPath ?? [];

/** The roles that requests may run as. Roles with special privileges are excluded (docs/tokens.md). */
const rolesText = `with grantees as (
    select c.relowner as role from pg_class c where c.relnamespace in (select oid from pg_namespace where nspname = any ($2))
    union
    select acl.grantee from pg_class c, aclexplode(c.relacl) acl
    where c.relnamespace in (select oid from pg_namespace where nspname = any ($2))
    union
    select acl.grantee from pg_class c join pg_attribute a on a.attrelid = c.oid, aclexplode(a.attacl) acl
    where c.relnamespace in (select oid from pg_namespace where nspname = any ($2))
  )
  select rolname as name from pg_roles
  where rolname !~ '^pg_' and rolname not in (session_user, 'authenticator')
    and not (rolsuper or rolcreaterole or rolcreatedb or rolreplication) and pg_has_role(session_user, oid, 'MEMBER')
    and (
      $2::text[] is null or rolname = any ($1) or not (select rolsuper from pg_roles where rolname = session_user)
      or exists (select from grantees where role = oid or (role <> 0 and not rolcanlogin and pg_has_role(oid, role, 'USAGE')))
    )
  order by array_position($1, rolname::text), rolname`;

export class DevelopmentBackend implements PageBackend {
  readonly #served: SubjectSource;
  readonly #settings: RoleSettings;
  readonly operations: SavedOperations | null;

  constructor(served: SubjectSource, settings: RoleSettings, operations: SavedOperations | null) {
    this.#served = served;
    this.#settings = settings;
    this.operations = operations;
  }

  async listCallers(): Promise<CallerChoices> {
    const { reader } = this.#served.current;
    return { roles: await listRoles(reader, this.#settings), users: await listUsers(reader) };
  }

  async sign({ role, claims = {} }: Caller): Promise<SignedToken> {
    await this.#checkRole(role);
    const expiresAt = expiryOf(lifetime);
    const token = await signKey(this.#served.current.jwtSecret, role, undefined, { ...claims, exp: expiresAt });
    return { token, expiresAt };
  }

  async explain(request: GraphQLRequest, { role, claims = {} }: Caller, mode: 'plan' | 'analyze'): Promise<Explanation> {
    await this.#checkRole(role);
    // With the role claim, as in a token.
    return this.#served.current.graph.explain(request, { role, claims: { ...claims, role } }, { mode });
  }

  readSchemaVersion(): string {
    return this.#served.schemaVersion;
  }

  async examine(role: string): Promise<DoctorReport> {
    await this.#checkRole(role);
    const report = await this.#served.current.graph.doctor({ role });
    const isOfDefault = ({ code, name }: Finding): boolean => code === 'missing-search-path' && defaultSearchPath.includes(name);
    const findings = report.findings.filter((each) => !isOfDefault(each));
    const info = report.summary.info - (report.findings.length - findings.length);
    return { ...report, summary: { ...report.summary, info }, findings };
  }

  async readAccess(): Promise<AccessReport> {
    const { graph, reader } = this.#served.current;
    return graph.access({ roles: await listRoles(reader, this.#settings) });
  }

  /** Throws BAD_REQUEST for a role that requests may not run as. */
  async #checkRole(role: string): Promise<void> {
    const roles = await listRoles(this.#served.current.reader, this.#settings);
    if (!roles.includes(role)) throw new ApiError('BAD_REQUEST', `"role" must be one of ${roles.join(', ')}.`);
  }
}

export async function listRoles(reader: DatabaseReader, { anonRole, schemas }: RoleSettings): Promise<string[]> {
  const { rows } = await reader.query<{ name: string }>(rolesText, [[anonRole, 'authenticated', 'service_role'], schemas]);
  return rows.map(({ name }) => name);
}

/** How many rows to offer. */
const maxUsers = 100;
/** How many rows, the first by their key, to choose them from: a table may have millions. */
const maxRead = 1000;

const tableNames = [
  'user',
  'users',
  'member',
  'members',
  'profile',
  'profiles',
  'account',
  'accounts',
  'person',
  'people',
  'customer',
  'customers',
];
const labelNames = ['name', 'full_name', 'display_name', 'username', 'user_name', 'handle', 'email', 'title', 'first_name'];

/** Tables with such a name and a key of one column, which the login role may read, with the column that best names a row; `auth.users` first, for Supabase. */
const candidatesText = `select n.nspname as schema, c.relname as table, key.attname as key, coalesce(label.attname, key.attname) as label
  from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
  join pg_index i on i.indrelid = c.oid and i.indisprimary and i.indnkeyatts = 1
  join pg_attribute key on key.attrelid = c.oid and key.attnum = i.indkey[0]
  left join lateral (
    select attname from pg_attribute
    where attrelid = c.oid and attnum > 0 and not attisdropped and attname = any ($2) and has_column_privilege(attrelid, attnum, 'select')
    order by array_position($2, attname::text) limit 1
  ) label on true
  where c.relkind in ('r', 'p') and lower(c.relname) = any ($1) and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
    and has_schema_privilege(n.oid, 'usage') and has_column_privilege(c.oid, key.attnum, 'select')
  order by n.nspname = 'auth' desc, array_position($1, lower(c.relname)::text), n.nspname, c.relname`;

interface Candidate {
  readonly schema: string;
  readonly table: string;
  readonly key: string;
  readonly label: string;
}

/** The rows of the first such table that has any. */
export async function listUsers(reader: DatabaseReader): Promise<CallerChoices['users']> {
  const { rows: candidates } = await reader.query<Candidate>(candidatesText, [tableNames, labelNames]);
  for (const { schema, table, key, label } of candidates) {
    const [name, id, text] = [identifier(schema, table), identifier(key), identifier(label)].map((each) => render(each).text);
    const query = `select ${id}::text as id, coalesce(${text}::text, ${id}::text) as label
      from (select ${[...new Set([id, text])].join(', ')} from ${name} order by ${id} limit ${maxRead}) users order by 2, 1 limit ${maxUsers}`;
    try {
      const { rows } = await reader.query<{ id: string; label: string }>(query);
      if (rows.length > 0) return rows;
    } catch {
      // A policy may fail for the login role: the menu goes without these users.
    }
  }
  return [];
}
