/**
 * Cuts what a server sends into messages (https://www.postgresql.org/docs/current/protocol-message-formats.html) without reading their
 * text: the values of a response go from one socket to the other as the bytes that they are. `pg`'s own parser decodes each into a string.
 */

/** Takes the messages that end a row or a statement; everything else goes on to `pg`. */
export interface ReplySink<Value> {
  /** Whether to read a row of this many bytes, none of which may have arrived yet. If not, its bytes are skipped. */
  admits(length: number): boolean;
  /** Whether the row that comes is wanted; if not, neither `value` nor `row` is called for it. */
  wantsRow(): boolean;
  /** Reads a value. The bytes are the sink's if it may keep them, else they are gone once this returns. */
  value(bytes: Buffer, start: number, end: number, mayKeep: boolean): Value;
  /** A row of such values; null is SQL's null. */
  row(values: (Value | null)[]): void;
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
export class ReplyReader<Value> {
  readonly #sink: ReplySink<Value>;
  /** A message whose end has not come yet: of its whole size, or of a header's as long as that is not known. */
  #begun: Buffer | null = null;
  /** How many bytes of it there are. */
  #filled = 0;
  /** How many bytes to come belong to a row that is not read. */
  #passedOver = 0;

  constructor(sink: ReplySink<Value>) {
    this.#sink = sink;
  }

  read(chunk: Buffer): void {
    let start = Math.min(this.#passedOver, chunk.length);
    this.#passedOver -= start;
    while (this.#begun !== null && start < chunk.length) start = this.#fill(this.#begun, chunk, start);
    while (chunk.length - start >= headerLength) {
      const length = lengthAt(chunk, start);
      const end = start + length;
      if (chunk[start] === code.dataRow && !this.#sink.admits(length)) this.#passedOver = Math.max(0, end - chunk.length);
      else if (end > chunk.length) return this.#begin(length, chunk, start);
      else this.#readMessage(chunk, start, end, false);
      start = Math.min(end, chunk.length);
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
      if (begun.length === headerLength && begun[0] === code.dataRow && !this.#sink.admits(length)) {
        const rest = length - headerLength;
        const here = Math.min(rest, chunk.length - start - copied);
        this.#passedOver = rest - here;
        return start + copied + here;
      }
      if (length > begun.length) this.#begin(length, begun, 0);
      else this.#readMessage(begun, 0, length, true);
    }
    return start + copied;
  }

  /** `isOurs`: whether the bytes may be kept. */
  #readMessage(bytes: Buffer, start: number, end: number, isOurs: boolean): void {
    switch (bytes[start]) {
      case code.dataRow:
        if (this.#sink.wantsRow()) this.#sink.row(this.#readValues(bytes, start + headerLength, isOurs));
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

  #readValues(bytes: Buffer, start: number, isOurs: boolean): (Value | null)[] {
    const count = bytes.readUInt16BE(start);
    const values: (Value | null)[] = [];
    let offset = start + 2;
    for (let index = 0; index < count; index++) {
      const length = bytes.readInt32BE(offset);
      offset += 4;
      if (length < 0) values.push(null);
      else {
        values.push(this.#sink.value(bytes, offset, offset + length, isOurs));
        offset += length;
      }
    }
    return values;
  }
}

/** The length of the message whose header is at `start`, its first byte included. */
function lengthAt(bytes: Buffer, start: number): number {
  return 1 + bytes.readUInt32BE(start + 1);
}
