/**
 * Splits what a server sends into messages (https://www.postgresql.org/docs/current/protocol-message-formats.html) without decoding their
 * text: the values of a response go from one socket to the other as bytes. `pg`'s own parser decodes each into a string. In: bytes as they
 * arrive; out: the reply, to whoever waits for one, and all other messages to `pg`.
 */

/** Receives rows and the ends of statements. */
export interface ReplySink<Value> {
  /** Whether to read a row of this many bytes, which may not have arrived yet. If not, its bytes are skipped. */
  admits(length: number): boolean;
  /** The same for an error that is long. Of one that is not read, nothing is passed on. */
  admitsError(length: number): boolean;
  /** Whether the next row is wanted; if not, neither `value` nor `row` is called for it. */
  wantsRow(): boolean;
  /** Reads a value. If `mayKeep`, the bytes belong to the sink; otherwise they are overwritten once this returns. */
  value(bytes: Buffer, start: number, end: number, mayKeep: boolean): Value;
  /** A row of such values; null is SQL's null. */
  row(values: (Value | null)[]): void;
  complete(): void;
  /** Any other message, complete: errors, notices, readiness. Its bytes are valid only until this returns. False passes it on to `pg`. */
  other(message: Buffer): boolean;
}

/** The socket whose bytes are read. */
export interface ReplySocket {
  /** Passes complete messages on to `pg`. Their bytes are valid only until this returns. */
  pass(messages: Buffer): void;
  /** Closes the connection. */
  destroy(error: Error): unknown;
}

const code = {
  bindComplete: 0x32,
  closeComplete: 0x33,
  commandComplete: 0x43,
  dataRow: 0x44,
  emptyQuery: 0x49,
  errorResponse: 0x45,
  noData: 0x6e,
  noticeResponse: 0x4e,
  parseComplete: 0x31,
  rowDescription: 0x54,
};
const headerLength = 5;

/**
 * As in libpq, a header that PostgreSQL cannot have sent means that some bytes were lost: a type of message that is never long, with a
 * great length.
 */
const longestOfMost = 30_000;
const longTypes: ReadonlySet<number> = new Set(Buffer.from('DTdVENAt'));
/** Longer notices are skipped, because nobody reads them. Longer errors are skipped if they are not wanted. */
const longestNotice = 64 * 1024;
/** PostgreSQL's limit for any message. */
const longest = 2 ** 30;

class LostMessages extends Error {
  override readonly name = 'LostMessages';
  override readonly message = 'PostgreSQL sent something that is no message, or part of a message was lost';
}

/**
 * Reads the chunks of one connection as they come and keeps none of them: what is needed later is copied, so all chunks may share one
 * buffer. It lives as long as the connection, because a message may begin in one exchange and end in the next: notifications and notices
 * come at any time.
 */
export class ReplyReader<Value> {
  /** Who waits for a reply. Null: all messages are for `pg`. */
  sink: ReplySink<Value> | null = null;
  readonly #socket: ReplySocket;
  /** A message that is not complete yet: a buffer of its whole size, or of a header's while the size is unknown. */
  #begun: Buffer | null = null;
  /** How many bytes of `#begun` are filled. */
  #filled = 0;
  /** How many bytes of a skipped message are still to come. */
  #passedOver = 0;

  constructor(socket: ReplySocket) {
    this.#socket = socket;
  }

  read(chunk: Buffer): void {
    try {
      this.#split(chunk);
    } catch (error) {
      if (!(error instanceof LostMessages)) throw error;
      this.#socket.destroy(error);
    }
  }

  #split(chunk: Buffer): void {
    let start = Math.min(this.#passedOver, chunk.length);
    this.#passedOver -= start;
    while (this.#begun !== null && start < chunk.length) start = this.#fill(this.#begun, chunk, start);
    while (chunk.length - start >= headerLength) {
      const length = lengthAt(chunk, start);
      let end = start + length;
      if (this.#isUnwanted(chunk[start]!, length)) this.#passedOver = Math.max(0, end - chunk.length);
      else if (end > chunk.length) return this.#begin(length, chunk, start);
      else if (this.sink === null) end = this.#passAll(chunk, start, end);
      else this.#readMessage(this.sink, chunk, start, end, false);
      start = Math.min(end, chunk.length);
    }
    if (start < chunk.length) this.#begin(headerLength, chunk, start);
  }

  /** Whether a message is to be skipped: a row, or a long notice or error. */
  #isUnwanted(type: number, length: number): boolean {
    if (this.sink === null) return false;
    if (type === code.dataRow) return !this.sink.admits(length);
    if (length <= longestNotice) return false;
    return type === code.noticeResponse || (type === code.errorResponse && !this.sink.admitsError(length));
  }

  /** Passes on a message together with the complete ones that follow it; returns where the rest of the chunk starts. */
  #passAll(chunk: Buffer, start: number, firstEnd: number): number {
    let end = firstEnd;
    while (chunk.length - end >= headerLength) {
      const next = end + lengthAt(chunk, end);
      if (next > chunk.length) break;
      end = next;
    }
    this.#socket.pass(chunk.subarray(start, end));
    return end;
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
      if (begun.length === headerLength && this.#isUnwanted(begun[0]!, length)) {
        const rest = length - headerLength;
        const here = Math.min(rest, chunk.length - start - copied);
        this.#passedOver = rest - here;
        return start + copied + here;
      }
      if (length > begun.length) this.#begin(length, begun, 0);
      else if (this.sink === null) this.#socket.pass(begun);
      else this.#readMessage(this.sink, begun, 0, length, true);
    }
    return start + copied;
  }

  /** `isOurs`: whether the bytes may be kept. */
  #readMessage(sink: ReplySink<Value>, bytes: Buffer, start: number, end: number, isOurs: boolean): void {
    switch (bytes[start]) {
      case code.dataRow:
        if (sink.wantsRow()) sink.row(this.#readValues(sink, bytes, start + headerLength, isOurs));
        break;
      case code.commandComplete:
      case code.emptyQuery:
        sink.complete();
        break;
      case code.parseComplete:
      case code.bindComplete:
      case code.closeComplete:
      case code.rowDescription:
      case code.noData:
        break;
      default: {
        const message = bytes.subarray(start, end);
        if (!sink.other(message)) this.#socket.pass(message);
      }
    }
  }

  #readValues(sink: ReplySink<Value>, bytes: Buffer, start: number, isOurs: boolean): (Value | null)[] {
    const count = bytes.readUInt16BE(start);
    const values: (Value | null)[] = [];
    let offset = start + 2;
    for (let index = 0; index < count; index++) {
      const length = bytes.readInt32BE(offset);
      offset += 4;
      if (length < 0) values.push(null);
      else {
        values.push(sink.value(bytes, offset, offset + length, isOurs));
        offset += length;
      }
    }
    return values;
  }
}

/** The length of the message whose header is at `start`, its first byte included. */
function lengthAt(bytes: Buffer, start: number): number {
  const length = 1 + bytes.readUInt32BE(start + 1);
  if (length < headerLength || length > longest || (length > longestOfMost && !longTypes.has(bytes[start]!))) throw new LostMessages();
  return length;
}
