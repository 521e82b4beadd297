/**
 * Verifies the keys and tokens of callers: opaque keys, and JSON Web Tokens with a role claim that are within their time and signed with a
 * secret of the project (HS256) or the private key of a known public key. Valid tokens are cached.
 */

import { createSecretKey } from 'node:crypto';
import { decodeProtectedHeader, errors, type JWTPayload, type JWTVerifyOptions, jwtVerify, type ProtectedHeaderParameters } from 'jose';
import { LRUCache } from 'lru-cache';
import { ApiError } from '../errors/api-error.ts';
import { settings } from '../settings/settings.ts';
import type { CacheStatistics } from '../statistics.ts';
import { type ApiKeys, isOpaque } from './api-keys.ts';
import { readClaim, roleIn, type VerifiedCaller, verifiedCaller } from './caller.ts';
import { type KeySet, type PublicKeys, publicKeyAlgorithms } from './public-keys.ts';
import type { RevokedTokens } from './revoked-tokens.ts';

export interface TokenVerifier {
  /**
   * The caller that a token identifies; the same object each time, so that later stages can cache what they derive from it. Synchronous if
   * the token is cached. Throws or rejects with UNAUTHENTICATED; `subject` begins the message ("The apiKey").
   */
  verify(token: string, subject: string): VerifiedCaller | Promise<VerifiedCaller>;
  /**
   * Checks again a caller that `verify` has returned, for connections that outlive a request. Throws or rejects with UNAUTHENTICATED if the
   * token has expired or been revoked since, if its key is gone, or if it means something else now.
   */
  recheck(caller: VerifiedCaller, subject: string): void | Promise<void>;
  readStatistics(): CacheStatistics;
}

export interface TokenRules {
  /** Secrets that tokens may be signed with (HS256): the project's current one, and former ones while their tokens are in use. */
  readonly secrets: readonly string[];
  /** Public keys that verify the tokens of other issuers. */
  readonly publicKeys?: PublicKeys | undefined;
  /** A token must name one of these in `aud`; if absent, anything is accepted. */
  readonly audience?: readonly string[] | undefined;
  /** A token must name one of these in `iss`; if absent, anything is accepted. */
  readonly issuer?: readonly string[] | undefined;
  /** Seconds by which an issuer's clock may differ. Default: 0. */
  readonly leeway?: number | undefined;
  /** The path of the role in the claims. Default: `role`. */
  readonly roleClaim?: readonly string[] | undefined;
  /** The roles that tokens may name. If absent, they may name any, but not in a list. */
  readonly tokenRoles?: readonly string[] | undefined;
  readonly apiKeys?: { readonly current: ApiKeys } | undefined;
  readonly revoked?: { readonly current: RevokedTokens } | undefined;
}

interface CachedToken {
  readonly token: string;
  readonly caller: VerifiedCaller;
  /** Seconds since 1970: valid from `notBefore` on, until just before `expiresAt`. */
  readonly notBefore: number;
  readonly expiresAt: number;
  /** The public keys that have verified it; null if a secret has. */
  readonly keySet: KeySet | null;
  /** The list of revoked tokens that it was last checked against; it is not on that list. */
  checkedAgainst: RevokedTokens | undefined;
}

/** In characters. rowgraph's own tokens have about 200, those of large identity providers 2,000. */
const maximumCacheSize = 8 * 1024 * 1024;

