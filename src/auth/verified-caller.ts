/** The caller of a request whose key or token is valid. In: its role and claims; out: the caller, which is immutable. */
import { type Caller, idTextOf } from '../engine/request.ts';

export interface VerifiedCaller extends Caller {
  /** Names the user that the claims identify, under whom requests in flight are counted; null if they identify none. */
  readonly user: string | null;
}

/** The caller with this role and these claims, which it freezes. */
export function verifiedCaller(role: string, claims: Readonly<Record<string, unknown>>): VerifiedCaller {
  const sub = idTextOf(claims.sub);
  const user = sub === null ? null : `${role} ${sub}`;
  return Object.freeze({ role, claims: Object.freeze(claims), user });
}
