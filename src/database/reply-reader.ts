/**
 * Cuts what a server sends into messages (https://www.postgresql.org/docs/current/protocol-message-formats.html) without reading their
 * text: the values of an answer go from one socket to the other as the bytes that they are. `pg`'s own parser decodes each into a string.
 */

/** A value as the chunks that it came in; they share memory with what was read from the socket. */
export type Chunks = readonly Buffer[];

/** Takes the messages that end a row or a statement; everything else goes on to `pg`. */
export interface ReplySink {
  /** A row's values; null is SQL's null. */
  row(values: (Chunks | null)[]): void;
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
  /** How long that message is; 0 where even that has not come yet. */
  #wanted = 0;

  constructor(sink: ReplySink) {
    this.#sink = sink;
  }

  read(chunk: Buffer): void {
    if (this.#partsLength === 0) return this.#readMessages(chunk);
    const missing = this.#wanted - this.#partsLength;
    if (this.#wanted === 0 || chunk.length < missing) return this.#wait(chunk);
    const parts = [...this.#parts, chunk.subarray(0, missing)];
    this.#parts = [];
    this.#partsLength = 0;
    this.#readParts(parts);
    if (chunk.length > missing) this.#readMessages(chunk.subarray(missing));
  }

  /** Keeps a chunk that ends no message. */
  #wait(chunk: Buffer): void {
    this.#parts.push(chunk);
    this.#partsLength += chunk.length;
    if (this.#wanted > 0 || this.#partsLength < headerLength) return;
    const begun = Buffer.concat(this.#parts);
    this.#parts = [];
    this.#partsLength = 0;
    this.#readMessages(begun);
  }

  /** A message that came in several chunks. A row is not put together: its values go on as they came. */
  #readParts(parts: readonly Buffer[]): void {
    if (parts[0]![0] === code.dataRow) this.#sink.row(readScatteredValues(parts));
    else {
      const whole = Buffer.concat(parts);
      this.#readMessage(whole, 0, whole.length);
    }
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

function readValues(bytes: Buffer, start: number): (Chunks | null)[] {
  const count = bytes.readUInt16BE(start);
  const values: (Chunks | null)[] = [];
  let offset = start + 2;
  for (let index = 0; index < count; index++) {
    const length = bytes.readInt32BE(offset);
    offset += 4;
    if (length < 0) values.push(null);
    else {
      values.push([bytes.subarray(offset, offset + length)]);
      offset += length;
    }
  }
  return values;
}

function readScatteredValues(parts: readonly Buffer[]): (Chunks | null)[] {
  const cursor = new PartsCursor(parts);
  cursor.take(headerLength);
  const count = Buffer.concat(cursor.take(2)).readUInt16BE();
  const values: (Chunks | null)[] = [];
  for (let index = 0; index < count; index++) {
    const length = Buffer.concat(cursor.take(4)).readInt32BE();
    values.push(length < 0 ? null : cursor.take(length));
  }
  return values;
}

/** Takes bytes from the front of parts, without a copy. */
class PartsCursor {
  readonly #parts: readonly Buffer[];
  #index = 0;
  #offset = 0;

  constructor(parts: readonly Buffer[]) {
    this.#parts = parts;
  }

  take(length: number): Buffer[] {
    const taken: Buffer[] = [];
    let missing = length;
    while (missing > 0) {
      const part = this.#parts[this.#index]!;
      const piece = part.subarray(this.#offset, this.#offset + missing);
      taken.push(piece);
      missing -= piece.length;
      this.#offset += piece.length;
      if (this.#offset === part.length) {
        this.#index += 1;
        this.#offset = 0;
      }
    }
    return taken;
  }
}
