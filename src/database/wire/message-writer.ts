/**
 * Writes frontend messages of PostgreSQL's wire protocol (https://www.postgresql.org/docs/current/protocol-message-formats.html) one after
 * the other into a single buffer, so that a batch is sent in one write.
 */

/** In bytes. Batches share a block until the next one does not fit; a long one gets a block of its own. */
const blockLength = 64 * 1024;
/** In characters. Calling Node to encode a text costs more than a loop over this many characters. */
const shortText = 32;

/** Writes messages: begin a message, add its fields, end it. */
export class MessageWriter {
  #buffer: Buffer = Buffer.allocUnsafeSlow(blockLength);
  /** Where the bytes of the current call begin. Those before belong to earlier calls, and may not be sent yet. */
  #first = 0;
  /** Where they end. */
  #end = 0;
  /** Where the length of the current message belongs. */
  #start = 0;

  /** What `write` writes; of a call that throws, nothing. */
  encode(write: (writer: this) => void): Buffer {
    this.#end = this.#first;
    write(this);
    const encoded = this.#buffer.subarray(this.#first, this.#end);
    this.#first = this.#end;
    if (this.#buffer.length === blockLength) return encoded;
    // A copy, because the block has room for several times as much, and would live as long as the batch runs.
    this.#startBlock(Buffer.allocUnsafeSlow(blockLength));
    return Buffer.from(encoded);
  }

  /** Opens a message; `end` fills in its length. */
  begin(type: number): void {
    this.#ensure(5);
    this.#buffer[this.#end] = type;
    this.#start = this.#end + 1;
    this.#end += 5;
  }

  end(): void {
    this.#setInt32(this.#end - this.#start, this.#start);
  }

  byte(value: number): void {
    this.#ensure(1);
    this.#buffer[this.#end++] = value;
  }

  int16(value: number): void {
    this.#ensure(2);
    this.#buffer[this.#end++] = value >>> 8;
    this.#buffer[this.#end++] = value;
  }

  int32(value: number): void {
    this.#ensure(4);
    this.#setInt32(value, this.#end);
    this.#end += 4;
  }

  /** A string with a terminating zero byte. */
  terminated(text: string): void {
    this.#ensure(text.length * 3 + 1);
    this.#end += this.#write(text, this.#end);
    this.#buffer[this.#end++] = 0;
  }

  /** A value of Bind: the length of its text in bytes, then the text; -1 for null. */
  value(text: string | null): void {
    if (text === null) return this.int32(-1);
    this.#ensure(text.length * 3 + 4);
    const size = this.#write(text, this.#end + 4);
    this.#setInt32(size, this.#end);
    this.#end += size + 4;
  }

  /** Writes a text and returns its length in bytes. */
  #write(text: string, position: number): number {
    const buffer = this.#buffer;
    if (text.length > shortText) return buffer.write(text, position);
    for (let index = 0; index < text.length; index++) {
      const unit = text.charCodeAt(index);
      if (unit > 0x7f) return buffer.write(text, position);
      buffer[position + index] = unit;
    }
    return text.length;
  }

  #setInt32(value: number, position: number): void {
    const buffer = this.#buffer;
    buffer[position] = value >>> 24;
    buffer[position + 1] = value >>> 16;
    buffer[position + 2] = value >>> 8;
    buffer[position + 3] = value;
  }

  /** A UTF-16 unit takes at most three bytes of UTF-8, so reserving that much saves counting first. */
  #ensure(size: number): void {
    if (this.#end + size > this.#buffer.length) this.#moveOn(size);
  }

  /** Goes on in another block, for which the current call takes its bytes along. */
  #moveOn(size: number): void {
    const length = this.#end - this.#first;
    const needed = length + size;
    const block = Buffer.allocUnsafeSlow(needed <= blockLength / 2 ? blockLength : needed * 2);
    this.#buffer.copy(block, 0, this.#first, this.#end);
    this.#start -= this.#first;
    this.#startBlock(block);
    this.#end = length;
  }

  #startBlock(block: Buffer): void {
    this.#buffer = block;
    this.#first = 0;
    this.#end = 0;
  }
}