/** A verifier for these rules, with a cache of this many tokens. Without secrets and keys it accepts nothing. */
export function createTokenVerifier(rules: TokenRules, maximumTokens = settings.tokenCache.default): TokenVerifier {
  const { secrets, publicKeys, apiKeys, revoked } = rules;
  if (secrets.includes('')) throw new Error('The JWT secret must not be empty.');
  const { leeway = 0 } = rules;
  const readPayload = createPayloadReader(rules);
  // Invalid tokens are not cached: an attacker could send any number of them to evict those of real callers.
  const cache = new LRUCache<string, CachedToken>({
    max: maximumTokens,
    maxSize: maximumCacheSize,
    sizeCalculation: ({ token }) => token.length,
  });
  /** How the callers in use were verified, even if the cache has forgotten them: the entry of a token, or the text of an opaque key. */
  const held = new WeakMap<VerifiedCaller, CachedToken | string>();
  let hits = 0;
  let misses = 0;

  async function verifyUncached(token: string, subject: string): Promise<VerifiedCaller> {
    misses += 1;
    const { payload, keySet } = await readPayload(token, subject);
    checkTimes(payload, leeway, subject);
    checkNesting(payload, subject);
    checkIds(payload, subject);
    const list = revoked?.current;
    if (list?.has(token, payload) === true) throw unauthenticated(`${subject} ${isRevoked}`);
    const caller = verifiedCaller(readRole(payload, rules, subject), payload);
    const [notBefore, expiresAt] = [(payload.nbf ?? -Infinity) - leeway, (payload.exp ?? Infinity) + leeway];
    const entry = { token, caller, notBefore, expiresAt, keySet, checkedAgainst: list };
    cache.set(token, entry);
    held.set(caller, entry);
    return caller;
  }

  function verifyOpaqueKey(text: string, subject: string): VerifiedCaller {
    const caller = verifyOpaque(text, subject, apiKeys!.current, revoked?.current);
    held.set(caller, text);
    return caller;
  }

  async function verifyAgain(caller: VerifiedCaller, entry: CachedToken, subject: string): Promise<void> {
    const again = await verifyUncached(entry.token, subject);
    checkSame(caller, again, subject);
    const found = held.get(again);
    if (found !== undefined) held.set(caller, found);
  }

  /** Whether the issuer of a cached token may have withdrawn its key. */
  const isDoubtful = ({ keySet }: CachedToken): boolean => keySet !== null && keySet !== publicKeys?.currentSet();

  return {
    verify(token, subject) {
      if (apiKeys !== undefined && isOpaque(token)) return verifyOpaqueKey(token, subject);
      const entry = cache.get(token);
      if (entry === undefined) return verifyUncached(token, subject);
      if (isDoubtful(entry)) {
        cache.delete(token);
        return verifyUncached(token, subject);
      }
      const refusal = refuseCached(entry, Math.floor(Date.now() / 1000), revoked?.current);
      if (refusal !== null) {
        cache.delete(token);
        throw unauthenticated(`${subject} ${refusal}`);
      }
      hits += 1;
      return entry.caller;
    },
    recheck(caller, subject) {
      const how = held.get(caller);
      if (how === undefined) return undefined;
      if (typeof how === 'string') return checkSame(caller, verifyOpaqueKey(how, subject), subject);
      if (isDoubtful(how)) return verifyAgain(caller, how, subject);
      const refusal = refuseCached(how, Math.floor(Date.now() / 1000), revoked?.current);
      if (refusal !== null) throw unauthenticated(`${subject} ${refusal}`);
      return undefined;
    },
    readStatistics: () => ({ name: 'token', entries: cache.size, hits, misses }),
  };
}

/** Why a cached token is no longer valid; null if it still is. */
function refuseCached(entry: CachedToken, now: number, list: RevokedTokens | undefined): string | null {
  // The clock may be set back, so check both ends on every hit.
  if (now < entry.notBefore) return tooEarly;
  if (now >= entry.expiresAt) return tooLate;
  if (entry.checkedAgainst === list) return null;
  if (list?.has(entry.token, entry.caller.claims ?? {}) === true) return isRevoked;
  entry.checkedAgainst = list;
  return null;
}

function verifyOpaque(text: string, subject: string, keys: ApiKeys, list: RevokedTokens | undefined): VerifiedCaller {
  const key = keys.find(text);
  if (key === undefined) throw unauthenticated(`${subject} ${unknownText}`);
  if (Date.now() >= key.expiresAt) throw unauthenticated(`${subject} ${tooLate}`);
  if (list?.has(text, key.caller.claims ?? {}) === true) throw unauthenticated(`${subject} ${isRevoked}`);
  return key.caller;
}

/** The entry of a key, or the rules for tokens, may have changed while a connection used it. */
function checkSame(before: VerifiedCaller, now: VerifiedCaller, subject: string): void {
  if (before === now) return;
  if (before.role !== now.role || JSON.stringify(before.claims) !== JSON.stringify(now.claims))
    throw unauthenticated(`${subject} ${hasChanged}`);
}

/** How far the issuer's clock may be ahead, unless the configured leeway is longer. */
const issueLeewaySeconds = 60;

const issuedLater = 'has an iat claim in the future. Check the clocks of this server and of the server that signed it.';
const tooLate = 'has expired. Get a new one.';
const hasChanged = 'means another role or other claims now. Connect again.';
const isRevoked = 'has been revoked. Get a new one.';
const unknownText = 'is neither a key of this server nor a JSON Web Token. Check that all of it was copied, or get a new one.';
const tooEarly = 'is not yet valid. Check its nbf claim, and the clocks of this server and of the server that signed it.';

type PayloadReader = (token: string, subject: string) => Promise<Pick<CachedToken, 'keySet'> & { readonly payload: JWTPayload }>;

