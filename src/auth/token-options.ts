/** Which keys and tokens are accepted: options of a mounted endpoint, with the names of the settings (docs/settings.md). Reads no files. */
import type { Observer } from '../events.ts';
import { parseClaimPath } from '../settings/check-settings.ts';
import { type ApiKeyEntry, readApiKeys } from './api-keys.ts';
import { type PublicKeys, RemotePublicKeys, readPublicKeys } from './public-keys.ts';
import { RevokedTokens } from './revoked-tokens.ts';
import type { TokenRules } from './verify-token.ts';

export interface TokenOptions {
  /** The secret that keys and tokens are signed with (HS256). Not needed if there are public keys. */
  readonly jwtSecret?: string;
  /** The former secret: tokens that were signed with it stay valid. */
  readonly previousJwtSecret?: string;
  /** The public keys for tokens: the URL of a JSON Web Key Set, or the text of one, or a PEM. */
  readonly jwtKeys?: string;
  /** The Supabase project whose authentication server signs the tokens: its reference or its URL. Sets `jwtKeys`. */
  readonly supabase?: string;
  /** Opaque keys by name: the SHA-256 and the role of each, and optionally its expiry and further claims. */
  readonly apiKeys?: Readonly<Record<string, ApiKeyEntry>>;
  /** Revoked tokens, in the form of the `--revoked-tokens` file. For a list that changes, use `authenticate`. */
  readonly revokedTokens?: readonly unknown[];
  /** A token must name one of these in `aud`. Default: anything is accepted. */
  readonly jwtAudience?: readonly string[];
  /** A token must name one of these in `iss`. Default: anything is accepted. */
  readonly jwtIssuer?: readonly string[];
  /** Milliseconds by which an issuer's clock may differ. Default: 0. */
  readonly jwtLeeway?: number;
  /** The path of the role in the claims, such as `.app_metadata.role` or `.realm_access.roles`. Default: `.role`. */
  readonly roleClaim?: string;
  /** The roles that tokens may name. If the claim is a list, the first of them in it is the role. Default: any, but not in a list. */
  readonly tokenRoles?: readonly string[];
}

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
