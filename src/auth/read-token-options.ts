/** Which keys and tokens are accepted, from the options of a mounted endpoint, which have the names of the settings. Reads no files. */
import type { Observer } from '../events.ts';
import { parseClaimPath } from '../settings/check-settings.ts';
import { readApiKeys } from './api-keys.ts';
import { type PublicKeys, RemotePublicKeys, readPublicKeys } from './public-keys.ts';
import type { TokenRules } from './read-jwt.ts';
import { RevokedTokens } from './revoked-tokens.ts';
import type { TokenOptions } from './token-options.ts';

/** The rules that the options describe. Throws an `Error` that names the wrong option. */
export function readTokenOptions(options: TokenOptions, observe: Observer): TokenRules {
  const {
    jwtSecret,
    previousJwtSecret,
    jwtKeys,
    supabase,
    apiKeys,
    revokedTokens,
    jwtAudience,
    jwtIssuer,
    jwtLeeway = 0,
    roleClaim,
    tokenRoles,
  } = options;
  if (jwtKeys !== undefined && supabase !== undefined) throw new Error('supabase sets the public keys of tokens: omit jwtKeys.');
  const keys = supabase === undefined ? jwtKeys : keysOfSupabase(supabase);
  return {
    secrets: [jwtSecret, previousJwtSecret].filter((secret) => secret !== undefined),
    ...(keys !== undefined && { publicKeys: openPublicKeys(keys, observe) }),
    ...(apiKeys !== undefined && { apiKeys: { current: read('apiKeys', () => readApiKeys(apiKeys)) } }),
    ...(revokedTokens !== undefined && { revoked: { current: read('revokedTokens', () => new RevokedTokens(revokedTokens)) } }),
    audience: jwtAudience,
    issuer: jwtIssuer,
    leeway: jwtLeeway / 1000,
    tokenRoles,
    ...(roleClaim !== undefined && { roleClaim: read('roleClaim', () => parseClaimPath(roleClaim)) }),
  };
}

/** The URL at which a project's authentication server publishes its keys. */
export function keysOfSupabase(project: string): string {
  const origin = /^https?:\/\//.test(project) ? project.replace(/\/$/, '') : `https://${project}.supabase.co`;
  return `${origin}/auth/v1/.well-known/jwks.json`;
}

/** The value of an option, whose name begins any error. */
function read<Value>(option: keyof TokenOptions, parse: () => Value): Value {
  try {
    return parse();
  } catch (error) {
    throw new Error(`${option} ${(error as Error).message}`, { cause: error });
  }
}

function openPublicKeys(keys: string, observe: Observer): PublicKeys {
  if (/^https?:\/\//i.test(keys)) return new RemotePublicKeys(keys, observe);
  return read('jwtKeys', () => readPublicKeys(keys, observe));
}
