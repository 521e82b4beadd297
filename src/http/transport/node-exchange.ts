/**
 * An exchange of a `node:http` server, on a connection that it shares with others. Its request and response may be wrapped by a framework.
 */
import { type IncomingMessage, ServerResponse } from 'node:http';
import type { ResponseBody } from '../../engine/run/response.ts';
import { ApiError } from '../../errors/api-error.ts';
import type { Admission, Share } from '../admission/admission.ts';
import { Exchange, type ResponseStream } from '../endpoint/exchange.ts';
import type { Expectation } from '../routes/route-exchange.ts';
import { checkHead, headOf } from './check-head.ts';
import { CollectedBody, toBytes, tooLarge } from './collect-body.ts';
import type { Connection, PendingExchange } from './connections.ts';
import { cutParts, PartQueue } from './part-queue.ts';

/** In bytes. For larger texts the copies cost more than writing a second piece. */
const longestText = 16 * 1024;

export class NodeExchange extends Exchange implements PendingExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly connection: Connection;
  /** With `continue`, the client waits for `100 Continue` before it sends the body. */
  readonly #expects: Expectation;
  /** Whether the server joins repeated headers (`joinDuplicateHeaders`). */
  readonly #joinsHeaders: boolean;
  /** Null until it is read. */
  #body: CollectedBody | null = null;
  /** What is still to be written of the response. */
  #parts: (readonly Uint8Array[])[] = [];
  /** Whether another request may follow on the connection. False if the headers leave it unclear where this one ends. */
  #isHeadClear = false;

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    connection: Connection,
    requestId: string,
    expects: Expectation,
    joinsHeaders: boolean,
  ) {
    super(requestId, headOf(request));
    this.request = request;
    this.response = response;
    this.connection = connection;
    this.#expects = expects;
    this.#joinsHeaders = joinsHeaders;
    response.on('finish', () => {
      this.finish();
      connection.end(this);
    });
  }

  checkHead(): void {
    checkHead(this.request, this.#joinsHeaders);
    this.#isHeadClear = this.#expects !== 'continue';
  }

  referAddress(admission: Admission): Share {
    return admission.referAgain(this.connection.share);
  }

  override get isBodyRead(): boolean {
    return this.request.readableDidRead || this.request.readableEnded;
  }

  readBody(limit: number): Promise<Buffer> {
    const { request, connection } = this;
    if (this.isBodyRead) return this.#readParsedBody(limit);
    const isTooLong = Number(request.headers['content-length'] ?? 0) > limit;
    if (this.#expects === 'continue' && !isTooLong) {
      this.#isHeadClear = true;
      this.response.writeContinue();
    }
    const body = this.#collectBody(limit);
    if (isTooLong) this.failBody(tooLarge(limit));
    // The error may have occurred while the token was being verified.
    if (connection.failure !== null && !request.complete) this.failBody(connection.failure);
    return body;
  }

  failBody(error: ApiError): void {
    this.#body?.fail(error);
  }

  respond(status: number, headers: string[], body: ResponseBody | null, isLast: boolean): void {
    const { response } = this;
    // A framework may have responded meanwhile, for example because of its own time limit.
    if (response.headersSent) return;
    this.#writeHead(status, headers, isLast);
    if (body === null) response.end();
    else this.#write(body);
  }

  beginStream(status: number, headers: string[]): ResponseStream {
    const { response } = this;
    // A framework may have responded meanwhile, or the client may be gone.
    if (response.headersSent || response.destroyed) return closedStream;
    response.on('error', () => {});
    this.#writeHead(status, headers, false);
    response.flushHeaders();
    return new NodeStream(this);
  }

  destroy(): void {
    this.response.destroy();
  }

  override endHandling(): void {
    super.endHandling();
    this.connection.noteWritten(this);
  }

  writeOn(): void {
    const { response } = this;
    let takesMore = true;
    while (takesMore && this.#parts.length > 0) {
      const part = this.#parts.shift() ?? [];
      response.cork();
      for (const piece of part) takesMore = response.write(piece);
      if (this.#parts.length === 0) response.end();
      else response.uncork();
      this.connection.noteWritten(this);
    }
  }

  #writeHead(status: number, headers: string[], isLast: boolean): void {
    if (isLast || !this.#isHeadClear || this.connection.endsWith(this)) {
      headers.push('connection', 'close');
      this.connection.endAfterLatest();
    }
    writeHead(this.response, status, headers);
  }

  /** Head and a short body, as latin1 text that keeps every byte as it is, are one write: that saves an eighth of a small request's CPU. */
  #write({ chunks, length, latin1 }: ResponseBody): void {
    const { response } = this;
    const [first] = chunks;
    if (latin1 !== undefined) response.end(latin1, 'latin1');
    else if (first === undefined) response.end();
    else if (chunks.length === 1 && length < longestText) response.end(bufferOf(first).toString('latin1'), 'latin1');
    else {
      this.#parts = cutParts(chunks);
      response.on('drain', () => this.writeOn());
      this.writeOn();
    }
  }

  #collectBody(limit: number): Promise<Buffer> {
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
    this.#body = new CollectedBody(this, limit, { resolve, reject });
    return promise;
  }

  /** Serializes what a body parser has left in `request.body`, so that it is checked and counted like any other body. */
  async #readParsedBody(limit: number): Promise<Buffer> {
    const bytes = toBytes((this.request as IncomingMessage & { readonly body?: unknown }).body);
    if (bytes.length > limit) throw tooLarge(limit);
    this.hold(bytes.length);
    const refusal = this.refuseBytes();
    if (refusal !== null) throw new ApiError('OVERLOADED', refusal);
    return bytes;
  }
}

