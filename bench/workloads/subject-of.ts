/** The subject of a listener's token, computed as in data/seed.sql. */
import { createHash } from 'node:crypto';

/** A UUID: the `subject` of listener `number`. */
export function subjectOf(number: number): string {
  const digits = createHash('md5').update(`listener ${number}`).digest('hex');
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** The listener as whom request number `index` is sent: one of the first thousand. */
export function listenerAt(index: number): number {
  return 1 + ((index * 37) % 1000);
}
