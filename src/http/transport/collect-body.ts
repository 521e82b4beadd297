/** The body of a request of `node:http`, as it arrives, or as a body parser has left it. */
import type { IncomingMessage } from 'node:http';
import type { Deadline, StopReason } from '../../budget/deadline.ts';
import { ApiError, isStackOverflow } from '../../errors/api-error.ts';

/**
 * How much of an oversized body is still read, so that a client that writes everything before it reads anything gets to see the response.
 */
const drainLimit = 16 * 1024 * 1024;

/** The exchange that the body belongs to. */
interface BodyPlace {
  readonly request: IncomingMessage;
  readonly deadline: Deadline | null;
  /** Counts bytes that are kept for its client. */
  hold(bytes: number): void;
  /** Why no more may be kept; null if more may. */
  refuseBytes(): string | null;
}

type Settle = Pick<PromiseWithResolvers<Buffer>, 'resolve' | 'reject'>;

/** A body as it arrives. Once it has failed, the rest is counted and dropped. */
export class CollectedBody {
  readonly #exchange: BodyPlace;
  readonly #limit: number;
  #chunks: Buffer[] = [];
  #size = 0;
  #isOver = false;
  /** Null once it is over: an idle connection keeps its latest request, and must not keep the body with it. */
  #settle: Settle | null;

  constructor(exchange: BodyPlace, limit: number, settle: Settle) {
    this.#settle = settle;
    this.#exchange = exchange;
    this.#limit = limit;
    const { request, deadline } = exchange;
    deadline?.onStop((reason) => this.fail(explainMissingBody(reason)));
    const take = (read: Buffer | string): void => this.#take(read);
    request.on('data', take);
    request.once('end', () => {
      // Node keeps the latest request of an idle connection, and with its listeners it would keep the body.
      request.off('data', take);
      this.#complete();
    });
    if (request.isPaused()) request.resume();
  }

  fail(error: ApiError): void {
    if (this.#isOver) return;
    this.#chunks = [];
    this.#end()?.reject(error);
  }

  #complete(): void {
    if (this.#isOver) return;
    const chunks = this.#chunks;
    this.#chunks = [];
    this.#end()?.resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, this.#size));
  }

  #end(): Settle | null {
    const settle = this.#settle;
    this.#settle = null;
    this.#isOver = true;
    this.#exchange.deadline?.onStop(null);
    return settle;
  }

  #take(read: Buffer | string): void {
    const { request } = this.#exchange;
    // Middleware may have set an encoding.
    const chunk = typeof read === 'string' ? Buffer.from(read, request.readableEncoding ?? 'utf8') : read;
    this.#size += chunk.length;
    if (this.#isOver) {
      if (this.#size > drainLimit) request.destroy();
      return;
    }
    this.#chunks.push(chunk);
    this.#exchange.hold(chunk.length);
    const refusal = this.#exchange.refuseBytes();
    if (this.#size > this.#limit) this.fail(tooLarge(this.#limit));
    else if (refusal !== null) this.fail(new ApiError('OVERLOADED', refusal));
  }
}

const alreadyRead =
  'The body was read before rowgraph got the request, and request.body does not hold it. Mount rowgraph ahead of what reads the body, or set request.body to the parsed JSON.';

/** What a body parser has left in `request.body`. */
export function toBytes(body: unknown): Buffer {
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
