/**
 * The id of a request, for its response and the log. In: the X-Request-ID header; out: the id that a proxy or the client gave it, or else a
 * new one.
 */
import { randomUUID } from 'node:crypto';

/** Makes ids that are unique across processes: a random part per process, and a counter. `given` is the header, if present. */
export function createRequestIds(): (given?: string | string[] | null) => string {
  const prefix = randomUUID().slice(0, 13);
  let count = 0;
  return (given) => {
    if (typeof given === 'string' && isFitForLog(given)) return given;
    count += 1;
    return `${prefix}-${count.toString(36)}`;
  };
}

function isFitForLog(id: string): boolean {
  return /^[\w.:=+/@-]{1,128}$/.test(id);
}
