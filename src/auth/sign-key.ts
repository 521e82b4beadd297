/** Signs keys: JSON Web Tokens (HS256) that carry a role. */
import { createSecretKey } from 'node:crypto';
import { decodeJwt, SignJWT, UnsecuredJWT } from 'jose';

const issuer = 'rowgraph';

/**
 * A key for `role`. `claims` may name another issuer. Without `expiresIn` (such as `1h`, `30 days` or a number of seconds) it is valid
 * until the secret changes.
 */
export async function signKey(
  secret: string,
  role: string,
  expiresIn?: string | number,
  claims: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const token = new SignJWT({ iss: issuer, ...claims, role }).setProtectedHeader({ alg: 'HS256', typ: 'JWT' });
  if (claims.iat === undefined) token.setIssuedAt();
  if (typeof expiresIn === 'number') token.setExpirationTime(Math.floor(Date.now() / 1000) + expiresIn);
  else if (expiresIn !== undefined) token.setExpirationTime(expiresIn);
  return token.sign(createSecretKey(secret, 'utf8'));
}

/** Seconds since 1970 at which something made now expires after a time such as `30 days`. Throws `TypeError` if it is not a time. */
export function expiryOf(expiresIn: string): number {
  return decodeJwt(new UnsecuredJWT().setExpirationTime(expiresIn).encode()).exp!;
}
