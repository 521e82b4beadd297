/** Who asked, by the headers of a request: the claims of its token, which decide before those of its key. In: headers by names in lower case. */
import { type Claims, decodeToken } from './decode-token.ts';

/** The role and the claims; those of `anon` where no token says. */
export function callerOf(headers: Readonly<Record<string, string>>): { readonly role: string; readonly claims: Claims } {
  const token = headers.authorization?.replace(/^Bearer\s+/i, '') ?? headers.apikey ?? '';
  const claims = decodeToken(token) ?? {};
  return { role: typeof claims.role === 'string' ? claims.role : 'anon', claims };
}
