/**
 * What the page of `rowgraph dev` may do beyond the endpoint: sign tokens for any caller that the developer chooses, and explain requests.
 * In: the embedded database, its graph and its secret; out: the backend, which `http/serve-page-backend.ts` makes available only to that
 * page.
 */
import type { PGlite } from '@electric-sql/pglite';
import { expiryOf, signKey } from '../../auth/sign-key.ts';
import { ApiError } from '../../errors/api-error.ts';
import type { CallerChoices, PageBackend, SignedToken } from '../../http/routes/graphiql-page.ts';
import type { Caller, DoctorReport, Explanation, GraphQLRequest, Rowgraph } from '../../index.ts';
import { listUsers } from './list-users.ts';

export interface DevelopmentDatabase {
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
