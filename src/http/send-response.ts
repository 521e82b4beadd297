/** A response outside the GraphQL endpoint, and how any response ends its connection. In: status, headers and body; out: the response, sent. */
import type { Exchange } from './exchange.ts';

export interface HttpResponse {
  readonly status: number;
  /** Alternating names and values. */
  readonly headers: readonly string[];
  readonly body: Buffer | string;
}

/** Sends a response with the headers common to all responses. `isLast` ends the connection after it. */
export function sendResponse(exchange: Exchange, { status, headers, body }: HttpResponse, isLast: boolean): void {
  const { response, requestId } = exchange;
  if (!exchange.isGone) {
    const length = status === 204 ? [] : ['content-length', String(Buffer.byteLength(body))];
    const all = [...headers, ...length, 'x-content-type-options', 'nosniff', 'x-request-id', requestId];
    if (isLast) all.push('connection', 'close');
    response.writeHead(status, all);
    response.end(body);
  }
  exchange.endHandling();
}
