/** What the head of every request must fulfil, whatever its path. In: the request; out: nothing, or what is wrong. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { ApiError } from '../errors.ts';

/** A proxy in front may read another one of several than we do. */
const onlyOnce = ['host', 'apikey', 'content-type', 'authorization'] as const;

/** Throws BAD_REQUEST where the header Host is missing, or one that may come only once comes twice. */
export function checkHead({ httpVersion, headers, rawHeaders }: IncomingMessage): void {
  if (headers.host === undefined && httpVersion === '1.1') {
    throw new ApiError('BAD_REQUEST', 'The header Host is missing: HTTP/1.1 requires it.');
  }
  if (!mayRepeat(headers)) return;
  const names = rawHeaders.filter((_, index) => index % 2 === 0);
  const repeated = names.find((name, index) => isOnlyOnce(name) && names.findIndex((other) => isSame(other, name)) < index);
  if (repeated !== undefined) throw new ApiError('BAD_REQUEST', `The header ${repeated} comes more than once: send it once.`);
}

/** Node joins repeated headers with commas (`joinDuplicateHeaders`), so that one without a comma came once. */
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
