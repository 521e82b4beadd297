/**
 * Writes frontend messages of PostgreSQL's wire protocol (https://www.postgresql.org/docs/current/protocol-message-formats.html) one after
 * the other into a single buffer, so that a batch is sent in one write.
 */

const initialCapacity = 16 * 1024;
/** A buffer that grew beyond this size is not kept. */
const keptCapacity = 256 * 1024;

/** A reusable buffer of messages: begin a message, add its fields, end it. */
export class MessageWriter {
  #buffer = Buffer.allocUnsafe(initialCapacity);
  #length = 0;
  #start = 0;

  /**
   * A copy of what `write` writes. Always starts with an empty buffer, so that what a call that threw left behind, such as another caller's
   * session, is never sent.
   */
  encode(write: (writer: this) => void): Buffer {
    this.#length = 0;
    write(this);
    const encoded = Buffer.from(this.#buffer.subarray(0, this.#length));
    if (this.#buffer.length > keptCapacity) this.#buffer = Buffer.allocUnsafe(initialCapacity);
    return encoded;
  }

  /** Opens a message; `end` fills in its length. */
  begin(type: number): void {
    this.#ensure(5);
    this.#buffer[this.#length] = type;
    this.#start = this.#length + 1;
    this.#length += 5;
  }

  end(): void {
    this.#buffer.writeInt32BE(this.#length - this.#start, this.#start);
  }

  byte(value: number): void {
    this.#ensure(1);
    this.#buffer[this.#length++] = value;
  }

  int16(value: number): void {
    this.#ensure(2);
    this.#length = this.#buffer.writeUInt16BE(value, this.#length);
  }

  int32(value: number): void {
    this.#ensure(4);
    this.#length = this.#buffer.writeInt32BE(value, this.#length);
  }

  /** A string with a terminating zero byte. */
  terminated(text: string): void {
    this.#ensure(text.length * 3 + 1);
    this.#length += this.#buffer.write(text, this.#length);
    this.#buffer[this.#length++] = 0;
  }

  /** A value of Bind: the length of its text in bytes, then the text; -1 for null. */
  value(text: string | null): void {
    if (text === null) return this.int32(-1);
    this.#ensure(text.length * 3 + 4);
    const size = this.#buffer.write(text, this.#length + 4);
    this.#buffer.writeInt32BE(size, this.#length);
    this.#length += size + 4;
  }

  /** A UTF-16 unit takes at most three bytes of UTF-8, so reserving that much saves counting first. */
  #ensure(size: number): void {
    const needed = this.#length + size;
    if (needed <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, this.#buffer.length * 2));
    this.#buffer.copy(larger, 0, 0, this.#length);
    this.#buffer = larger;
  }
}
