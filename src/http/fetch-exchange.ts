/**
 * An exchange of the Fetch standard, as Deno, Bun, Hono and route handlers use it. In: a `Request`; out: a `Response`; a large body is a
 * stream.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { ResponseBody } from '../engine/run/response.ts';
import { ApiError } from '../errors/api-error.ts';
import type { Admission, Share } from './admission.ts';
import { addressBlock } from './client-address.ts';
import { Exchange } from './exchange.ts';
import { readWebBody } from './read-web-body.ts';
import { streamBody } from './stream-body.ts';

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

  readBody(limit: number): Promise<Buffer> {
    return readWebBody(this, limit);
  }

  respond(status: number, headers: string[], body: ResponseBody | null): void {
    const pairs: [string, string][] = [];
    for (let index = 0; index < headers.length; index += 2) pairs.push([headers[index]!, headers[index + 1]!]);
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

  #end(): void {
    this.request.signal.removeEventListener('abort', this.#abandon);
    this.finish();
  }
}

/** nginx's status for a client that has disconnected; HTTP has none. */
const clientClosedRequest = 499;
