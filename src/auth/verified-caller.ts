/** The caller of a request whose key or token is valid. In: its role and claims; out: the caller, which nobody can change. */
import type { Caller } from '../engine/request.ts';

export interface VerifiedCaller extends Caller {
  /** Names the user that the claims identify, for counting what each has in hand; null if they identify none. */
  readonly user: string | null;
}

/** The caller of this role with these claims, which it freezes. */
export function verifiedCaller(role: string, claims: Readonly<Record<string, unknown>>): VerifiedCaller {
  const { sub } = claims;
  const user = typeof sub === 'string' && sub !== '' ? `${role} ${sub}` : null;
  return Object.freeze({ role, claims: Object.freeze(claims), user });
}
