/** Signs keys: JSON Web Tokens (HS256) that carry a role. In: the secret and the role; out: the text of the token. */
import { createSecretKey } from 'node:crypto';
import { SignJWT } from 'jose';

/** A key for `role`. Without `expiresIn` (such as `1h`, `30 days` or a number of seconds) it is valid until the secret changes. */
export async function signKey(
  secret: string,
  role: string,
  expiresIn?: string | number,
  claims: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const token = new SignJWT({ ...claims, role }).setProtectedHeader({ alg: 'HS256', typ: 'JWT' }).setIssuer('rowgraph').setIssuedAt();
  if (typeof expiresIn === 'number') token.setExpirationTime(Math.floor(Date.now() / 1000) + expiresIn);
  else if (expiresIn !== undefined) token.setExpirationTime(expiresIn);
  return token.sign(createSecretKey(secret, 'utf8'));
}
