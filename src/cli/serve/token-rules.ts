/** Which keys and tokens the server accepts. */
import { readFile } from 'node:fs/promises';
import { parseApiKeys } from '../../auth/api-keys.ts';
import { type PublicKeys, RemotePublicKeys, readPublicKeys } from '../../auth/public-keys.ts';
import { keysOfSupabase } from '../../auth/read-token-options.ts';
import { parseRevokedTokens } from '../../auth/revoked-tokens.ts';
import type { FileContent } from '../../event-details.ts';
import type { Observer } from '../../events.ts';
import { readStamp, readTextFile, WatchedFiles } from '../../files/watched-files.ts';
import type { ServerOptions } from '../../http/transport/start-server.ts';
import { parseClaimPath } from '../../settings/check-settings.ts';
import { type Configuration, flagOf, type NameIn, type SettingName } from '../../settings/settings.ts';
import { ConfigurationError } from '../config.ts';

/** The settings for tokens, without the secret. */
type TokenConfiguration = Configuration<
  Exclude<NameIn<'own'>, 'databaseUrl' | 'jwtSecret' | 'replicaUrl'> | 'jwtLeeway' | 'roleClaim' | 'tokenRoles'
>;

/**
 * The rules for keys and tokens. Files that may change are watched until `stop`. Throws `ConfigurationError` if one cannot be read; then
 * none is watched.
 */
export async function tokenRulesOf(configuration: TokenConfiguration, observe: Observer): Promise<NonNullable<ServerOptions['tokens']>> {
  const { previousJwtSecret, jwtKeys, supabase, jwtAudience, jwtIssuer, jwtLeeway, roleClaim, tokenRoles } = configuration;
  const { apiKeys, revokedTokens } = configuration;
  if (jwtKeys !== undefined && supabase !== undefined)
    throw new ConfigurationError([`${flagOf('supabase')} sets the public keys of tokens: omit ${flagOf('jwtKeys')}`]);
  const location = supabase === undefined ? jwtKeys : keysOfSupabase(supabase);
  const rules = {
    previousSecrets: previousJwtSecret === undefined ? [] : [previousJwtSecret],
    ...(location !== undefined && { publicKeys: await openPublicKeys(location, observe) }),
    ...(jwtAudience.length > 0 && { audience: jwtAudience }),
    ...(jwtIssuer.length > 0 && { issuer: jwtIssuer }),
    leeway: jwtLeeway / 1000,
    roleClaim: parseClaimPath(roleClaim),
    ...(tokenRoles.length > 0 && { tokenRoles }),
  };
  const keys = apiKeys === undefined ? null : await watch('apiKeys', apiKeys, parseApiKeys, 'API keys', observe);
  if (revokedTokens === undefined) return { ...rules, ...(keys && { apiKeys: keys }) };
  try {
    const revoked = await watch('revokedTokens', revokedTokens, parseRevokedTokens, 'revoked tokens', observe);
    return { ...rules, ...(keys && { apiKeys: keys }), revoked };
  } catch (error) {
    // Each request of a project tries again, and would leave another watcher behind.
    keys?.stop();
    throw error;
  }
}

async function openPublicKeys(location: string, observe: Observer): Promise<PublicKeys> {
  if (/^https?:\/\//i.test(location)) {
    const keys = new RemotePublicKeys(location, observe);
    // The server starts without them: the first token waits for the same attempt.
    void keys.preload();
    return keys;
  }
  try {
    return readPublicKeys(await readFile(location, 'utf8'), observe);
  } catch (error) {
    throw new ConfigurationError([`${flagOf('jwtKeys')} ${location}: ${(error as Error).message}`]);
  }
}

const mostBytes = 16 * 1024 ** 2;

/** The content of a file, read again when it changes. */
async function watch<Content extends { readonly count: number }>(
  setting: SettingName,
  file: string,
  parse: (text: string) => Content,
  content: FileContent,
  observe: Observer,
): Promise<WatchedFiles<Content>> {
  const read = async (): Promise<Content> => {
    const text = await readTextFile(file, mostBytes);
    try {
      return parse(text);
    } catch (error) {
      throw new Error(`${file}: ${(error as Error).message}`);
    }
  };
  try {
    return await WatchedFiles.open({
      read,
      readStamp: () => readStamp([file]),
      onLoad: ({ count }) => observe({ kind: 'files-loaded', content, count }),
      onFailure: (error) => observe({ kind: 'files-load-failed', content, error }),
    });
  } catch (error) {
    throw new ConfigurationError([`${flagOf(setting)}: ${(error as Error).message}`]);
  }
}
