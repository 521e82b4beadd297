import { type IncomingHttpHeaders, type IncomingMessage, ServerResponse } from 'node:http';
import type { StopReason } from '../../budget/deadline.ts';
import type { ResponseBody } from '../../engine/run/response.ts';
import { ApiError, isStackOverflow } from '../../errors/api-error.ts';
import type { Admission, Share } from '../admission/admission.ts';
import { peerAddress } from '../admission/client-address.ts';
import { Exchange } from '../endpoint/exchange.ts';
import type { Expectation } from '../routes/route-exchange.ts';
import { checkHead } from './check-head.ts';
import { type BodySink, CollectedRequest } from './collected-request.ts';
import type { Connection } from './connection.ts';

/**
 * An exchange of a `node:http` server, on a connection that it shares with others. In: Node's request and response, possibly wrapped by a
 * framework; out: the bytes of the body, and the response, written.
 */

export class NodeExchange extends Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly connection: Connection;
  /** With `continue`, the client waits for `100 Continue` before it sends the body. */
  readonly expects: Expectation;
  /** Reads the body; null before and after. */
  body: BodyReader | null = null;
  /** Whether another request may follow on the connection. False if the headers leave it unclear where this one ends. */
  #isHeadClear = false;

  constructor(request: IncomingMessage, response: ServerResponse, connection: Connection, requestId: string, expects: Expectation) {
    super(requestId);
    this.request = request;
    this.response = response;
    this.connection = connection;
    this.expects = expects;
    response.on('finish', () => this.#finish());
  }

  get method(): string | undefined {
    return this.request.method;
  }

  get url(): string {
    return this.request.url ?? '';
  }

  get headers(): IncomingHttpHeaders {
    return this.request.headers;
  }

  get remoteAddress(): string {
    return peerAddress(this.request.socket);
  }

  checkHead(): void {
    checkHead(this.request, this.connection.joinsHeaders);
    this.#isHeadClear = this.expects !== 'continue';
  }

  referAddress(admission: Admission): Share {
    return admission.referAgain(this.connection.share);
  }

  readBody(limit: number): Promise<Buffer> {
    if (this.expects === 'continue') this.#askForBody(limit);
    return readBody(this, limit);
  }

  respond(status: number, headers: string[], body: ResponseBody | null, isLast: boolean): void {
    const { response } = this;
    // A framework may have responded meanwhile, for example because of its own time limit.
    if (response.headersSent) return;
    if (isLast || !this.#isHeadClear || this.connection.endsWith(this)) {
      headers.push('connection', 'close');
      this.connection.endAfterLatest();
    }
    writeHead(response, status, headers);
    if (body === null) response.end();
    else writeBody(response, body, this);
  }

  destroy(): void {
    this.response.destroy();
  }

  override endHandling(): void {
    super.endHandling();
    this.connection.noteHandedOver(this);
  }

  /** A part of a long response is with the socket. */
  notePart(): void {
    this.connection.notePart(this);
  }

  #askForBody(limit: number): void {
    if (Number(this.request.headers['content-length'] ?? 0) > limit) return;
    this.#isHeadClear = true;
    this.response.writeContinue();
  }

  #finish(): void {
    if (this.request instanceof CollectedRequest) this.request.forgetBody();
    this.finish();
    this.connection.end(this);
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
function addVary(headers: string[], given: string): void {
  const index = headers.indexOf('vary') + 1;
  if (index === 0) return;
  const known = headers[index]!.toLowerCase().split(', ');
  const more = given.split(',').map((name) => name.trim());
  headers[index] = [headers[index], ...more.filter((name) => name !== '' && !known.includes(name.toLowerCase()))].join(', ');
}

/** Reads the body of a request: up to a limit, within its deadline, and as long as there is room. In: the exchange; out: the bytes. */

/**
 * How much of an oversized body is still read, so that a client that writes everything before it reads anything gets to see the response.
 */
const drainLimit = 16 * 1024 * 1024;

