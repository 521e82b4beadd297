/**
 * What the page at `/graphiql` may do beyond the endpoint in `rowgraph dev`: act as anybody, and see how requests run. Types only; the
 * backend itself is `cli/embedded/development-backend.ts`.
 */
import type { Caller, GraphQLRequest } from '../engine/request.ts';

/** Methods that take a role reject with BAD_REQUEST if it is not among the choices. */
export interface PageBackend {
  /** The callers that the page may act as. */
  readonly listCallers: () => Promise<CallerChoices>;
  /** A token for a caller. */
  readonly sign: (caller: Caller) => Promise<SignedToken>;
  /** Explains how a request runs, as JSON; `analyze` runs it in a transaction that is rolled back. Rejects as `graph.explain` does. */
  readonly explain: (request: GraphQLRequest, caller: Caller, mode: 'plan' | 'analyze') => Promise<unknown>;
  /** The doctor's findings for a role, as JSON. */
  readonly examine: (role: string) => Promise<unknown>;
}

export interface CallerChoices {
  readonly roles: readonly string[];
  /** Possible values of the claim `sub`: rows of the table of users, if there is one. */
  readonly users: readonly { readonly id: string; readonly label: string }[];
}

export interface SignedToken {
  readonly token: string;
  /** Seconds since 1970. */
  readonly expiresAt: number;
}
