/** An answer outside the GraphQL endpoint, and how any answer ends its connection. In: status, headers and body; out: the answer, sent. */
import type { Exchange } from './exchange.ts';

export interface Answer {
  readonly status: number;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly body: Buffer | string;
}

/** Sends an answer with the headers that every answer has. `isLast` ends the connection with it. */
export function sendAnswer(exchange: Exchange, { status, headers, body }: Answer, isLast: boolean): void {
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