function createPayloadReader({ secrets, publicKeys, audience, issuer, leeway = 0 }: TokenRules): PayloadReader {
  const secretKeys = secrets.map((secret) => createSecretKey(secret, 'utf8'));
  const algorithms: readonly string[] = [
    ...(secrets.length > 0 ? ['HS256'] : []),
    ...(publicKeys === undefined ? [] : publicKeyAlgorithms),
  ];
  const claims: JWTVerifyOptions = {
    clockTolerance: leeway,
    ...(audience !== undefined && { audience: [...audience] }),
    ...(issuer !== undefined && { issuer: [...issuer] }),
  };
  return async (token, subject) => {
    const header = readHeader(token, subject);
    // A secret verifies HS256 and nothing else: that rules out `alg: none` and other kinds of keys (RFC 8725, section 3.1).
    const { alg } = header;
    if (alg === undefined || !algorithms.includes(alg)) throw unauthenticated(`${subject} ${describeAlgorithms(algorithms)}`);
    const { keys, set: keySet } = alg === 'HS256' ? { keys: secretKeys, set: null } : await publicKeys!.find(header);
    let failure: unknown = null;
    for (const key of keys) {
      try {
        const { payload } = await jwtVerify(token, key, { ...claims, algorithms: [alg] });
        return { payload, keySet };
      } catch (error) {
        failure = error;
        if (!(error instanceof errors.JWSSignatureVerificationFailed)) break;
      }
    }
    throw unauthenticated(`${subject} ${failure === null ? unknownKey : explain(failure)}`, failure);
  };
}

function readHeader(token: string, subject: string): ProtectedHeaderParameters {
  try {
    return decodeProtectedHeader(token);
  } catch (error) {
    throw unauthenticated(`${subject} ${notAToken}`, error);
  }
}

function describeAlgorithms(algorithms: readonly string[]): string {
  if (algorithms.length === 0) return 'is a JSON Web Token, and this server accepts none. Send one of its keys.';
  return algorithms.length === 1 && algorithms[0] === 'HS256'
    ? "is not signed with HS256, the only supported algorithm. Sign it with HS256 and this project's secret."
    : `is not signed with a supported algorithm. Sign it with one of ${algorithms.join(', ')}.`;
}

const notAToken = 'is not a JSON Web Token. Copy all of it: three parts separated by dots.';
const unknownKey =
  'is signed with a key that this server does not know or cannot use. Get a new one, and check which keys the server loads, and its log.';

function explain(error: unknown): string {
  if (error instanceof errors.JWTExpired) return tooLate;
  if (error instanceof errors.JWTClaimValidationFailed && error.claim === 'nbf' && error.reason === 'check_failed') return tooEarly;
  if (error instanceof errors.JWTClaimValidationFailed) return `has an invalid ${error.claim} claim. Sign a new one.`;
  if (error instanceof errors.JWSSignatureVerificationFailed) return "has an invalid signature. Sign it with this project's secret or key.";
  if (error instanceof errors.JOSENotSupported) return 'has a header (crit) that is not supported. Sign it without.';
  return notAToken;
}

/** Needed because jose accepts any number, even `1e999`, which is infinite, and does not check the time of issue. */
function checkTimes({ exp, nbf, iat }: JWTPayload, leeway: number, subject: string): void {
  for (const [name, time] of Object.entries({ exp, nbf, iat })) {
    if (time !== undefined && !Number.isFinite(time))
      throw unauthenticated(`${subject} has an invalid ${name} claim: it is not a time. Sign a new one.`);
  }
  if (iat !== undefined && iat > Date.now() / 1000 + Math.max(issueLeewaySeconds, leeway))
    throw unauthenticated(`${subject} ${issuedLater}`);
}

/** PostgreSQL gets the claims as JSON, which cannot be written if they are nested thousands of levels deep, although it can be read. */
function checkNesting(payload: JWTPayload, subject: string): void {
  try {
    JSON.stringify(payload);
  } catch {
    throw unauthenticated(`${subject} has claims that are nested too deeply.`);
  }
}

/**
 * JSON numbers beyond 2^53 are rounded when they are parsed, so that two users would become one, and a revoked id would not be recognized.
 */
function checkIds(payload: JWTPayload, subject: string): void {
  for (const name of ['sub', 'jti', 'session_id']) {
    if (typeof payload[name] === 'number' && !Number.isSafeInteger(payload[name]))
      throw unauthenticated(`${subject} has an invalid ${name} claim: it is not a whole number below 2^53. Sign it as a string.`);
  }
}

function readRole(payload: JWTPayload, { roleClaim = ['role'], tokenRoles }: TokenRules, subject: string): string {
  const value = readClaim(payload, roleClaim);
  const role = roleIn(value, tokenRoles);
  if (role !== undefined) return role;
  if (roleIn(value, undefined) !== undefined || (tokenRoles !== undefined && Array.isArray(value)))
    throw unauthenticated(
      `${subject} names no role that this server accepts. Sign it with one of those roles, or add its role to tokenRoles.`,
    );
  if (Array.isArray(value))
    throw unauthenticated(`${subject} has a list as its role claim. Set tokenRoles to the roles that tokens may name.`);
  throw unauthenticated(`${subject} has no valid role claim. Set the claim to the name of a database role.`);
}

function unauthenticated(message: string, cause?: unknown): ApiError {
  return new ApiError('UNAUTHENTICATED', message, { cause });
}
