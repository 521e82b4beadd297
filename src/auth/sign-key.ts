/** Signs keys: JSON Web Tokens (HS256) that carry a role. In: the secret and the role; out: the text of the token. */
import { createSecretKey } from 'node:crypto';
import { SignJWT } from 'jose';

/** A key for `role`. Without `expiresIn` (such as `1h` or `30 days`, or seconds) it is valid until the secret is changed. */
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
