/** What a JSON Web Token says, without verifying it: for people to read, and to know when it expires. In: its text; out: its claims. */

export type Claims = Readonly<Record<string, unknown>>;

/** The claims; null for what is no such token, as an opaque key is not. */
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

/** When a token expires, in milliseconds since 1970; null if it does not say. */
export function expiryOf(claims: Claims): number | null {
  return typeof claims.exp === 'number' ? claims.exp * 1000 : null;
}
