/** Decodes a JSON Web Token without verifying it, to show its claims and to know when it expires. */

export type Claims = Readonly<Record<string, unknown>>;

/** The claims; null for anything else, such as an opaque key. */
export function decodeToken(token: string): Claims | null {
  const [, payload = ''] = token.trim().split('.');
  try {
    const bytes = Uint8Array.from(atob(payload.replaceAll('-', '+').replaceAll('_', '/')), (character) => character.charCodeAt(0));
    const claims: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return typeof claims === 'object' && claims !== null && !Array.isArray(claims) ? (claims as Claims) : null;
  } catch {
    return null;
  }
}

/** When a token expires, in milliseconds since 1970; null if it never does. */
export function expiryOf(claims: Claims): number | null {
  return typeof claims.exp === 'number' ? claims.exp * 1000 : null;
}

/**
 * The caller of a request, from its headers with names in lower case: the role and the claims of the token, which take precedence over those
 * of the key; `anon` if there is neither.
 */
export function callerOf(headers: Readonly<Record<string, string>>): { readonly role: string; readonly claims: Claims } {
  const token = headers.authorization?.replace(/^Bearer\s+/i, '') ?? headers.apikey ?? '';
  const claims = decodeToken(token) ?? {};
  return { role: typeof claims.role === 'string' ? claims.role : 'anon', claims };
}
