/** Reads the body of a request: up to a limit, within its deadline, and as long as there is room. In: the exchange; out: the bytes. */
import type { IncomingMessage } from 'node:http';
import type { StopReason } from '../budget/deadline.ts';
import { ApiError, isStackOverflow } from '../errors/api-error.ts';
import { type BodySink, CollectedRequest } from './collected-request.ts';
import type { NodeExchange } from './node-exchange.ts';

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
