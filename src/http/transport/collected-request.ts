/**
 * A request of our own server, whose body is handed over as the parser finds it, bypassing streams: those take 4 of the 90 µs of the server's CPU
 * for a small request. In: chunks from Node's parser; out: calls on a `BodySink`.
 *
 * Relies on Node beyond its documentation (`test/contracts/node.test.ts`): the parser passes the body to `push`, ends it with null, and
 * stops reading if that returns false, until `_read` is called. A body that nobody has asked for by the end of the response is discarded.
 */
import { IncomingMessage } from 'node:http';

/** Takes a body. */
export interface BodySink {
  /** A string if middleware has set an encoding. */
  takeChunk(chunk: Buffer | string): void;
  takeEnd(): void;
}

/** How many bytes may arrive before the body is asked for, without the chunk that exceeds them. */
const mostEarly = 64 * 1024;

export class CollectedRequest extends IncomingMessage {
  #sink: BodySink | null = null;
  /** What arrived before the body was asked for. */
  #early: (Buffer | null)[] | null = null;
  #earlyBytes = 0;

  override push(chunk: Buffer | null): boolean {
    if (this.#sink !== null) handOver(chunk, this.#sink);
    else {
      this.#early ??= [];
      this.#early.push(chunk);
      this.#earlyBytes += chunk?.length ?? 0;
    }
    return this.#earlyBytes <= mostEarly;
  }

  /** Hands the body over: what has arrived now, the rest as it arrives. May be called once. */
  deliver(sink: BodySink): void {
    this.#sink = sink;
    this.#earlyBytes = 0;
    for (const chunk of this.#early ?? []) handOver(chunk, sink);
    this.#early = null;
    // Reads on, and tells Node that there is nothing to discard.
    this._read(0);
  }

  /**
   * The response has been sent: forgets what has arrived. Node keeps the latest request of an idle connection. A body that is still arriving
   * goes on to its sink, which may end the connection.
   */
  forgetBody(): void {
    this.#early = null;
    this.#earlyBytes = 0;
    if (this.#sink === null || this.complete) this.#sink = nobody;
  }
}

const nobody: BodySink = { takeChunk: () => {}, takeEnd: () => {} };

function handOver(chunk: Buffer | null, sink: BodySink): void {
  if (chunk === null) sink.takeEnd();
  else sink.takeChunk(chunk);
}
