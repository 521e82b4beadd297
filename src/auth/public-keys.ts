/**
 * Public keys that verify tokens, in a text: PEM, or a JSON Web Key Set (RFC 7517). In: the text, and the header of a token; out: the keys
 * that may have signed it. `remote-public-keys.ts` has those at a URL.
 */
import { createPublicKey } from 'node:crypto';
import { type CryptoKey, createLocalJWKSet, errors, type JWK, type ProtectedHeaderParameters } from 'jose';
import { isJsonObject } from '../errors/api-error.ts';
import type { Observer } from '../events.ts';
import { findUsableKeys } from './usable-keys.ts';

/** The signature algorithms for public keys. HMAC is not among them: anybody who knew a public key could sign with it. */
export const publicKeyAlgorithms = ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'] as const;

/** The keys that may have signed a token, and the set that they are from. */
export interface FoundKeys {
  readonly keys: readonly CryptoKey[];
  readonly set: KeySet;
}

export interface PublicKeys {
  /** The keys that may have signed a token with this header; none if no key fits. Rejects with KEYS_UNAVAILABLE if they cannot be loaded. */
  find(header: ProtectedHeaderParameters): Promise<FoundKeys>;
  /**
   * The set in use now; null if none has been loaded. Has a newer one loaded if that is due. What another set has verified may no longer
   * be valid.
   */
  currentSet(): KeySet | null;
}

/** The keys in a text: PEM blocks (public keys or certificates), a JSON Web Key, or a set of them. Throws an `Error` that says what is wrong. */
export function readPublicKeys(text: string, observe: Observer = () => {}): PublicKeys {
  const set = new KeySet(text);
  if (set.problems.length > 0) observe({ kind: 'keys-ignored', problems: set.problems });
  return { find: async (header) => ({ keys: await set.find(header), set }), currentSet: () => set };
}

type KeyFinder = (header: ProtectedHeaderParameters) => Promise<readonly CryptoKey[]>;

const mostKeys = 100;

/** A set of keys, which never changes. */
export class KeySet {
  /** What is wrong with the keys that cannot be used, and count as if they were missing. */
  readonly problems: readonly string[];
  readonly #findNamed: KeyFinder;
  readonly #findUnnamed: KeyFinder;

  /** The keys in a text. Throws an `Error` that says what is wrong. */
  constructor(text: string) {
    const candidates = text.includes('-----BEGIN ') ? readPem(text) : readJwks(text);
    if (candidates.length > mostKeys) throw new Error(`holds more than ${mostKeys} keys`);
    const { keys, problems } = findUsableKeys(candidates.filter(isForVerifying));
    if (keys.length === 0) throw new Error(['holds no key for RS256, PS256, ES256 or EdDSA', ...problems].join('; '));
    this.problems = problems;
    this.#findNamed = createKeyFinder(keys.filter(({ kid }) => kid !== undefined));
    this.#findUnnamed = createKeyFinder(keys.filter(({ kid }) => kid === undefined));
  }

  /** The keys that may have signed a token with this header; none if no key fits. */
  async find(header: ProtectedHeaderParameters): Promise<readonly CryptoKey[]> {
    const { kid: _, ...anyKey } = header;
    const found = await this.#findNamed(header);
    // A token with a key id may have been signed by a key that has none.
    return found.length > 0 ? found : this.#findUnnamed(anyKey);
  }
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

/** Whether a key is for one of the algorithms. An issuer may also publish keys for others. */
function isForVerifying({ kty, crv, alg, key_ops: operations }: JWK): boolean {
  if (alg !== undefined && !(publicKeyAlgorithms as readonly string[]).includes(alg)) return false;
  if (operations !== undefined && !(Array.isArray(operations) && operations.includes('verify'))) return false;
  return kty === 'RSA' || crv === (kty === 'EC' ? 'P-256' : 'Ed25519');
}

function createKeyFinder(keys: JWK[]): KeyFinder {
  const set = createLocalJWKSet({ keys });
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
