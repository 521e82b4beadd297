/**
 * Verifies the keys and tokens of callers: opaque keys, and JSON Web Tokens with a role claim that are within their time. Valid tokens are
 * cached.
 */
import { LRUCache } from 'lru-cache';
import { settings } from '../settings/settings.ts';
import type { CacheStatistics } from '../statistics.ts';
import { isOpaque } from './api-keys.ts';
import { type VerifiedCaller, verifiedCaller } from './caller.ts';
import {
  createTokenReader,
  type ReadToken,
  readRole,
  type TokenReader,
  type TokenRules,
  tooEarly,
  tooLate,
  unauthenticated,
} from './read-jwt.ts';
import type { RevokedTokens } from './revoked-tokens.ts';

interface CachedToken extends Pick<ReadToken, 'keySet'> {
  readonly token: string;
  readonly caller: VerifiedCaller;
  /** Seconds since 1970: valid from `notBefore` on, until just before `expiresAt`. */
  readonly notBefore: number;
  readonly expiresAt: number;
  /** The list of revoked tokens that it was last checked against; it is not on that list. */
  checkedAgainst: RevokedTokens | undefined;
}

/** In characters. rowgraph's own tokens have about 200, those of large identity providers 2,000. */
const maximumCacheSize = 8 * 1024 * 1024;

const hasChanged = 'means another role or other claims now. Connect again.';
const isRevoked = 'has been revoked. Get a new one.';
const unknownText = 'is neither a key of this server nor a JSON Web Token. Check that all of it was copied, or get a new one.';

export class TokenVerifier {
  readonly #rules: TokenRules;
  readonly #readToken: TokenReader;
  /** Invalid tokens are not cached: an attacker could send any number of them to evict those of real callers. */
  readonly #cache: LRUCache<string, CachedToken>;
  /** How the callers in use were verified, even if the cache has forgotten them: the entry of a token, or the text of an opaque key. */
  readonly #held = new WeakMap<VerifiedCaller, CachedToken | string>();
  #hits = 0;
  #misses = 0;

  /** Caches this many tokens. Without secrets and keys it accepts nothing. */
  constructor(rules: TokenRules, maximumTokens = settings.tokenCache.default) {
    if (rules.secrets.includes('')) throw new Error('The JWT secret must not be empty.');
    this.#rules = rules;
    this.#readToken = createTokenReader(rules);
    this.#cache = new LRUCache({ max: maximumTokens, maxSize: maximumCacheSize, sizeCalculation: ({ token }) => token.length });
  }

  /**
   * The caller that a token identifies; the same object each time, so that later stages can cache what they derive from it. Synchronous if
   * the token is cached. Throws or rejects with UNAUTHENTICATED; `subject` begins the message ("The apiKey").
   */
  verify(token: string, subject: string): VerifiedCaller | Promise<VerifiedCaller> {
    if (this.#rules.apiKeys !== undefined && isOpaque(token)) return this.#verifyOpaque(token, subject);
    const entry = this.#cache.get(token);
    if (entry === undefined) return this.#verifyUncached(token, subject);
    if (this.#isDoubtful(entry)) {
      this.#cache.delete(token);
      return this.#verifyUncached(token, subject);
    }
    const refusal = this.#refuseCached(entry);
    if (refusal !== null) {
      this.#cache.delete(token);
      throw unauthenticated(`${subject} ${refusal}`);
    }
    this.#hits += 1;
    return entry.caller;
  }

  /**
   * Checks again a caller that `verify` has returned, for connections that outlive a request. Throws or rejects with UNAUTHENTICATED if the
   * token has expired or been revoked since, if its key is gone, or if it means something else now.
   */
  recheck(caller: VerifiedCaller, subject: string): void | Promise<void> {
    const how = this.#held.get(caller);
    if (how === undefined) return undefined;
    if (typeof how === 'string') return checkSame(caller, this.#verifyOpaque(how, subject), subject);
    if (this.#isDoubtful(how)) return this.#verifyAgain(caller, how, subject);
    const refusal = this.#refuseCached(how);
    if (refusal !== null) throw unauthenticated(`${subject} ${refusal}`);
    return undefined;
  }

  readStatistics(): CacheStatistics {
    return { name: 'token', entries: this.#cache.size, hits: this.#hits, misses: this.#misses };
  }

  async #verifyUncached(token: string, subject: string): Promise<VerifiedCaller> {
    this.#misses += 1;
    const { payload, keySet } = await this.#readToken(token, subject);
    const list = this.#rules.revoked?.current;
    if (list?.has(token, payload) === true) throw unauthenticated(`${subject} ${isRevoked}`);
    const caller = verifiedCaller(readRole(payload, this.#rules, subject), payload);
    const { leeway = 0 } = this.#rules;
    const [notBefore, expiresAt] = [(payload.nbf ?? -Infinity) - leeway, (payload.exp ?? Infinity) + leeway];
    const entry = { token, caller, notBefore, expiresAt, keySet, checkedAgainst: list };
    this.#cache.set(token, entry);
    this.#held.set(caller, entry);
    return caller;
  }

  #verifyOpaque(text: string, subject: string): VerifiedCaller {
    const key = this.#rules.apiKeys?.current.find(text);
    if (key === undefined) throw unauthenticated(`${subject} ${unknownText}`);
    if (Date.now() >= key.expiresAt) throw unauthenticated(`${subject} ${tooLate}`);
    if (this.#rules.revoked?.current.has(text, key.caller.claims ?? {}) === true) throw unauthenticated(`${subject} ${isRevoked}`);
    this.#held.set(key.caller, text);
    return key.caller;
  }

  async #verifyAgain(caller: VerifiedCaller, { token }: CachedToken, subject: string): Promise<void> {
    const again = await this.#verifyUncached(token, subject);
    checkSame(caller, again, subject);
    const found = this.#held.get(again);
    if (found !== undefined) this.#held.set(caller, found);
  }

  /** Whether the issuer of a cached token may have withdrawn its key. */
  #isDoubtful({ keySet }: CachedToken): boolean {
    return keySet !== null && keySet !== this.#rules.publicKeys?.currentSet();
  }

  /** Why a cached token is no longer valid; null if it still is. */
  #refuseCached(entry: CachedToken): string | null {
    const now = Math.floor(Date.now() / 1000);
    // The clock may be set back, so check both ends on every hit.
    if (now < entry.notBefore) return tooEarly;
    if (now >= entry.expiresAt) return tooLate;
    const list = this.#rules.revoked?.current;
    if (entry.checkedAgainst === list) return null;
    if (list?.has(entry.token, entry.caller.claims ?? {}) === true) return isRevoked;
    entry.checkedAgainst = list;
    return null;
  }
}

/** The entry of a key, or the rules for tokens, may have changed while a connection used it. */
function checkSame(before: VerifiedCaller, now: VerifiedCaller, subject: string): void {
  if (before === now) return;
  if (before.role !== now.role || JSON.stringify(before.claims) !== JSON.stringify(now.claims))
    throw unauthenticated(`${subject} ${hasChanged}`);
}
