/**
 * The caller of a request, from its headers: the claims of the token, which take precedence over those of the key. In: headers with names
 * in lower case.
 */
import { type Claims, decodeToken } from './decode-token.ts';

/** The role and the claims; those of `anon` if there is no token. */
export function callerOf(headers: Readonly<Record<string, string>>): { readonly role: string; readonly claims: Claims } {
  const token = headers.authorization?.replace(/^Bearer\s+/i, '') ?? headers.apikey ?? '';
  const claims = decodeToken(token) ?? {};
  return { role: typeof claims.role === 'string' ? claims.role : 'anon', claims };
}
