/**
 * What the page at `/graphiql` may do beyond the endpoint where `rowgraph dev` serves it: be anybody, and see how requests run. Types only; the backend
 * itself is `cli/embedded/development-backend.ts`.
 */
import type { Caller, GraphQLRequest } from '../engine/request.ts';

/** What names a role rejects with BAD_REQUEST if that is not among the choices. */
export interface PageBackend {
  /** Whom the page may be. */
  readonly listCallers: () => Promise<CallerChoices>;
  /** A token for a caller. */
  readonly sign: (caller: Caller) => Promise<SignedToken>;
  /** How a request runs, as JSON; `analyze` runs it in a transaction that is rolled back. Rejects as `graph.explain` does. */
  readonly explain: (request: GraphQLRequest, caller: Caller, mode: 'plan' | 'analyze') => Promise<unknown>;
  /** What the doctor finds for a role, as JSON. */
  readonly examine: (role: string) => Promise<unknown>;
}

export interface CallerChoices {
  readonly roles: readonly string[];
  /** Who may be the claim `sub`: rows of the table of users, if there is one. */
  readonly users: readonly { readonly id: string; readonly label: string }[];
}

export interface SignedToken {
  readonly token: string;
  /** Seconds since 1970. */
  readonly expiresAt: number;
}
