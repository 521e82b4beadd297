/**
 * Cuts what a server sends into messages (https://www.postgresql.org/docs/current/protocol-message-formats.html) without reading their
 * text: the values of an answer go from one socket to the other as the bytes that they are. `pg`'s own parser decodes each into a string.
 */

/** Takes the messages that end a row or a statement; everything else goes on to `pg`. */
export interface ReplySink {
  /** A row's values; null is SQL's null. They share memory with the chunk that they came in. */
  row(values: (Buffer | null)[]): void;
  /** A statement has run to its end. */
  complete(): void;
  /** A message of another kind, whole: errors, notices, readiness. */
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

export class ReplyReader {
  readonly #sink: ReplySink;
  /** The beginning of a message whose end has not come yet. */
  #parts: Buffer[] = [];
  #partsLength = 0;
  /** How long the message is that the parts begin; 0 where even that has not come yet. */
  #wanted = 0;

  constructor(sink: ReplySink) {
    this.#sink = sink;
  }

  read(chunk: Buffer): void {
    if (this.#partsLength === 0) return this.#readMessages(chunk);
    this.#parts.push(chunk);
    this.#partsLength += chunk.length;
    // A large message comes in many chunks: they are put together once, when all are there.
    if (this.#partsLength < Math.max(this.#wanted, headerLength)) return;
    const whole = Buffer.concat(this.#parts, this.#partsLength);
    this.#parts = [];
    this.#partsLength = 0;
    this.#readMessages(whole);
  }

  #readMessages(bytes: Buffer): void {
    let start = 0;
    let length = 0;
    while (bytes.length - start >= headerLength) {
      length = 1 + bytes.readUInt32BE(start + 1);
      if (bytes.length - start < length) break;
      this.#readMessage(bytes, start, start + length);
      start += length;
      length = 0;
    }
    if (start === bytes.length) return;
    this.#parts = [start === 0 ? bytes : bytes.subarray(start)];
    this.#partsLength = bytes.length - start;
    this.#wanted = length;
  }

  #readMessage(bytes: Buffer, start: number, end: number): void {
    switch (bytes[start]) {
      case code.dataRow:
        this.#sink.row(readValues(bytes, start + headerLength));
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
