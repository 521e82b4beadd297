/** Sends the answers to one operation as a response that goes on: an event stream or a multipart message. */
import type { Identity } from '../../auth/authenticate.ts';
import type { ApiError } from '../../errors/api-error.ts';
import type { Exchange, ResponseStream } from '../endpoint/exchange.ts';
import type { EncodedAnswer, Holder } from './encoded-answer.ts';
import { IdentityWatch } from './identity-watch.ts';
import type { LiveConnection, LiveRegistry } from './live-connections.ts';
import { type Answers, LiveOperation, type Receiver } from './live-operation.ts';
import type { AnswerFormat } from './stream-formats.ts';

interface StreamOptions {
  readonly format: AnswerFormat;
  /** Of the response, besides those that every such response has; alternating names and values. */
  readonly headers: readonly string[];
  readonly identity: Identity;
  readonly holder: Holder;
  readonly connections: LiveRegistry;
  /** Milliseconds between signs of life. */
  readonly heartbeat: number;
  readonly report: (error: unknown) => readonly ApiError[];
}

/** The headers of a response that goes on: nothing on the way may keep, compress or collect it. */
export function streamHeaders(contentType: string, requestId: string): string[] {
  return [
    ...['content-type', contentType, 'cache-control', 'no-store, no-transform', 'x-accel-buffering', 'no'],
    ...['x-content-type-options', 'nosniff', 'x-request-id', requestId],
  ];
}

/** Resolves with the operation when it has ended. Throws SHUTTING_DOWN before anything is sent. */
export async function streamAnswers(exchange: Exchange, answers: Answers, options: StreamOptions): Promise<LiveOperation> {
  const session = new StreamSession(exchange, answers, options);
  options.connections.add(session);
  try {
    session.begin();
    await session.operation.run();
    await session.ended;
  } finally {
    options.connections.remove(session);
  }
  return session.operation;
}

class StreamSession implements LiveConnection, Receiver {
  readonly operation: LiveOperation;
  readonly #exchange: Exchange;
  readonly #options: StreamOptions;
  readonly #watch: IdentityWatch;
  readonly #end = Promise.withResolvers<void>();
  #stream: ResponseStream | null = null;
  #isWriting = false;
  #lastWrite = performance.now();

  constructor(exchange: Exchange, answers: Answers, options: StreamOptions) {
    this.#exchange = exchange;
    this.#options = options;
    this.operation = new LiveOperation(answers, { receiver: this, holder: options.holder, report: options.report });
    this.#watch = new IdentityWatch(options.identity, (error) => this.dismiss(error));
  }

  /** Resolves when the last byte has been handed over, or the client is gone. */
  get ended(): Promise<void> {
    return this.#end.promise;
  }

  begin(): void {
    const { format, headers } = this.#options;
    const exchange = this.#exchange;
    exchange.onGone = () => this.#leave();
    if (exchange.isGone) return this.#leave();
    this.#stream = exchange.beginStream(200, [...streamHeaders(format.contentType, exchange.requestId), ...headers]);
    this.#write(format.begin(), () => {});
  }

  send(answer: EncodedAnswer, onSent: () => void): void {
    this.#write(this.#options.format.frame(answer), onSent);
  }

  dismiss(error: ApiError): void {
    this.operation.fail(error);
  }

  end(errors: readonly ApiError[]): void {
    const stream = this.#stream;
    if (stream === null) return;
    stream.write(this.#options.format.end(errors), () => {});
    stream.end();
    this.#end.resolve();
  }

  tick(now: number): void {
    const { heartbeat, format } = this.#options;
    if (!this.#isWriting && now - this.#lastWrite >= heartbeat && format.heartbeat.length > 0) this.#write(format.heartbeat, () => {});
    this.#watch.check();
  }

  #leave(): void {
    this.operation.stop();
    this.#end.resolve();
  }

  #write(pieces: readonly Uint8Array[], onSent: () => void): void {
    this.#isWriting = true;
    this.#lastWrite = performance.now();
    if (this.#stream === null) return onSent();
    this.#stream.write(pieces, () => {
      this.#isWriting = false;
      onSent();
    });
  }
}
