/**
 * Checks the JSON Web Tokens of callers: HS256 with the project's secret, within its time, with the role as a claim. In: the text of
 * a token; out: the caller. Tokens that passed are remembered, so that a known one costs a look-up and a look at the clock.
 */
import { createSecretKey } from 'node:crypto';
import { errors, type JWTPayload, jwtVerify } from 'jose';
import { LRUCache } from 'lru-cache';
import type { Caller } from '../engine/request.ts';
import { ApiError } from '../errors.ts';
import type { CacheStatistics } from '../events.ts';

export interface TokenVerifier {
  /**
   * The caller whom a token stands for; the same object each time, which lets later stages keep what they derive from it.
   * At once where the token is known. Throws or rejects with UNAUTHENTICATED; `subject` begins its message ("The apiKey").
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

/** In characters; a token of ours has some 200, one of a large identity provider 2,000. */
const maximumCacheSize = 8 * 1024 * 1024;

/** A verifier for one secret, which remembers so many tokens. */
export function createTokenVerifier(secret: string, maximumTokens = 10_000): TokenVerifier {
  if (secret === '') throw new Error('The JWT secret must not be empty.');
  const key = createSecretKey(secret, 'utf8');
  // Tokens that fail are not kept: their number is the attacker's choice, and they would push out those of real callers.
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
      // The clock may be set back, so both ends count on every hit.
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

/** How far the clock of whoever signs tokens may be ahead. */
const issueLeewaySeconds = 60;

const issuedLater = 'says in its claim iat that it was issued in the future: see the clocks of this server and of the one that signed it.';
const tooLate = 'is expired: get a new one.';
const tooEarly = 'is not yet valid: see its claim nbf, and the clocks of this server and of the one that signed it.';

async function readPayload(token: string, key: Parameters<typeof jwtVerify>[1], subject: string): Promise<JWTPayload> {
  try {
    // Naming the algorithm is what keeps out `alg: none` and keys of another kind (RFC 8725, section 3.1).
    const { payload } = await jwtVerify(token, key, { algorithms: ['HS256'] });
    return payload;
  } catch (error) {
    throw unauthenticated(`${subject} ${explain(error)}`, error);
  }
}

function explain(error: unknown): string {
  if (error instanceof errors.JWTExpired) return tooLate;
  if (error instanceof errors.JWTClaimValidationFailed && error.claim === 'nbf' && error.reason === 'check_failed') return tooEarly;
  if (error instanceof errors.JWTClaimValidationFailed) return `has a claim ${error.claim} that is not valid: sign it anew.`;
  if (error instanceof errors.JWSSignatureVerificationFailed) return "is not signed with this project's secret.";
  if (error instanceof errors.JOSEAlgNotAllowed)
    return "is not signed with HS256, the only algorithm that is accepted: sign it with this project's secret.";
  return 'is not a JSON Web Token: copy the whole of it, three parts with two dots in between.';
}

/** jose takes any number, such as the infinite one that `1e999` is, and does not look at the time of issue. */
function checkTimes({ exp, nbf, iat }: JWTPayload, subject: string): void {
  for (const [name, time] of Object.entries({ exp, nbf, iat })) {
    if (time !== undefined && !Number.isFinite(time))
      throw unauthenticated(`${subject} has a claim ${name} that is not a time: sign it anew.`);
  }
  if (iat !== undefined && iat > Date.now() / 1000 + issueLeewaySeconds) throw unauthenticated(`${subject} ${issuedLater}`);
}

/** `none` is no role but the word that resets to the login role, whose rights no token may lend (PostgreSQL: SET ROLE). */
function readRole(payload: JWTPayload, subject: string): string {
  const role = payload.role;
  if (typeof role !== 'string' || role === '' || role === 'none' || role.includes('\0') || !role.isWellFormed()) {
    throw unauthenticated(`${subject} does not say whose it is: its claim role must be the name of a database role.`);
  }
  return role;
}

function unauthenticated(message: string, cause?: unknown): ApiError {
  return new ApiError('UNAUTHENTICATED', message, { cause });
}
