/**
 * Cuts what a server sends into messages (https://www.postgresql.org/docs/current/protocol-message-formats.html) without reading their
 * text: the values of an answer go from one socket to the other as the bytes that they are. `pg`'s own parser decodes each into a string.
 */

/** Takes the messages that end a row or a statement; everything else goes on to `pg`. */
export interface ReplySink {
  /** Whether the row that comes is wanted; if not, `row` is not called for it. */
  wantsRow(): boolean;
  /** A row's values, the sink's to keep; null is SQL's null. */
  row(values: (Buffer | null)[]): void;
  /** A statement has run to its end. */
  complete(): void;
  /** A message of another kind, whole: errors, notices, readiness. It is the sink's until this returns. */
  other(message: Buffer): void;
}

const code = {
  bindComplete: 0x32,
  closeComplete: 0x33,
  commandComplete: 0x43,
  dataRow: 0x44,
  emptyQuery: 0x49,
  noData: 0x6e,
  parseComplete: 0x31,
  rowDescription: 0x54,
};
const headerLength = 5;

/** Reads chunks as they come, and keeps none: what is kept of them is copied, so that they may all come in one buffer. */
export class ReplyReader {
  readonly #sink: ReplySink;
  /** A message whose end has not come yet: of its whole size, or of a header's as long as that is not known. */
  #begun: Buffer | null = null;
  /** How many bytes of it there are. */
  #filled = 0;

  constructor(sink: ReplySink) {
    this.#sink = sink;
  }

  read(chunk: Buffer): void {
    let start = 0;
    while (this.#begun !== null && start < chunk.length) start = this.#fill(this.#begun, chunk, start);
    while (chunk.length - start >= headerLength) {
      const end = start + lengthAt(chunk, start);
      if (end > chunk.length) return this.#begin(end - start, chunk, start);
      this.#readMessage(chunk, start, end, false);
      start = end;
    }
    if (start < chunk.length) this.#begin(headerLength, chunk, start);
  }

  /** Keeps the rest of a chunk as the beginning of something of this length. */
  #begin(length: number, chunk: Buffer, start: number): void {
    this.#begun = Buffer.allocUnsafe(length);
    this.#filled = chunk.copy(this.#begun, 0, start);
  }

  /** Goes on with what has begun; returns where the rest of the chunk starts. */
  #fill(begun: Buffer, chunk: Buffer, start: number): number {
    const copied = chunk.copy(begun, this.#filled, start);
    this.#filled += copied;
    if (this.#filled === begun.length) {
      this.#begun = null;
      const length = lengthAt(begun, 0);
      if (length > begun.length) this.#begin(length, begun, 0);
      else this.#readMessage(begun, 0, length, true);
    }
    return start + copied;
  }

  /** `isOurs`: whether the bytes may be kept. */
  #readMessage(bytes: Buffer, start: number, end: number, isOurs: boolean): void {
    switch (bytes[start]) {
      case code.dataRow:
        if (!this.#sink.wantsRow()) break;
        if (isOurs) this.#sink.row(readValues(bytes, start + headerLength));
        else this.#sink.row(readValues(copyOf(bytes, start + headerLength, end), 0));
        break;
      case code.commandComplete:
      case code.emptyQuery:
        this.#sink.complete();
        break;
      case code.parseComplete:
      case code.bindComplete:
      case code.closeComplete:
      case code.rowDescription:
      case code.noData:
        break;
      default:
        this.#sink.other(bytes.subarray(start, end));
    }
  }
}

/** The length of the message whose header is at `start`, its first byte included. */
function lengthAt(bytes: Buffer, start: number): number {
  return 1 + bytes.readUInt32BE(start + 1);
}

function copyOf(bytes: Buffer, start: number, end: number): Buffer {
  const copy = Buffer.allocUnsafe(end - start);
  bytes.copy(copy, 0, start, end);
  return copy;
}

function readValues(bytes: Buffer, start: number): (Buffer | null)[] {
  const count = bytes.readUInt16BE(start);
  const values: (Buffer | null)[] = [];
  let offset = start + 2;
  for (let index = 0; index < count; index++) {
    const length = bytes.readInt32BE(offset);
    offset += 4;
    if (length < 0) values.push(null);
    else {
      values.push(bytes.subarray(offset, offset + length));
      offset += length;
    }
  }
  return values;
}
