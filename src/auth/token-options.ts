/** Which keys and tokens are accepted, as those who mount the endpoint say it: with the names of the settings (docs/settings.md). Types only. */
import type { ApiKeyEntry } from './api-keys.ts';

export interface TokenOptions {
  /** The secret that keys and tokens are signed with (HS256). Not needed if there are public keys. */
  readonly jwtSecret?: string;
  /** The secret that was used before: tokens that are signed with it stay valid. */
  readonly previousJwtSecret?: string;
  /** The public keys of tokens: the URL of a JSON Web Key Set, or the text of one, or of a PEM. */
  readonly jwtKeys?: string;
  /** The Supabase project whose authentication server signs the tokens: its reference or its URL. It sets `jwtKeys`. */
  readonly supabase?: string;
  /** Opaque keys by name: the SHA-256 of each, its role, and if needed when it expires and further claims. */
  readonly apiKeys?: Readonly<Record<string, ApiKeyEntry>>;
  /** Tokens that are no longer valid, as the file of `--revoked-tokens` has them. `authenticate` can ask a list that changes. */
  readonly revokedTokens?: readonly unknown[];
  /** Of which a token must name one in `aud`. Default: any. */
  readonly jwtAudience?: readonly string[];
  /** Of which a token must name one in `iss`. Default: any. */
  readonly jwtIssuer?: readonly string[];
  /** Milliseconds by which the clock of an issuer may differ. Default: 0. */
  readonly jwtLeeway?: number;
  /** Where the role is among the claims, such as `.app_metadata.role`. Default: `.role`. */
  readonly roleClaim?: string;
}
