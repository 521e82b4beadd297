/** Which keys and tokens are accepted: options of a mounted endpoint, with the names of the settings (docs/settings.md). Types only. */
import type { ApiKeyEntry } from './api-keys.ts';

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
