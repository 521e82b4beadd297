/**
 * Checks the JSON Web Tokens of callers: HS256 with the project's secret, within its time, with the role as a claim. In: the text of
 * a token; out: the caller. Valid tokens are cached, so that verifying one again costs only a lookup and a check of the time.
 */
import { createSecretKey } from 'node:crypto';
import { errors, type JWTPayload, jwtVerify } from 'jose';
import { LRUCache } from 'lru-cache';
import type { Caller } from '../engine/request.ts';
import { ApiError } from '../errors.ts';
import type { CacheStatistics } from '../events.ts';

export interface TokenVerifier {
  /**
   * The caller that a token identifies; the same object each time, so that later stages can cache what they derive from it.
   * Synchronous if the token is cached. Throws or rejects with UNAUTHENTICATED; `subject` begins the message ("The apiKey").
   */
  verify(token: string, subject: string): Caller | Promise<Caller>;
  readStatistics(): CacheStatistics;
}

interface KnownToken {
  readonly caller: Caller;
  /** Seconds since 1970: valid from `notBefore` on, until just before `expiresAt`. */
  readonly notBefore: number;
  readonly expiresAt: number;
}

/** In characters; rowgraph's own tokens have about 200, those of large identity providers 2,000. */
const maximumCacheSize = 8 * 1024 * 1024;

/** A verifier for one secret, with a cache of this many tokens. */
export function createTokenVerifier(secret: string, maximumTokens = 10_000): TokenVerifier {
  if (secret === '') throw new Error('The JWT secret must not be empty.');
  const key = createSecretKey(secret, 'utf8');
  // Invalid tokens are not cached: an attacker could send any number of them and evict those of real callers.
  const known = new LRUCache<string, KnownToken>({
    max: maximumTokens,
    maxSize: maximumCacheSize,
    sizeCalculation: (_value, token) => token.length,
  });
  let hits = 0;
  let misses = 0;

  async function verifyUnknown(token: string, subject: string): Promise<Caller> {
    misses += 1;
    const payload = await readPayload(token, key, subject);
    checkTimes(payload, subject);
    const caller = Object.freeze({ role: readRole(payload, subject), claims: Object.freeze(payload) });
    known.set(token, { caller, notBefore: payload.nbf ?? -Infinity, expiresAt: payload.exp ?? Infinity });
    return caller;
  }

  return {
    verify(token, subject) {
      const entry = known.get(token);
      if (entry === undefined) return verifyUnknown(token, subject);
      const now = Math.floor(Date.now() / 1000);
      // The clock may be set back, so check both ends on every hit.
      if (now < entry.expiresAt && now >= entry.notBefore) {
        hits += 1;
        return entry.caller;
      }
      known.delete(token);
      throw unauthenticated(now < entry.notBefore ? `${subject} ${tooEarly}` : `${subject} ${tooLate}`);
    },
    readStatistics: () => ({ name: 'token', entries: known.size, hits, misses }),
  };
}

/** How far the clock of the issuer may be ahead. */
const issueLeewaySeconds = 60;

const issuedLater = 'has an iat claim in the future. Check the clocks of this server and of the server that signed it.';
const tooLate = 'has expired. Get a new one.';
const tooEarly = 'is not yet valid. Check its nbf claim, and the clocks of this server and of the server that signed it.';

async function readPayload(token: string, key: Parameters<typeof jwtVerify>[1], subject: string): Promise<JWTPayload> {
  try {
    // Naming the algorithm rules out `alg: none` and other kinds of keys (RFC 8725, section 3.1).
    const { payload } = await jwtVerify(token, key, { algorithms: ['HS256'] });
    return payload;
  } catch (error) {
    throw unauthenticated(`${subject} ${explain(error)}`, error);
  }
}

function explain(error: unknown): string {
  if (error instanceof errors.JWTExpired) return tooLate;
  if (error instanceof errors.JWTClaimValidationFailed && error.claim === 'nbf' && error.reason === 'check_failed') return tooEarly;
  if (error instanceof errors.JWTClaimValidationFailed) return `has an invalid ${error.claim} claim. Sign a new one.`;
  if (error instanceof errors.JWSSignatureVerificationFailed) return "has an invalid signature. Sign it with this project's secret.";
  if (error instanceof errors.JOSEAlgNotAllowed)
    return "is not signed with HS256, the only supported algorithm. Sign it with HS256 and this project's secret.";
  return 'is not a JSON Web Token. Copy all of it: three parts separated by dots.';
}

/** jose accepts any number, even `1e999`, which is infinite, and does not check the time of issue. */
function checkTimes({ exp, nbf, iat }: JWTPayload, subject: string): void {
  for (const [name, time] of Object.entries({ exp, nbf, iat })) {
    if (time !== undefined && !Number.isFinite(time))
      throw unauthenticated(`${subject} has an invalid ${name} claim: it is not a time. Sign a new one.`);
  }
  if (iat !== undefined && iat > Date.now() / 1000 + issueLeewaySeconds) throw unauthenticated(`${subject} ${issuedLater}`);
}

/** `none` is not a role: it resets to the login role, whose privileges no token may grant (PostgreSQL: SET ROLE). */
function readRole(payload: JWTPayload, subject: string): string {
  const role = payload.role;
  if (typeof role !== 'string' || role === '' || role === 'none' || role.includes('\0') || !role.isWellFormed()) {
    throw unauthenticated(`${subject} has no valid role claim. Set the claim to the name of a database role.`);
  }
  return role;
}

function unauthenticated(message: string, cause?: unknown): ApiError {
  return new ApiError('UNAUTHENTICATED', message, { cause });
}
