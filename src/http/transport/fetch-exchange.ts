/** An exchange of the Fetch standard, as Deno, Bun, Hono and route handlers use it. */
import type { IncomingHttpHeaders } from 'node:http';
import { startTimer } from '../../budget/deadline.ts';
import type { ResponseBody } from '../../engine/run/response.ts';
import { ApiError } from '../../errors/api-error.ts';
import type { Admission, Share } from '../admission/admission.ts';
import { addressBlock } from '../admission/client-address.ts';
import type { UpgradedRequest } from '../endpoint/endpoint-options.ts';
import { Exchange, type ResponseStream } from '../endpoint/exchange.ts';
import { explainMissingBody, tooLarge } from './collect-body.ts';
import { openStandardSocket } from './standard-socket.ts';

/** In bytes. A larger body is streamed, and counts as held until it has been read. */
const longestWhole = 64 * 1024;

export class FetchExchange extends Exchange {
  readonly request: Request;
  readonly headers: IncomingHttpHeaders;
  readonly remoteAddress: string;
  /** Resolves when the response is handed over. */
  readonly response: Promise<Response>;
  readonly #writeTimeout: number;
  readonly #resolve: (response: Response) => void;
  readonly #abandon = (): void => this.abandon();

  /** `writeTimeout`: milliseconds in which each MiB of a response must be read. */
  constructor(request: Request, requestId: string, remoteAddress: string, writeTimeout: number) {
    super(requestId);
    this.request = request;
    // A header may be named `__proto__`; `fromEntries` makes it an ordinary member.
    this.headers = Object.fromEntries(request.headers);
    this.remoteAddress = remoteAddress;
    this.#writeTimeout = writeTimeout;
    const { promise, resolve } = Promise.withResolvers<Response>();
    this.response = promise;
    this.#resolve = resolve;
    if (request.signal.aborted) this.abandon();
    else request.signal.addEventListener('abort', this.#abandon, { once: true });
  }

  get method(): string {
    return this.request.method;
  }

  get url(): string {
    const { url } = this.request;
    const path = url.indexOf('/', url.indexOf('//') + 2);
    return path === -1 ? '/' : url.slice(path);
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
    const pairs = pairsOf(headers);
    if (body === null || this.method === 'HEAD' || body.length <= longestWhole) {
      const bytes = body === null || this.method === 'HEAD' ? null : Buffer.concat(body.chunks);
      this.#resolve(new Response(bytes, { status, headers: pairs }));
      this.#end();
      return;
    }
    const { chunks } = body;
    const stream = streamBody(chunks, this.#writeTimeout, (isComplete) => (isComplete ? this.#end() : this.abandon()));
    this.#resolve(new Response(stream, { status, headers: pairs }));
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

/** nginx's status for a client that has disconnected; HTTP has none. */
const clientClosedRequest = 499;

function broken(cause: unknown): ApiError {
  return new ApiError('BAD_REQUEST', 'The body could not be read to its end as bytes.', { cause });
}

const alreadyRead =
  'The body was read before rowgraph got the request. Mount rowgraph ahead of what reads the body, or let that read request.clone().';

/** In bytes: how much is handed over at a time. */
const pieceLength = 64 * 1024;
const bytesPerTimeout = 1024 * 1024;

/**
 * A stream of the chunks. `onEnd` is called once: with true when the last byte was read; with false when the reader cancelled, or read less
 * than 1 MiB in `timeout` milliseconds.
 */
function streamBody(chunks: readonly Uint8Array[], timeout: number, onEnd: (isComplete: boolean) => void): ReadableStream<Uint8Array> {
  const pieces = cutPieces(chunks);
  let timer: NodeJS.Timeout | undefined;
  let sinceTimer = 0;
  const restartTimer = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    clearTimeout(timer);
    sinceTimer = 0;
    timer = startTimer(() => {
      controller.error(new Error('The response was not read in time.'));
      onEnd(false);
    }, timeout);
  };
  return new ReadableStream<Uint8Array>({
    start: restartTimer,
    pull(controller) {
      const { value, done } = pieces.next();
      if (done) {
        clearTimeout(timer);
        controller.close();
        onEnd(true);
        return;
      }
      controller.enqueue(value);
      sinceTimer += value.length;
      if (sinceTimer >= bytesPerTimeout) restartTimer(controller);
    },
    cancel() {
      clearTimeout(timer);
      onEnd(false);
    },
  });
}

/** A stream of what is written. Each write is over when the reader has asked for more; one who does not ask in time is given up. */
class PulledStream implements ResponseStream {
  readonly readable: ReadableStream<Uint8Array>;
  readonly #timeout: number;
  readonly #onEnd: (isComplete: boolean) => void;
  #controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  #onSent: (() => void) | null = null;
  #timer: NodeJS.Timeout | undefined;

  constructor(timeout: number, onEnd: (isComplete: boolean) => void) {
    this.#timeout = timeout;
    this.#onEnd = onEnd;
    this.readable = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => this.#noteSent(),
        cancel: () => this.#giveUp(),
      },
      { highWaterMark: 1 },
    );
  }

  write(pieces: readonly Uint8Array[], onSent: () => void): void {
    const controller = this.#controller;
    if (controller === null) return onSent();
    const before = this.#onSent;
    this.#onSent = () => {
      before?.();
      onSent();
    };
    clearTimeout(this.#timer);
    for (const piece of pieces) controller.enqueue(piece);
    if ((controller.desiredSize ?? 0) > 0) this.#noteSent();
    else this.#timer = startTimer(() => this.#fail(), this.#timeout);
  }

  end(): void {
    if (this.#controller === null) return;
    this.#controller.close();
    this.#controller = null;
    this.#noteSent();
    this.#onEnd(true);
  }

  #noteSent(): void {
    clearTimeout(this.#timer);
    const onSent = this.#onSent;
    this.#onSent = null;
    onSent?.();
  }

  #fail(): void {
    this.#controller?.error(new Error('The response was not read in time.'));
    this.#giveUp();
  }

  #giveUp(): void {
    if (this.#controller === null) return;
    this.#controller = null;
    this.#noteSent();
    this.#onEnd(false);
  }
}

function pairsOf(headers: readonly string[]): [string, string][] {
  const pairs: [string, string][] = [];
  for (let index = 0; index < headers.length; index += 2) pairs.push([headers[index]!, headers[index + 1]!]);
  return pairs;
}

function* cutPieces(chunks: readonly Uint8Array[]): Generator<Uint8Array, undefined> {
  for (const chunk of chunks)
    for (let start = 0; start < chunk.length; start += pieceLength) yield chunk.subarray(start, start + pieceLength);
}
