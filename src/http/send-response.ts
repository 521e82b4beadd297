/** A response outside the GraphQL endpoint. In: status, headers and body; out: the response, sent. */
import type { Exchange } from './exchange.ts';

export interface HttpResponse {
  readonly status: number;
  /** Alternating names and values. */
  readonly headers: readonly string[];
  readonly body: Buffer | string;
}

/** Sends a response with the headers common to all responses. `isLast` ends the connection after it. */
export function sendResponse(exchange: Exchange, { status, headers, body }: HttpResponse, isLast: boolean): void {
  const { requestId } = exchange;
  if (!exchange.isGone) {
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    const length = status === 204 ? [] : ['content-length', String(bytes.length)];
    const all = [...headers, ...length, 'x-content-type-options', 'nosniff', 'x-request-id', requestId];
    exchange.respond(status, all, status === 204 ? null : { chunks: [bytes], length: bytes.length }, isLast);
  }
  exchange.endHandling();
}