/** Frameworks and body parsers attach the parsed body to the request. */
type ParsedRequest = IncomingMessage & { readonly body?: unknown };

/**
 * The bytes of a body, even if a body parser has read it already. Rejects with PAYLOAD_TOO_LARGE; with OVERLOADED if the server already
 * holds too many bytes; with REQUEST_TIMEOUT at the deadline; with CANCELLED if the client disconnects; and with BAD_REQUEST if the body is
 * broken.
 */
export function readBody(exchange: NodeExchange, limit: number): Promise<Buffer> {
  const { request } = exchange;
  if (request.readableDidRead || request.readableEnded) return readParsedBody(exchange, limit);
  return new Promise((resolve, reject) => {
    const body = new BodyReader(exchange, limit, { resolve, reject });
    exchange.body = body;
    if (Number(request.headers['content-length'] ?? 0) > limit) body.fail(tooLarge(limit));
    else exchange.deadline?.onStop((reason) => body.fail(explainMissingBody(reason)));
    // The error may have occurred while the token was being verified.
    const { failure } = exchange.connection;
    if (failure !== null && !request.complete) body.fail(failure);
    if (request instanceof CollectedRequest) request.deliver(body);
    else readStream(request, body);
  });
}

interface BodySettlement {
  resolve(bytes: Buffer): void;
  reject(error: ApiError): void;
}

/** Collects a body. Once it has failed, the rest is counted and dropped. */
export class BodyReader implements BodySink {
  readonly #exchange: NodeExchange;
  readonly #limit: number;
  readonly #settlement: BodySettlement;
  readonly #chunks: Buffer[] = [];
  #size = 0;
  #isOver = false;

  constructor(exchange: NodeExchange, limit: number, settlement: BodySettlement) {
    this.#exchange = exchange;
    this.#limit = limit;
    this.#settlement = settlement;
  }

