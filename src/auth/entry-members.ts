/**
 * Reads the entries of key files and revocation lists. In: JSON; out: its members. Errors never repeat what a file contains: it might be a
 * key.
 */

/** The value of a JSON text. Throws an `Error` that says where it is broken. */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const place = / at position \d+( \(line \d+ column \d+\))?/.exec((error as Error).message)?.[0] ?? '';
    throw new Error(`is not JSON${place}`);
  }
}

/** Throws if an entry has members other than these. */
export function checkMembers(entry: object, known: readonly string[]): void {
  if (Object.keys(entry).some((name) => !known.includes(name))) throw new Error(`may have only the members ${known.join(', ')}`);
}

/** The hexadecimal digits of a SHA-256, with or without the prefix `sha256:`. */
export function readHash(value: unknown): string {
  const [, digits] = typeof value === 'string' ? (/^(?:sha256:)?([0-9a-f]{64})$/i.exec(value) ?? []) : [];
  if (digits === undefined) throw new Error('must have a "hash": sha256: and 64 hexadecimal digits');
  return digits.toLowerCase();
}

/** The milliseconds since 1970 of a time such as `2027-01-31T12:00:00Z`, or of the beginning of a day (UTC). */
export function readTime(value: unknown, member: string): number {
  const isTime = typeof value === 'string' && /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/.test(value);
  const time = isTime ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(time)) throw new Error(`must have a time as "${member}", such as 2027-01-31 or 2027-01-31T12:00:00Z`);
  return time;
}
