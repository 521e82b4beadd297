/** Secrets for `rowgraph dev`: random, and stored so that keys stay valid across restarts. */
import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** An unguessable secret, as text. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** The secret for databases in memory: this user's own, from the cache folder; a new one if that folder is not writable. */
export async function readDevelopmentSecret(cacheFolder: string): Promise<string> {
  const file = join(cacheFolder, 'jwt-secret');
  const secret = newSecret();
  try {
    await mkdir(cacheFolder, { recursive: true });
    await writeFile(file, secret, { flag: 'wx', mode: 0o600 });
    return secret;
  } catch {
    const kept = await readFile(file, 'utf8').catch(() => '');
    return kept.length >= secret.length ? kept : secret;
  }
}
