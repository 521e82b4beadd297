/**
 * What the page of `rowgraph dev` may do beyond the endpoint: sign tokens for any caller that the developer chooses, and explain requests.
 */
import type { PGlite } from '@electric-sql/pglite';
import { expiryOf, signKey } from '../../auth/sign-key.ts';
import { ApiError } from '../../errors/api-error.ts';
import type { CallerChoices, PageBackend, SignedToken } from '../../http/routes/graphiql-page.ts';
import type { Caller, DoctorReport, Explanation, GraphQLRequest, Rowgraph } from '../../index.ts';
import { identifier, render } from '../../sql/sql.ts';

interface DevelopmentDatabase {
  readonly pglite: PGlite;
  readonly graph: Rowgraph;
  readonly jwtSecret: string;
  readonly anonRole: string;
}

const lifetime = '1 hour';

/** The roles that requests may run as. Roles with special privileges are excluded (docs/tokens.md). */
const rolesText = `select rolname as name from pg_roles
  where rolname !~ '^pg_' and rolname not in (session_user, 'authenticator')
    and not (rolsuper or rolcreaterole or rolcreatedb or rolreplication) and pg_has_role(session_user, oid, 'MEMBER')
  order by array_position($1, rolname::text), rolname`;

export class DevelopmentBackend implements PageBackend {
  readonly #database: DevelopmentDatabase;

  constructor(database: DevelopmentDatabase) {
    this.#database = database;
  }

  async listCallers(): Promise<CallerChoices> {
    const { pglite } = this.#database;
    const roles = await this.#listRoles();
    return { roles, users: await listUsers(pglite) };
  }

  async sign({ role, claims = {} }: Caller): Promise<SignedToken> {
    await this.#checkRole(role);
    const expiresAt = expiryOf(lifetime);
    const token = await signKey(this.#database.jwtSecret, role, undefined, { ...claims, exp: expiresAt });
    return { token, expiresAt };
  }

  async explain(request: GraphQLRequest, { role, claims = {} }: Caller, mode: 'plan' | 'analyze'): Promise<Explanation> {
    await this.#checkRole(role);
    // With the role claim, as in a token.
    return this.#database.graph.explain(request, { role, claims: { ...claims, role } }, { mode });
  }

  async examine(role: string): Promise<DoctorReport> {
    await this.#checkRole(role);
    return this.#database.graph.doctor({ role });
  }

  /** Throws BAD_REQUEST for a role that requests may not run as. */
  async #checkRole(role: string): Promise<void> {
    const roles = await this.#listRoles();
    if (!roles.includes(role)) throw new ApiError('BAD_REQUEST', `"role" must be one of ${roles.join(', ')}.`);
  }

  async #listRoles(): Promise<string[]> {
    const { pglite, anonRole } = this.#database;
    const { rows } = await pglite.query<{ name: string }>(rolesText, [[anonRole, 'authenticated', 'service_role']]);
    return rows.map(({ name }) => name);
  }
}

/** How many rows to offer. */
const maxUsers = 100;

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

/** Tables with such a name and a key of one column, with the column that best names a row; `auth.users` first, for Supabase. */
const candidatesText = `select n.nspname as schema, c.relname as table, key.attname as key, coalesce(label.attname, key.attname) as label
  from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
  join pg_index i on i.indrelid = c.oid and i.indisprimary and i.indnkeyatts = 1
  join pg_attribute key on key.attrelid = c.oid and key.attnum = i.indkey[0]
  left join lateral (
    select attname from pg_attribute
    where attrelid = c.oid and attnum > 0 and not attisdropped and attname = any ($2)
    order by array_position($2, attname::text) limit 1
  ) label on true
  where c.relkind in ('r', 'p') and lower(c.relname) = any ($1) and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
  order by n.nspname = 'auth' desc, array_position($1, lower(c.relname)::text), n.nspname, c.relname`;

interface Candidate {
  readonly schema: string;
  readonly table: string;
  readonly key: string;
  readonly label: string;
}

/** The rows of the first such table that has any. */
export async function listUsers(pglite: PGlite): Promise<CallerChoices['users']> {
  const { rows: candidates } = await pglite.query<Candidate>(candidatesText, [tableNames, labelNames]);
  for (const { schema, table, key, label } of candidates) {
    const [name, id, text] = [identifier(schema, table), identifier(key), identifier(label)].map((each) => render(each).text);
    const query = `select ${id}::text as id, coalesce(${text}::text, ${id}::text) as label from ${name} order by 2, 1 limit ${maxUsers}`;
    const { rows } = await pglite.query<{ id: string; label: string }>(query);
    if (rows.length > 0) return rows;
  }
  return [];
}
