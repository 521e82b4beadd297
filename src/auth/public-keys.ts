/**
 * Public keys that verify tokens: those in a text (PEM, or a JSON Web Key Set, RFC 7517), and those that an issuer publishes at a URL. In:
 * the header of a token; out: the keys that may have signed it.
 */
import { createPublicKey } from 'node:crypto';
import { type CryptoKey, createLocalJWKSet, errors, type JSONWebKeySet, type JWK, type ProtectedHeaderParameters } from 'jose';
import { ApiError } from '../errors.ts';
import { isJsonObject } from '../json-object.ts';

/** The signature algorithms for public keys. HMAC is not among them: anybody who knew a public key could sign with it. */
export const publicKeyAlgorithms = ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'] as const;

export interface PublicKeys {
  /**
   * The keys that may have signed a token with this header; empty if no key fits. Rejects with KEYS_UNAVAILABLE if they cannot be loaded.
   */
  find(header: ProtectedHeaderParameters): Promise<readonly CryptoKey[]>;
}

const mostKeys = 100;
const mostCharacters = 1024 * 1024;

/** The keys in a text: PEM blocks (public keys or certificates), a JSON Web Key, or a set of them. Throws an `Error` that says what is wrong. */
export function readPublicKeys(text: string): PublicKeys {
  const keys = text.includes('-----BEGIN ') ? readPem(text) : readJwks(text);
  if (keys.length === 0) throw new Error('holds no key for RS256, PS256, ES256 or EdDSA');
  if (keys.length > mostKeys) throw new Error(`holds more than ${mostKeys} keys`);
  // A token with a key id may have been signed by a key that has none.
  const [named, unnamed] = [keys.filter(({ kid }) => kid !== undefined), keys.filter(({ kid }) => kid === undefined)].map(createKeyFinder);
  return {
    find: async (header) => {
      const { kid: _, ...anyKey } = header;
      const found = await named!(header);
      return found.length > 0 ? found : unnamed!(anyKey);
    },
  };
}

function readPem(text: string): JWK[] {
  const blocks = text.match(/-----BEGIN ([A-Z0-9 ]+)-----[\s\S]*?-----END \1-----/g) ?? [];
  if (blocks.some((block) => block.includes('PRIVATE KEY'))) throw new Error('holds a private key: give the public one');
  try {
    return blocks.map((block) => createPublicKey(block).export({ format: 'jwk' }) as JWK);
  } catch (error) {
    throw new Error('holds a PEM block that is neither a public key nor a certificate', { cause: error });
  }
}

function readJwks(text: string): JWK[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error('is neither PEM nor JSON', { cause: error });
  }
  const entries: readonly unknown[] = isJsonObject(value) && Array.isArray(value.keys) ? value.keys : [value];
  // Ignore everything else that an issuer publishes. Above all, a symmetric key must never come from a public place.
  const keys = entries.filter(isSignatureKey);
  if (keys.some((key) => 'd' in key)) throw new Error('holds a private key: give the public one');
  return keys;
}

function isSignatureKey(entry: unknown): entry is JWK {
  if (!isJsonObject(entry)) return false;
  const { kty, use = 'sig' } = entry;
  return ['RSA', 'EC', 'OKP'].includes(String(kty)) && use === 'sig';
}

function createKeyFinder(keys: JWK[]): (header: ProtectedHeaderParameters) => Promise<readonly CryptoKey[]> {
  const set = createLocalJWKSet({ keys } satisfies JSONWebKeySet);
  return async (header) => {
    try {
      return [await set({ ...header, alg: header.alg! })];
    } catch (error) {
      if (error instanceof errors.JWKSNoMatchingKey) return [];
      if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
      const matching: CryptoKey[] = [];
      for await (const key of error) matching.push(key);
      return matching;
    }
  };
}

/** Times in milliseconds. */
const fetchTimeout = 5_000;
const lifetime = 10 * 60_000;
const leastPause = 10_000;

/**
 * The keys at a URL. They are loaded when first needed, again after ten minutes, and when an unknown key is asked for, but at most every
 * ten seconds. If the issuer cannot be reached, the last keys stay valid. `onFailure` is called with the reason.
 */
export class RemotePublicKeys implements PublicKeys {
  readonly #url: string;
  readonly #onFailure: (error: unknown) => void;
  readonly #now: () => number;
  #keys: PublicKeys | null = null;
  #loadedAt = -Infinity;
  #triedAt = -Infinity;
  #loading: Promise<void> | null = null;

  constructor(url: string, onFailure: (error: unknown) => void, now: () => number = () => performance.now()) {
    this.#url = url;
    this.#onFailure = onFailure;
    this.#now = now;
  }

  async find(header: ProtectedHeaderParameters): Promise<readonly CryptoKey[]> {
    if (this.#keys === null) await this.#load();
    else if (this.#now() > this.#loadedAt + lifetime) void this.#load();
    const found = await this.#findKnown(header);
    if (found.length > 0) return found;
    await this.#load();
    const foundAnew = await this.#findKnown(header);
    // The key may be one that the issuer has published since.
    if (foundAnew.length === 0 && this.#triedAt > this.#loadedAt) throw unavailable();
    return foundAnew;
  }

  async #findKnown(header: ProtectedHeaderParameters): Promise<readonly CryptoKey[]> {
    if (this.#keys !== null) return this.#keys.find(header);
    throw unavailable();
  }

  /** Never rejects. */
  #load(): Promise<void> {
    if (this.#loading === null && this.#now() < this.#triedAt + leastPause) return Promise.resolve();
    this.#loading ??= this.#fetch()
      .then((keys) => {
        this.#keys = keys;
        this.#loadedAt = this.#triedAt;
      }, this.#onFailure)
      .finally(() => {
        this.#loading = null;
      });
    return this.#loading;
  }

  async #fetch(): Promise<PublicKeys> {
    this.#triedAt = this.#now();
    try {
      // A redirect could lead to a place where anybody can answer.
      const options = { signal: AbortSignal.timeout(fetchTimeout), headers: { accept: 'application/json' }, redirect: 'error' } as const;
      const response = await fetch(this.#url, options);
      if (!response.ok) throw new Error(`responded with status ${response.status}`);
      return readPublicKeys(await readText(response));
    } catch (error) {
      const { message, cause } = error as Error;
      throw new Error(`${this.#url}: ${message}${cause instanceof Error ? ` (${cause.message})` : ''}`);
    }
  }
}

function unavailable(): ApiError {
  return new ApiError(
    'KEYS_UNAVAILABLE',
    'The token cannot be verified, because the keys of its issuer cannot be loaded. Try again later.',
  );
}

async function readText({ body }: Response): Promise<string> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > mostCharacters) throw new Error(`responded with more than ${mostCharacters} characters`);
  }
  return text + decoder.decode();
}
