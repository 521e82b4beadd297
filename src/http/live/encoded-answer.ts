/**
 * The bytes of an answer, shared by all clients that get it: encoded once, whatever carries them, and counted once while they wait to be
 * sent.
 */
import type { RawResponse } from '../../engine/request.ts';
import type { Admission, ProjectPart, Share } from '../admission/admission.ts';

/** In bytes. A shorter answer is copied between its prefix and suffix; a longer one is sent in pieces. */
const longestCopy = 16 * 1024;
/** In bytes. Shorter answers are not counted, as those of other responses. */
const smallAnswer = 64 * 1024;

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const space = 0x20;

/** Who the bytes are counted for. */
export interface Holder {
  readonly admission: Admission;
  readonly share: Share;
  readonly project: ProjectPart | null;
}

const encoded = new WeakMap<RawResponse, EncodedAnswer>();

export class EncodedAnswer {
  readonly length: number;
  readonly #pieces: readonly Uint8Array[];
  /** How many clients have not got it yet. */
  #waiting = 0;
  /** The first of them. */
  #holder: Holder | null = null;

  private constructor({ chunks, length }: Pick<RawResponse, 'chunks' | 'length'>) {
    this.length = length;
    const pieces = chunks.map(onOneLine);
    this.#pieces = length < longestCopy ? [Buffer.concat(pieces)] : pieces;
  }

  /** The same for the same response. */
  static of(response: RawResponse): EncodedAnswer {
    const existing = encoded.get(response);
    if (existing !== undefined) return existing;
    const answer = new EncodedAnswer(response);
    encoded.set(response, answer);
    return answer;
  }

  /** The bytes, without line ends, between others. */
  between(prefix: Uint8Array, suffix: Uint8Array): readonly Uint8Array[] {
    const pieces = [prefix, ...this.#pieces, suffix];
    return this.length < longestCopy ? [Buffer.concat(pieces)] : pieces;
  }

  /** A client waits for it, until `release`. Returns why the server has no room for its bytes; then nothing is to be released. */
  hold(holder: Holder): string | null {
    if (this.#holder === null && this.length > smallAnswer) {
      const { admission, share, project } = holder;
      const refusal = admission.refuseBytes(share, project);
      if (refusal !== null) return refusal;
      admission.hold(share, project, this.length);
      this.#holder = holder;
    }
    this.#waiting += 1;
    return null;
  }

  release(): void {
    this.#waiting -= 1;
    if (this.#waiting > 0 || this.#holder === null) return;
    const { admission, share, project } = this.#holder;
    admission.hold(share, project, -this.length);
    this.#holder = null;
  }
}

/** Line ends in JSON are white space between its tokens, and end a line of an event stream. */
function onOneLine(chunk: Uint8Array): Uint8Array {
  if (!chunk.includes(lineFeed) && !chunk.includes(carriageReturn)) return chunk;
  return chunk.map((byte) => (byte === lineFeed || byte === carriageReturn ? space : byte));
}
