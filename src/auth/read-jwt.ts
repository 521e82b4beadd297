/** Reads JSON Web Tokens that are signed with a secret of the project (HS256) or the private key of a known public key. */
import { createSecretKey, type KeyObject } from 'node:crypto';
import { decodeProtectedHeader, errors, type JWTPayload, type JWTVerifyOptions, jwtVerify, type ProtectedHeaderParameters } from 'jose';
import { ApiError } from '../errors/api-error.ts';
import type { ApiKeys } from './api-keys.ts';
import { readClaim, roleIn } from './caller.ts';
import { type KeySet, type PublicKeys, publicKeyAlgorithms } from './public-keys.ts';
import type { RevokedTokens } from './revoked-tokens.ts';

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

/** How far the issuer's clock may be ahead, unless the configured leeway is longer. */
const issueLeewaySeconds = 60;

const issuedLater = 'has an iat claim in the future. Check the clocks of this server and of the server that signed it.';
export const tooLate = 'has expired. Get a new one.';
export const tooEarly = 'is not yet valid. Check its nbf claim, and the clocks of this server and of the server that signed it.';

export interface ReadToken {
  readonly payload: JWTPayload;
  /** The public keys that have verified it; null if a secret has. */
  readonly keySet: KeySet | null;
}

/** Rejects with UNAUTHENTICATED unless the token is signed, within its time, and has claims that can be used. */
export type TokenReader = (token: string, subject: string) => Promise<ReadToken>;

export function createTokenReader({ secrets, publicKeys, audience, issuer, leeway = 0 }: TokenRules): TokenReader {
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
    const payload = await verifySignature(token, keys, { ...claims, algorithms: [alg] }, subject);
    checkTimes(payload, leeway, subject);
    checkNesting(payload, subject);
    checkIds(payload, subject);
    return { payload, keySet };
  };
}

/** The payload, if one of the keys verifies the token. */
async function verifySignature(token: string, keys: readonly KeyObject[], options: JWTVerifyOptions, subject: string): Promise<JWTPayload> {
  let failure: unknown = null;
  for (const key of keys) {
    try {
      return (await jwtVerify(token, key, options)).payload;
    } catch (error) {
      failure = error;
      if (!(error instanceof errors.JWSSignatureVerificationFailed)) break;
    }
  }
  throw unauthenticated(`${subject} ${failure === null ? unknownKey : explain(failure)}`, failure);
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

/** Throws UNAUTHENTICATED if the claims name no role that tokens may name. */
export function readRole(payload: JWTPayload, { roleClaim = ['role'], tokenRoles }: TokenRules, subject: string): string {
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

export function unauthenticated(message: string, cause?: unknown): ApiError {
  return new ApiError('UNAUTHENTICATED', message, { cause });
}