  takeChunk(read: Buffer | string): void {
    const exchange = this.#exchange;
    const chunk = typeof read === 'string' ? Buffer.from(read, exchange.request.readableEncoding ?? 'utf8') : read;
    this.#size += chunk.length;
    if (this.#isOver) {
      if (this.#size > drainLimit) exchange.request.destroy();
      return;
    }
    this.#chunks.push(chunk);
    exchange.hold(chunk.length);
    const refusal = exchange.refuseBytes();
    if (this.#size > this.#limit) this.fail(tooLarge(this.#limit));
    else if (refusal !== null) this.fail(new ApiError('OVERLOADED', refusal));
  }

  takeEnd(): void {
    if (!this.#end()) return;
    const chunks = this.#chunks.splice(0);
    this.#settlement.resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, this.#size));
  }

  /** The rest is not needed, or cannot be read. */
  fail(error: ApiError): void {
    if (!this.#end()) return;
    this.#chunks.length = 0;
    this.#settlement.reject(error);
  }

  #end(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#exchange.deadline?.onStop(null);
    this.#exchange.body = null;
    return true;
  }
}

function readStream(request: IncomingMessage, body: BodyReader): void {
  request.on('data', (chunk: Buffer | string) => body.takeChunk(chunk));
  request.on('end', () => body.takeEnd());
  if (request.isPaused()) request.resume();
}

/** Serializes what a body parser has left in `request.body`, so that it is checked and counted like any other body. */
async function readParsedBody(exchange: NodeExchange, limit: number): Promise<Buffer> {
  const bytes = toBytes((exchange.request as ParsedRequest).body);
  if (bytes.length > limit) throw tooLarge(limit);
  exchange.hold(bytes.length);
  const refusal = exchange.refuseBytes();
  if (refusal !== null) throw new ApiError('OVERLOADED', refusal);
  return bytes;
}

function toBytes(body: unknown): Buffer {
  if (Buffer.isBuffer(body)) return body;
  if (typeof body === 'string') return Buffer.from(body);
  if (typeof body !== 'object' || body === null) throw new ApiError('INTERNAL_ERROR', alreadyRead);
  try {
    return Buffer.from(JSON.stringify(body));
  } catch (error) {
    // `JSON.stringify` is recursive, `JSON.parse` is not.
    if (isStackOverflow(error)) throw new ApiError('TOO_DEEP', 'The values in the body are nested too deep. Nest them less.');
    throw new ApiError('INTERNAL_ERROR', alreadyRead, { cause: error });
  }
}

const alreadyRead =
  'The body was read before rowgraph got the request, and request.body does not hold it. Mount rowgraph ahead of what reads the body, or set request.body to the parsed JSON.';

/** The error of a request that is stopped before its body has arrived. */
export function explainMissingBody(reason: StopReason): ApiError {
  return reason === 'abandoned'
    ? new ApiError('CANCELLED', 'The client disconnected before it had sent the whole body.')
    : new ApiError('REQUEST_TIMEOUT', 'The body did not arrive in time. Send it without pauses.');
}

/** The error of a body over the limit, in bytes. */
export function tooLarge(limit: number): ApiError {
  return new ApiError('PAYLOAD_TOO_LARGE', `The body is larger than ${limit} bytes. Send a smaller body, or raise the server's limit.`);
}

/**
 * Writes the body of a response: at once if it is short, otherwise in parts, each when the client has read the one before. In: a response
 * whose head is set, and the body; out: bytes on the socket.
 *
 * Relies on Node beyond its documentation: it writes head and body at once if both are text (`test/contracts/node.test.ts`).
 */

/** In bytes. For larger texts the copies cost more than writing a second piece. */
const longestText = 16 * 1024;
/** In bytes. */
export const partLength = 1024 * 1024;

/** Learns how far the client has read. */
interface PartListener {
  notePart(): void;
}

/**
 * Writes head and body. A short body is written as latin1 text, which keeps every byte as it is, together with the head: that saves an
 * eighth of a small request's CPU. `listener` is told of each part of a long body, as soon as it is with the socket.
 */
export function writeBody(response: ServerResponse, body: ResponseBody, listener: PartListener): void {
  const text = body.latin1 ?? shortText(body);
  if (text !== undefined) response.end(text, 'latin1');
  else if (body.length <= partLength) writeLast(response, body.chunks);
  else writeInParts(response, cutParts(body.chunks), listener);
}

function shortText({ chunks, length }: ResponseBody): string | undefined {
  if (chunks.length !== 1 || length >= longestText) return undefined;
  const { buffer, byteOffset, byteLength } = chunks[0]!;
  return Buffer.from(buffer, byteOffset, byteLength).toString('latin1');
}

function writeLast(response: ServerResponse, chunks: readonly Uint8Array[]): void {
  const last = chunks.length - 1;
  if (last > 0) response.cork();
  for (const chunk of chunks.slice(0, last)) response.write(chunk);
  response.end(chunks[last]);
}

/** Returns whether the socket takes more at once. */
function writePart(response: ServerResponse, chunks: readonly Uint8Array[]): boolean {
  let takesMore = true;
  response.cork();
  for (const chunk of chunks) takesMore = response.write(chunk);
  response.uncork();
  return takesMore;
}

function writeInParts(response: ServerResponse, parts: Generator<readonly Uint8Array[], undefined>, listener: PartListener): void {
  let next = parts.next();
  const writeOn = (): void => {
    let takesMore = true;
    while (takesMore && !next.done) {
      const part = next.value;
      next = parts.next();
      if (next.done) writeLast(response, part);
      else takesMore = writePart(response, part);
      listener.notePart();
    }
  };
  response.on('drain', writeOn);
  writeOn();
}

function* cutParts(chunks: readonly Uint8Array[]): Generator<readonly Uint8Array[], undefined> {
  let part: Uint8Array[] = [];
  let room = partLength;
  for (const chunk of chunks) {
    let start = 0;
    while (chunk.length - start > room) {
      part.push(chunk.subarray(start, start + room));
      yield part;
      start += room;
      part = [];
      room = partLength;
    }
    part.push(chunk.subarray(start));
    room -= chunk.length - start;
  }
  yield part;
}
