/**
 * Who asks: the key in the header `apiKey` is required on every request, and a bearer token beside it decides instead. In: the headers
 * of a request; out: the caller, at once where the tokens are known.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { Caller } from '../engine/request.ts';
import { ApiError } from '../errors.ts';
import type { TokenVerifier } from './verify-token.ts';

/** The caller of a request. Throws or rejects with UNAUTHENTICATED. */
export function authenticateRequest(headers: IncomingHttpHeaders, verifier: TokenVerifier): Caller | Promise<Caller> {
  const key = headers.apikey;
  // Node joins a repeated header with a comma; that is no token either, so only the type is of interest here.
  if (typeof key !== 'string' || key === '') {
    throw new ApiError('UNAUTHENTICATED', "Send the header apiKey with a key of this project (HS256, signed with the project's secret).");
  }
  // The shape of both headers is checked before anything is verified: whoever throws here must leave no promise behind that nobody awaits.
  const { authorization } = headers;
  const token = authorization === undefined ? null : readBearerToken(authorization);
  const caller = verifier.verify(key, 'The apiKey');
  if (token === null) return caller;
  if (caller instanceof Promise) return caller.then(() => verifier.verify(token, 'The bearer token'));
  return verifier.verify(token, 'The bearer token');
}

/** Another scheme is refused: to pass over credentials would run the request as somebody else than its sender thinks. */
function readBearerToken(authorization: string): string {
  const token = authorization.slice(7).trim();
  if (authorization.slice(0, 7).toLowerCase() !== 'bearer ' || token === '') {
    throw new ApiError(
      'UNAUTHENTICATED',
      'The header Authorization must be "Bearer" and a JSON Web Token; leave it out to ask with the apiKey alone.',
    );
  }
  return token;
}