const closedStream: ResponseStream = { write: (_pieces, onSent) => onSent(), end: () => {} };

class NodeStream implements ResponseStream {
  readonly #exchange: NodeExchange;
  readonly #queue = new PartQueue<readonly Uint8Array[]>((part, _isLast, onTaken) => {
    const { response, connection } = this.#exchange;
    if (part.length === 0 || response.destroyed || response.writableEnded) return false;
    response.cork();
    for (const piece of part.slice(0, -1)) response.write(piece);
    response.write(part.at(-1), () => {
      connection.noteWritten(this.#exchange);
      onTaken();
    });
    response.uncork();
    connection.noteWritten(this.#exchange);
    return true;
  });

  constructor(exchange: NodeExchange) {
    this.#exchange = exchange;
  }

  write(pieces: readonly Uint8Array[], onSent: () => void): void {
    this.#queue.add(cutParts(pieces), onSent);
  }

  end(): void {
    this.#queue.add([], () => {
      const { response } = this.#exchange;
      if (!response.destroyed) response.end();
    });
  }
}

/** Node writes a flat list fastest. A `writeHead` that was replaced, as compressing middleware does, may not accept that form. */
function writeHead(response: ServerResponse, status: number, headers: string[]): void {
  const vary = response.getHeader('vary');
  if (vary !== undefined) addVary(headers, String(vary));
  if (response.writeHead === ServerResponse.prototype.writeHead) {
    response.writeHead(status, headers);
    return;
  }
  for (let index = 0; index < headers.length; index += 2) response.setHeader(headers[index]!, headers[index + 1]!);
  response.writeHead(status);
}

/** Adds the Vary header that earlier middleware has set for its part of the response. */
function addVary(headers: string[], earlier: string): void {
  const index = headers.indexOf('vary') + 1;
  if (index === 0) return;
  const names = headers[index]!.toLowerCase().split(', ');
  const more = earlier.split(',').map((name) => name.trim());
  headers[index] = [headers[index], ...more.filter((name) => name !== '' && !names.includes(name.toLowerCase()))].join(', ');
}

function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
