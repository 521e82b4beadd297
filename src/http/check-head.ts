/** What the head of every request must fulfil, whatever its path. In: the request; out: nothing, or what is wrong. */
import type { IncomingMessage } from 'node:http';
import { ApiError } from '../errors.ts';

/** Of these Node keeps the first or joins all, so that a proxy in front may have read another one than we do. */
const onlyOnce: ReadonlySet<string> = new Set(['host', 'apikey', 'content-type', 'authorization']);

/** Throws BAD_REQUEST where the header Host is missing, or one that may come only once comes twice. */
export function checkHead({ httpVersion, headers, rawHeaders }: IncomingMessage): void {
  if (headers.host === undefined && httpVersion === '1.1') {
    throw new ApiError('BAD_REQUEST', 'The header Host is missing: HTTP/1.1 requires it.');
  }
  let seen = '';
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!;
    // Few names have these lengths, which saves most the lower case.
    const { length } = name;
    if (length !== 4 && length !== 6 && length !== 12 && length !== 13) continue;
    const lower = name.toLowerCase();
    if (!onlyOnce.has(lower)) continue;
    if (seen.includes(lower)) throw new ApiError('BAD_REQUEST', `The header ${name} comes more than once: send it once.`);
    seen += lower;
  }
}
