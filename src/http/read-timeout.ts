/**
 * How long a client is willing to wait (RFC 7240, section 4.3). In: the Prefer header and the longest time allowed; out: the time for the
 * request.
 */

/** The elements of the header. A comma inside quotes does not separate elements. */
const elements = /(?:[^",]|"(?:[^"\\]|\\.)*"?)+/g;

/**
 * In milliseconds: the preference `wait` (in seconds, possibly a fraction) if it is given and shorter than `longest`. The first `wait`
 * counts; anything but a number above 0 is ignored, because nothing can be answered in no time.
 */
export function readTimeout(prefer: string | string[] | undefined, longest: number): number {
  if (prefer === undefined) return longest;
  const wait = String(prefer)
    .match(elements)
    ?.find((element) => /^\s*wait\s*(?:[=;]|$)/i.test(element));
  const [, plain, quoted] = /^\s*wait\s*=\s*(?:(\d+(?:\.\d+)?)|"(\d+(?:\.\d+)?)")\s*(?:;|$)/i.exec(wait ?? '') ?? [];
  const millis = Math.ceil(Number(plain ?? quoted) * 1000);
  return millis > 0 ? Math.min(longest, millis) : longest;
}
