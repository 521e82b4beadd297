/**
 * Splits a server's reply into messages (https://www.postgresql.org/docs/current/protocol-message-formats.html) without decoding their
 * text: the values of a response go from one socket to the other as bytes. `pg`'s own parser decodes each into a string.
 */

/** Receives rows and the ends of statements; everything else is passed on to `pg`. */
export interface ReplySink<Value> {
  /** Whether to read a row of this many bytes, which may not have arrived yet. If not, its bytes are skipped. */
  admits(length: number): boolean;
  /** Whether the next row is wanted; if not, neither `value` nor `row` is called for it. */
  wantsRow(): boolean;
  /** Reads a value. If `mayKeep`, the bytes belong to the sink; otherwise they are overwritten once this returns. */
  value(bytes: Buffer, start: number, end: number, mayKeep: boolean): Value;
  /** A row of such values; null is SQL's null. */
  row(values: (Value | null)[]): void;
  /** A statement has been completed. */
  complete(): void;
  /** Any other message, complete: errors, notices, readiness. Its bytes are valid only until this returns. */
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

/** Reads chunks as they come and keeps none of them: what is needed later is copied, so all chunks may share one buffer. */
export class ReplyReader<Value> {
  readonly #sink: ReplySink<Value>;
  /** A message that is not complete yet: a buffer of its whole size, or of a header's while the size is unknown. */
  #begun: Buffer | null = null;
  /** How many bytes of `#begun` are filled. */
  #filled = 0;
  /** How many bytes of a skipped row are still to come. */
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

  /** Starts a message or header of this length with the rest of a chunk. */
  #begin(length: number, chunk: Buffer, start: number): void {
    this.#begun = Buffer.allocUnsafe(length);
    this.#filled = chunk.copy(this.#begun, 0, start);
  }

  /** Continues the incomplete message; returns where the rest of the chunk starts. */
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
