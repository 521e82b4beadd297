/** An operation on a WebSocket as an exchange of its own: it counts as a request until its first answer. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Admission, Share } from '../admission/admission.ts';
import { Exchange, type ResponseStream } from '../endpoint/exchange.ts';

export class MessageExchange extends Exchange {
  readonly #socket: Exchange;

  /** `headers` are those of the handshake, with the key and the token that came later. */
  constructor(socket: Exchange, requestId: string, headers: IncomingHttpHeaders) {
    // That of the handshake would be one for all mutations; each has its own in `extensions.idempotencyKey`.
    const { 'idempotency-key': _key, ...others } = headers;
    super(requestId, { method: socket.method, url: socket.url, headers: others, remoteAddress: socket.remoteAddress });
    this.#socket = socket;
  }

  checkHead(): void {}

  referAddress(admission: Admission): Share {
    return this.#socket.referAddress(admission);
  }

  /** The first answer has been sent, or none will be. */
  close(): void {
    this.endHandling();
    this.finish();
  }

  readBody(): Promise<Buffer> {
    return Promise.reject(new Error('A message has no body.'));
  }

  respond(): void {
    throw new Error('A message has no response of its own.');
  }

  beginStream(): ResponseStream {
    throw new Error('A message has no response of its own.');
  }

  destroy(): void {
    this.close();
  }
}
