/**
 * Requirements on the headers of every request, whatever its path. In: the request; out: nothing, or an error.
 *
 * Relies on Node beyond its documentation: which repeated headers a server joins with `joinDuplicateHeaders`
 * (`test/contracts/node.test.ts`).
 */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { ApiError } from '../errors.ts';

/** If one of these is repeated, a proxy in front of rowgraph may use a different value than rowgraph does. */
const onlyOnce = ['host', 'apikey', 'content-type', 'authorization'] as const;

/**
 * Throws BAD_REQUEST if the Host header is missing, or a header that must be unique is repeated. `areJoined`: whether Node has joined
 * repeated headers with commas (`joinDuplicateHeaders`); then a header without a comma was sent once.
 */
export function checkHead({ httpVersion, headers, rawHeaders }: IncomingMessage, areJoined: boolean): void {
  if (headers.host === undefined && httpVersion === '1.1') {
    throw new ApiError('BAD_REQUEST', 'The Host header is missing. HTTP/1.1 requires it.');
  }
  if (areJoined && !mayRepeat(headers)) return;
  const names = rawHeaders.filter((_, index) => index % 2 === 0);
  const repeated = names.find((name, index) => isOnlyOnce(name) && names.findIndex((other) => isSame(other, name)) < index);
  if (repeated !== undefined) throw new ApiError('BAD_REQUEST', `The ${repeated} header was sent more than once. Send it once.`);
}

function mayRepeat({ host, apikey, authorization, 'content-type': contentType }: IncomingHttpHeaders): boolean {
  return hasComma(host) || hasComma(apikey) || hasComma(authorization) || hasComma(contentType);
}

function hasComma(value: string | string[] | undefined): boolean {
  return value?.includes(',') ?? false;
}

function isOnlyOnce(name: string): boolean {
  return onlyOnce.some((each) => isSame(each, name));
}

function isSame(name: string, other: string): boolean {
  return name.toLowerCase() === other.toLowerCase();
}
