/** Reads HTTP/1.1 responses, with a length or chunked, from a stream of bytes, without joining pieces of an incomplete response. */

export interface Response {
  readonly status: number;
  readonly body: Buffer;
}

const endOfHead = Buffer.from('\r\n\r\n');
const lineFeed = 0x0a;
const endOfChunks = Buffer.from('\r\n0\r\n\r\n');

/** Reads the responses of one connection, one at a time. */
export class ResponseReader {
  #pieces: Buffer[] = [];
  #length = 0;
  /** Where the body starts and how long the whole response is; null until the head is complete. -1: chunked. */
  #frame: { status: number; start: number; total: number } | null = null;

  /** The response, if this piece completes it. */
  push(piece: Buffer): Response | null {
    this.#pieces.push(piece);
    this.#length += piece.length;
    this.#frame ??= readHead(this.#join());
    if (this.#frame === null) return null;
    const { status, start, total } = this.#frame;
    // A cheap check before the pieces are joined: a chunked response ends with a line feed.
    if (total >= 0 ? this.#length < total : piece.at(-1) !== lineFeed) return null;
    const whole = this.#join();
    if (total < 0 && !whole.subarray(-endOfChunks.length).equals(endOfChunks)) return null;
    this.#pieces = [];
    this.#length = 0;
    this.#frame = null;
    return { status, body: total < 0 ? joinChunks(whole, start) : whole.subarray(start) };
  }

  #join(): Buffer {
    const [first = endOfHead] = this.#pieces;
    if (this.#pieces.length === 1) return first;
    const whole = Buffer.concat(this.#pieces, this.#length);
    this.#pieces = [whole];
    return whole;
  }
}

function readHead(buffer: Buffer): { status: number; start: number; total: number } | null {
  const end = buffer.indexOf(endOfHead);
  if (end < 0) return null;
  const head = buffer.toString('latin1', 0, end);
  const start = end + endOfHead.length;
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  return { status: Number(head.slice(9, 12)), start, total: length === undefined ? -1 : start + Number(length) };
}

function joinChunks(buffer: Buffer, start: number): Buffer {
  const chunks: Buffer[] = [];
  for (let position = start; ; ) {
    const line = buffer.indexOf('\r\n', position);
    const size = Number.parseInt(buffer.toString('latin1', position, line), 16);
    if (!size) return Buffer.concat(chunks);
    chunks.push(buffer.subarray(line + 2, line + 2 + size));
    position = line + 2 + size + 2;
  }
}
