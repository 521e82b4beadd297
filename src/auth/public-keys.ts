/** Public keys that verify tokens: in a text (PEM, or a JSON Web Key Set, RFC 7517), or at a URL where their issuer publishes them. */
import { createPublicKey, type KeyObject } from 'node:crypto';
import type { JWK, ProtectedHeaderParameters } from 'jose';
import { ApiError, isJsonObject, quote } from '../errors/api-error.ts';
import type { Observer } from '../events.ts';

/** The signature algorithms for public keys. HMAC is not among them: anybody who knew a public key could sign with it. */
export const publicKeyAlgorithms = ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'] as const;

/** The keys that may have signed a token, and the set that they are from. */
interface FoundKeys {
  readonly keys: readonly KeyObject[];
  readonly set: KeySet;
}

export interface PublicKeys {
  /**
   * The keys that may have signed a token with this header; none if no key fits. Rejects with KEYS_UNAVAILABLE if they cannot be loaded.
   */
  find(header: ProtectedHeaderParameters): Promise<FoundKeys>;
  /**
   * The set in use now; null if none has been loaded. Has a newer one loaded if that is due. What another set has verified may no longer
   * be valid.
   */
  currentSet(): KeySet | null;
}

/**
 * The keys in a text: PEM blocks (public keys or certificates), a JSON Web Key, or a set of them. Throws an `Error` that says what is
 * wrong.
 */
export function readPublicKeys(text: string, observe: Observer = () => {}): PublicKeys {
  const set = new KeySet(text);
  if (set.problems.length > 0) observe({ kind: 'keys-ignored', problems: set.problems });
  return { find: async (header) => ({ keys: set.find(header), set }), currentSet: () => set };
}

const mostKeys = 100;
/** In bits (RFC 7518, section 3.3). */
const leastModulus = 2048;

interface UsableKey {
  readonly kid: string | undefined;
  /** Undefined if it is for every algorithm of its type. */
  readonly alg: string | undefined;
  readonly kty: string | undefined;
  readonly key: KeyObject;
}

/** A set of keys, which never changes. */
export class KeySet {
  /** What is wrong with the keys that cannot be used. They count as if they were missing, as anybody can name one in a token. */
  readonly problems: readonly string[];
  readonly #keys: readonly UsableKey[];

  /** The keys in a text. Throws an `Error` that says what is wrong. */
  constructor(text: string) {
    const candidates = text.includes('-----BEGIN ') ? readPem(text) : readJwks(text);
    if (candidates.length > mostKeys) throw new Error(`holds more than ${mostKeys} keys`);
    const keys: UsableKey[] = [];
    const problems: string[] = [];
    for (const [index, jwk] of candidates.filter(isForVerifying).entries()) {
      try {
        keys.push({ kid: jwk.kid, alg: jwk.alg, kty: jwk.kty, key: importKey(jwk) });
      } catch (error) {
        const name = typeof jwk.kid === 'string' ? quote(jwk.kid) : index + 1;
        problems.push(`the key ${name} ${(error as Error).message}`);
      }
    }
    if (keys.length === 0) throw new Error(['holds no key for RS256, PS256, ES256 or EdDSA', ...problems].join('; '));
    this.problems = problems;
    this.#keys = keys;
  }

  /** The keys that may have signed a token with this header; none if no key fits. */
  find({ kid, alg = '' }: ProtectedHeaderParameters): readonly KeyObject[] {
    const fitting = this.#keys.filter((key) => key.kty === typeOf(alg) && (key.alg === undefined || key.alg === alg));
    const named = fitting.filter((key) => key.kid !== undefined && (typeof kid !== 'string' || key.kid === kid));
    // A token with a key id may have been signed by a key that has none.
    const found = named.length > 0 ? named : fitting.filter((key) => key.kid === undefined);
    return found.map(({ key }) => key);
  }
}

