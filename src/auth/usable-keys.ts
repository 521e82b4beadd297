/**
 * Separates the JSON Web Keys that can verify signatures from those that cannot. In: the keys of a set; out: the usable ones, reduced to
 * what verifying needs, and what is wrong with the others. An unusable key must not fail a request: anybody can name it in a token.
 */
import { createPublicKey, type KeyObject } from 'node:crypto';
import type { JWK } from 'jose';
import { quote } from '../errors/api-error.ts';

export interface UsableKeys {
  readonly keys: readonly JWK[];
  readonly problems: readonly string[];
}

/** In bits (RFC 7518, section 3.3). */
const leastModulus = 2048;

/** The usable keys, and a problem for each of the others. */
export function findUsableKeys(candidates: readonly JWK[]): UsableKeys {
  const keys: JWK[] = [];
  const problems: string[] = [];
  for (const [index, jwk] of candidates.entries()) {
    try {
      keys.push(readKey(jwk));
    } catch (error) {
      const name = typeof jwk.kid === 'string' ? quote(jwk.kid) : index + 1;
      problems.push(`the key ${name} ${(error as Error).message}`);
    }
  }
  return { keys, problems };
}

/** Other members are left out, because libraries treat them differently. */
function readKey(jwk: JWK): JWK {
  const { kid, alg } = jwk;
  const key = importKey(jwk);
  const { modulusLength = leastModulus } = key.asymmetricKeyDetails ?? {};
  if (modulusLength < leastModulus) throw new Error(`has ${modulusLength} bits: RS256 and PS256 need at least ${leastModulus}`);
  return { ...key.export({ format: 'jwk' }), ...(kid !== undefined && { kid }), ...(alg !== undefined && { alg }) } as JWK;
}

function importKey(jwk: JWK): KeyObject {
  try {
    return createPublicKey({ key: jwk as never, format: 'jwk' });
  } catch (error) {
    throw new Error(`is not a valid ${jwk.kty} key (${(error as Error).message})`, { cause: error });
  }
}
