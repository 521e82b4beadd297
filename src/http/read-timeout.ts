/** How long a client is willing to wait (RFC 7240, section 4.3). In: the header Prefer and the longest time; out: the time for the request. */

/** The elements of the header: a comma inside quotes belongs to its element. */
const elements = /(?:[^",]|"(?:[^"\\]|\\.)*"?)+/g;

/**
 * In milliseconds: the preference `wait`, which is in seconds, if there is one and it is shorter. It may be a fraction. The first `wait` counts; anything but
 * a number above 0 is ignored, as nothing can be answered in no time.
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
