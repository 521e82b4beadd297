/**
 * Public keys that an issuer publishes at a URL. In: the URL, and the header of a token; out: the keys that may have signed it, loaded when
 * they are needed.
 */
import type { ProtectedHeaderParameters } from 'jose';
import { ApiError } from '../errors/api-error.ts';
import type { Observer } from '../events.ts';
import { type FoundKeys, KeySet, type PublicKeys } from './public-keys.ts';

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
  /** The text of the current key set. */
  #text = '';
  #loadedAt = -Infinity;
  #triedAt = -Infinity;
  #loading: Promise<void> | null = null;

  constructor(url: string, observe: Observer, now: () => number = () => performance.now()) {
    this.#url = url;
    this.#observe = observe;
    this.#now = now;
  }

  currentSet(): KeySet | null {
    if (this.#set !== null && this.#now() > this.#loadedAt + lifetime) void this.#load();
    return this.#set;
  }

  async find(header: ProtectedHeaderParameters): Promise<FoundKeys> {
    if (this.#set === null) await this.#load();
    const found = await findIn(this.currentSet(), header);
    if (found.keys.length > 0) return found;
    await this.#load();
    const foundAnew = await findIn(this.#set, header);
    // The key may be one that the issuer has published since.
    if (foundAnew.keys.length === 0 && this.#triedAt > this.#loadedAt) throw unavailable();
    return foundAnew;
  }

  /** Never rejects. */
  #load(): Promise<void> {
    if (this.#loading === null && this.#now() < this.#triedAt + leastPause) return Promise.resolve();
    this.#loading ??= this.#fetch()
      .catch((error: unknown) => this.#observe({ kind: 'keys-load-failed', error }))
      .finally(() => {
        this.#loading = null;
      });
    return this.#loading;
  }

  async #fetch(): Promise<void> {
    this.#triedAt = this.#now();
    try {
      // A redirect could lead to a place where anybody can answer.
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

async function findIn(set: KeySet | null, header: ProtectedHeaderParameters): Promise<FoundKeys> {
  if (set === null) throw unavailable();
  return { keys: await set.find(header), set };
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