function typeOf(alg: string): string {
  if (alg.startsWith('E')) return alg === 'ES256' ? 'EC' : 'OKP';
  return 'RSA';
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
  // Ignore everything else that an issuer publishes. Above all, a symmetric key must never be taken from what is public.
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

function importKey(jwk: JWK): KeyObject {
  const key = readKey(jwk);
  const { modulusLength = leastModulus } = key.asymmetricKeyDetails ?? {};
  if (modulusLength < leastModulus) throw new Error(`has ${modulusLength} bits: RS256 and PS256 need at least ${leastModulus}`);
  return key;
}

function readKey(jwk: JWK): KeyObject {
  try {
    return createPublicKey({ key: jwk as never, format: 'jwk' });
  } catch (error) {
    throw new Error(`is not a valid ${jwk.kty} key (${(error as Error).message})`, { cause: error });
  }
}

/** Times in milliseconds. */
const fetchTimeout = 5_000;
const lifetime = 10 * 60_000;
const leastPause = 10_000;

const mostCharacters = 1024 * 1024;

/**
 * The keys at a URL. They are loaded when first needed, again after ten minutes, and when an unknown key is asked for, but at most every
 * ten seconds. If the issuer cannot be reached, the last keys stay valid.
 */
export class RemotePublicKeys implements PublicKeys {
  readonly #url: string;
  readonly #observe: Observer;
  readonly #now: () => number;
  #set: KeySet | null = null;
  #text = '';
  #loadedAt = -Infinity;
  #triedAt = -Infinity;
  #loading: Promise<void> | null = null;

  constructor(url: string, observe: Observer, now: () => number = () => performance.now()) {
    this.#url = url;
    this.#observe = observe;
    this.#now = now;
  }

  /** Loads them before they are needed, so that it is known if they cannot be loaded. Never rejects. */
  async preload(): Promise<void> {
    await this.#load();
    // The first token tries again: the issuer may have started at the same time.
    if (this.#set === null) this.#triedAt = -Infinity;
  }

  currentSet(): KeySet | null {
    if (this.#set !== null && this.#now() > this.#loadedAt + lifetime) void this.#load();
    return this.#set;
  }

  async find(header: ProtectedHeaderParameters): Promise<FoundKeys> {
    if (this.#set === null) await this.#load();
    const found = findIn(this.currentSet(), header);
    if (found.keys.length > 0) return found;
    await this.#load();
    const foundAnew = findIn(this.#set, header);
    // The key may be one that the issuer has published since.
    if (foundAnew.keys.length === 0 && this.#triedAt > this.#loadedAt) throw unavailable();
    return foundAnew;
  }

  #load(): Promise<void> {
    if (this.#loading === null && this.#now() < this.#triedAt + leastPause) return Promise.resolve();
    this.#loading ??= this.#fetch()
      .catch((error: unknown) => this.#observe({ kind: 'keys-load-failed', error, hasKeys: this.#set !== null }))
      .finally(() => {
        this.#loading = null;
      });
    return this.#loading;
  }

  async #fetch(): Promise<void> {
    this.#triedAt = this.#now();
    try {
      // A redirect could lead to a host where anybody can answer.
      const options = { signal: AbortSignal.timeout(fetchTimeout), headers: { accept: 'application/json' }, redirect: 'error' } as const;
      const response = await fetch(this.#url, options);
      if (!response.ok) throw new Error(`responded with status ${response.status}`);
      this.#take(await readText(response));
      this.#loadedAt = this.#triedAt;
    } catch (error) {
      const { message, cause } = error as Error;
      throw new Error(`${this.#url}: ${message}${cause instanceof Error ? ` (${cause.message})` : ''}`);
    }
  }

  /** An unchanged text leaves the key set unchanged, so that the tokens that it has verified stay cached. */
  #take(text: string): void {
    if (this.#set !== null && text === this.#text) return;
    this.#set = new KeySet(text);
    this.#text = text;
    const { problems } = this.#set;
    if (problems.length > 0) this.#observe({ kind: 'keys-ignored', problems: problems.map((problem) => `${this.#url}: ${problem}`) });
  }
}

function findIn(set: KeySet | null, header: ProtectedHeaderParameters): FoundKeys {
  if (set === null) throw unavailable();
  return { keys: set.find(header), set };
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
