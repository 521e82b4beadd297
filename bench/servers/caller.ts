import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
/** What a server of the benchmark receives through its environment. */

export interface Surroundings {
  readonly port: number;
  /** As the login role, which may switch to each caller's role. */
  readonly databaseUrl: string;
  /** As the superuser, for what is read once at startup. */
  readonly superuserUrl: string;
  readonly secret: string;
  readonly poolSize: number;
}

/** The environment of a server's process. */
export function toEnvironment(surroundings: Surroundings): Record<string, string> {
  return { BENCH_SURROUNDINGS: JSON.stringify(surroundings), NODE_ENV: 'production', GRAPHILE_ENV: 'production' };
}

/** Reads in that process what `toEnvironment` wrote. */
export function readSurroundings(): Surroundings {
  return JSON.parse(process.env.BENCH_SURROUNDINGS ?? '') as Surroundings;
}

/** Tokens (JWT, HS256): signs those of the benchmark, and identifies callers for the handlers that have no authentication of their own. */

/** The secret with which the servers of the benchmark verify tokens. */
export const secret = 'the secret of the benchmark, known to all its servers';

export interface Caller {
  readonly role: string;
  /** JSON text. */
  readonly claims: string;
}

const known = new Map<string, Caller>();

/** A token that stays valid beyond the benchmark. */
export function signToken(claims: Readonly<Record<string, string>>, secret: string): string {
  const parts = [
    { alg: 'HS256', typ: 'JWT' },
    { ...claims, exp: 4_102_444_800 },
  ];
  const signed = parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
  return `${signed}.${signatureOf(signed, secret)}`;
}

/** The sender of a request: the owner of its bearer token, or else of its key. Each token is verified only once, as in rowgraph. */
export function identifyCaller(headers: IncomingHttpHeaders, secret: string): Caller {
  const token = headers.authorization?.slice('Bearer '.length) ?? String(headers.apikey);
  const caller = known.get(token) ?? verifyToken(token, secret);
  known.set(token, caller);
  return caller;
}

function verifyToken(token: string, secret: string): Caller {
  const [head, payload, signature = ''] = token.split('.');
  const expected = Buffer.from(signatureOf(`${head}.${payload}`, secret));
  const given = Buffer.from(signature);
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) throw new Error('The token is not ours');
  const claims = Buffer.from(payload ?? '', 'base64url').toString();
  return { role: String((JSON.parse(claims) as { role: unknown }).role), claims };
}

function signatureOf(text: string, secret: string): string {
  return createHmac('sha256', secret).update(text).digest('base64url');
}
