/** How long a client is willing to wait (RFC 7240, section 4.3). In: the header Prefer and the longest time; out: the time for the request. */

/** In milliseconds: the preference `wait`, which is in seconds, if there is one and it is shorter. Anything but a number is ignored. */
export function readTimeout(prefer: string | string[] | undefined, longest: number): number {
  if (prefer === undefined) return longest;
  for (const preference of String(prefer).split(',')) {
    const [, seconds] = /^\s*wait\s*=\s*"?(\d{1,9}(?:\.\d{1,9})?)"?\s*(?:;|$)/i.exec(preference) ?? [];
    if (seconds !== undefined) return Math.min(longest, Math.ceil(Number(seconds) * 1000));
  }
  return longest;
}
