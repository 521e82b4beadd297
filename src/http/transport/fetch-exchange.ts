/** An exchange of the Fetch standard, as Deno, Bun, Hono and route handlers use it. */
import { startTimer } from '../../budget/deadline.ts';
import type { ResponseBody } from '../../engine/run/response.ts';
import { ApiError } from '../../errors/api-error.ts';
import type { Admission, Share } from '../admission/admission.ts';
import { addressBlock } from '../admission/client-address.ts';
import type { UpgradedRequest } from '../endpoint/endpoint-options.ts';
import { Exchange, type ResponseStream } from '../endpoint/exchange.ts';
import { explainMissingBody, tooLarge } from './collect-body.ts';
import { cutParts, PartQueue } from './part-queue.ts';
import { openStandardSocket } from './standard-socket.ts';

/** In bytes. A larger body is streamed, and counts as held until it has been read. */
const longestWhole = 64 * 1024;

export class FetchExchange extends Exchange {
  readonly request: Request;
  /** Resolves when the response is handed over. */
  readonly response: Promise<Response>;
  readonly #writeTimeout: number;
  readonly #resolve: (response: Response) => void;
  readonly #abandon = (): void => this.abandon();

  /** `writeTimeout`: milliseconds in which each MiB of a response must be read. */
  constructor(request: Request, requestId: string, remoteAddress: string, writeTimeout: number) {
    // A header may be named `__proto__`; `fromEntries` makes it an ordinary member.
    const headers = Object.fromEntries(request.headers);
    super(requestId, { method: request.method, url: pathOf(request.url), headers, remoteAddress });
    this.request = request;
    this.#writeTimeout = writeTimeout;
    const { promise, resolve } = Promise.withResolvers<Response>();
    this.response = promise;
    this.#resolve = resolve;
    if (request.signal.aborted) this.abandon();
    else request.signal.addEventListener('abort', this.#abandon, { once: true });
  }

  /** `Headers` joins repeated headers with commas, and none of these may contain one. */
  checkHead(): void {
    for (const name of ['apikey', 'authorization', 'content-type'] as const)
      if (this.headers[name]?.includes(',')) throw new ApiError('BAD_REQUEST', `The ${name} header was sent more than once. Send it once.`);
  }

  referAddress(admission: Admission): Share {
    return admission.refer(addressBlock(this.remoteAddress));
  }

  async readBody(limit: number): Promise<Buffer> {
    const { request, deadline } = this;
    if (request.bodyUsed || request.body?.locked) throw new ApiError('INTERNAL_ERROR', alreadyRead);
    if (request.body === null) return Buffer.alloc(0);
    const reader = request.body.getReader();
    const stopped = Promise.withResolvers<never>();
    deadline?.onStop((reason) => stopped.reject(explainMissingBody(reason)));
    try {
      return await Promise.race([stopped.promise, this.#readChunks(reader, limit)]);
    } catch (error) {
      // Nobody is to go on sending what nobody reads.
      void reader.cancel().catch(() => {});
      throw error;
    } finally {
      deadline?.onStop(null);
    }
  }

  respond(status: number, headers: string[], body: ResponseBody | null): void {
    if (body === null || this.method === 'HEAD' || body.length <= longestWhole) {
      const bytes = body === null || this.method === 'HEAD' ? null : Buffer.concat(body.chunks);
      this.#resolve(new Response(bytes, { status, headers: pairsOf(headers) }));
      this.#end();
      return;
    }
    const stream = this.beginStream(status, headers);
    stream.write(body.chunks, () => {});
    stream.end();
  }

  beginStream(status: number, headers: string[]): ResponseStream {
    const stream = new PulledStream(this.#writeTimeout, (isComplete) => (isComplete ? this.#end() : this.abandon()));
    this.#resolve(new Response(stream.readable, { status, headers: pairsOf(headers) }));
    return stream;
  }

  /** Lets the request become a WebSocket: `upgrade` makes one of it, with the response that says so. */
  offerSocket(upgrade: () => UpgradedRequest): void {
    this.offer = {
      accept: async (maxPayload) => {
        const { socket, response } = upgrade();
        this.#resolve(response);
        socket.addEventListener('close', () => this.#end());
        return openStandardSocket(socket, { maxPayload, writeTimeout: this.#writeTimeout });
      },
    };
  }

  destroy(): void {
    this.#resolve(new Response(null, { status: 500 }));
    this.#end();
  }

  override abandon(): void {
    this.request.signal.removeEventListener('abort', this.#abandon);
    super.abandon();
  }

  override endHandling(): void {
    // Nobody reads it, but a promise that never resolves would stay in memory.
    if (this.isGone) this.#resolve(new Response(null, { status: clientClosedRequest }));
    super.endHandling();
  }

  async #readChunks(reader: ReadableStreamDefaultReader<Uint8Array>, limit: number): Promise<Buffer> {
    if (Number(this.headers['content-length'] ?? 0) > limit) throw tooLarge(limit);
    const chunks: Uint8Array[] = [];
    let size = 0;
    for (;;) {
      const { done, value } = await reader.read().catch((error: unknown) => {
        throw broken(error);
      });
      if (done) return Buffer.concat(chunks, size);
      // A stream that a program has made may yield anything.
      if (!(value instanceof Uint8Array)) throw broken(value);
      size += value.length;
      if (size > limit) throw tooLarge(limit);
      chunks.push(value);
      this.hold(value.length);
      const refusal = this.refuseBytes();
      if (refusal !== null) throw new ApiError('OVERLOADED', refusal);
    }
  }

  #end(): void {
    this.request.signal.removeEventListener('abort', this.#abandon);
    this.finish();
  }
}

/** Path and query of an absolute URL. */
function pathOf(url: string): string {
  const path = url.indexOf('/', url.indexOf('//') + 2);
  return path === -1 ? '/' : url.slice(path);
}

/** nginx's status for a client that has disconnected; HTTP has none. */
const clientClosedRequest = 499;

function broken(cause: unknown): ApiError {
  return new ApiError('BAD_REQUEST', 'The body could not be read completely.', { cause });
}

const alreadyRead =
  'The body was read before rowgraph got the request. Mount rowgraph ahead of what reads the body, or let that read request.clone().';

/**
 * A stream of what is written. A part of at most 1 MiB is taken when the reader has asked for more. `onEnd` is called once: with true when
 * the last byte was read; with false when the reader cancelled, or did not take a part in `timeout` milliseconds.
 */
class PulledStream implements ResponseStream {
  readonly readable: ReadableStream<Uint8Array>;
  readonly #onEnd: (isComplete: boolean) => void;
  /** Null once it is over. */
  #controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  #onTaken: (() => void) | null = null;
  #timer: NodeJS.Timeout | undefined;
  readonly #queue: PartQueue<readonly Uint8Array[]>;

  constructor(timeout: number, onEnd: (isComplete: boolean) => void) {
    this.#onEnd = onEnd;
    this.readable = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => this.#noteTaken(),
        cancel: () => this.#finish(false),
      },
      { highWaterMark: 1 },
    );
    this.#queue = new PartQueue((part, _isLast, onTaken) => {
      if (this.#controller === null || part.length === 0) return false;
      for (const piece of part) this.#controller.enqueue(piece);
      // The reader has asked for more already.
      if ((this.#controller.desiredSize ?? 0) > 0) return false;
      this.#onTaken = onTaken;
      this.#timer = startTimer(() => this.#giveUp(), timeout);
      return true;
    });
  }

  write(pieces: readonly Uint8Array[], onSent: () => void): void {
    this.#queue.add(cutParts(pieces), onSent);
  }

  end(): void {
    this.#queue.add([], () => {
      this.#controller?.close();
      this.#finish(true);
    });
  }

  #noteTaken(): void {
    clearTimeout(this.#timer);
    const onTaken = this.#onTaken;
    this.#onTaken = null;
    onTaken?.();
  }

  #giveUp(): void {
    this.#controller?.error(new Error('The response was not read in time.'));
    this.#finish(false);
  }

  #finish(isComplete: boolean): void {
    if (this.#controller === null) return;
    this.#controller = null;
    this.#noteTaken();
    this.#onEnd(isComplete);
  }
}

function pairsOf(headers: readonly string[]): [string, string][] {
  const pairs: [string, string][] = [];
  for (let index = 0; index < headers.length; index += 2) pairs.push([headers[index]!, headers[index + 1]!]);
  return pairs;
}
