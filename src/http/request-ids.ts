/** The id of a request, for its response and the log. In: the request; out: the id that a proxy or the client gave it, or else a new one. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** Makes ids that are unique across processes: a random part for the process, and a count. Without a request the id is always new. */
export function createRequestIds(): (request?: IncomingMessage) => string {
  const prefix = randomUUID().slice(0, 13);
  let count = 0;
  return (request) => {
    const given = request?.headers['x-request-id'];
    if (typeof given === 'string' && isFitForLog(given)) return given;
    count += 1;
    return `${prefix}-${count.toString(36)}`;
  };
}

function isFitForLog(id: string): boolean {
  return /^[\w.:=+/@-]{1,128}$/.test(id);
}
