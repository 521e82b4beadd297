/**
 * Splits what a server sends in a CopyBoth exchange (https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-COPY) into messages.
 * Of each, only the beginning is kept: who follows a replication stream may need no more than that, and a row may have a gigabyte.
 */

interface CopyListener {
  /** The server has switched to copying. */
  started(): void;
  /** The beginning of a CopyData message is in `bytes`, from `start` to `end`; they are overwritten once this returns. */
  data(bytes: Buffer, start: number, end: number, isWhole: boolean): void;
  /** The fields of an ErrorResponse, by their one-letter codes. The stream is over. */
  failed(fields: ReadonlyMap<string, string>): void;
  /** The server has stopped copying. */
  done(): void;
}

/** Longer messages are cut: none that is needed as a whole is longer. */
const longestKept = 16 * 1024;
const headerLength = 5;
const code = { copyBoth: 0x57, copyData: 0x64, copyDone: 0x63, errorResponse: 0x45 };

export class CopyReader {
  readonly #listener: CopyListener;
  /** The beginning of a message that is not complete yet, header included. */
  readonly #begun = Buffer.allocUnsafe(longestKept);
  #filled = 0;
  /** How many bytes to skip. */
  #skipped = 0;

  constructor(listener: CopyListener) {
    this.#listener = listener;
  }

  read(chunk: Buffer): void {
    let start = this.#filled > 0 ? this.#continue(chunk) : 0;
    const skipped = Math.min(this.#skipped, chunk.length - start);
    this.#skipped -= skipped;
    start += skipped;
    while (chunk.length - start >= headerLength) {
      const length = 1 + chunk.readUInt32BE(start + 1);
      const kept = Math.min(length, longestKept);
      if (start + kept > chunk.length) break;
      this.#take(chunk, start, start + kept, kept === length);
      start += length;
    }
    if (start > chunk.length) this.#skipped = start - chunk.length;
    else if (start < chunk.length) this.#filled = chunk.copy(this.#begun, 0, start);
  }

  /** Completes the message that has begun; returns how much of the chunk it takes, without what is to be skipped. */
  #continue(chunk: Buffer): number {
    let start = 0;
    const fill = (wanted: number): boolean => {
      const copied = Math.max(0, Math.min(wanted - this.#filled, chunk.length - start));
      chunk.copy(this.#begun, this.#filled, start, start + copied);
      this.#filled += copied;
      start += copied;
      return this.#filled >= wanted;
    };
    if (!fill(headerLength)) return start;
    const length = 1 + this.#begun.readUInt32BE(1);
    const kept = Math.min(length, longestKept);
    if (!fill(kept)) return start;
    this.#filled = 0;
    this.#skipped = length - kept;
    this.#take(this.#begun, 0, kept, kept === length);
    return start;
  }

  #take(bytes: Buffer, start: number, end: number, isWhole: boolean): void {
    switch (bytes[start]) {
      case code.copyData:
        return this.#listener.data(bytes, start + headerLength, end, isWhole);
      case code.copyBoth:
        return this.#listener.started();
      case code.copyDone:
        return this.#listener.done();
      case code.errorResponse:
        return this.#listener.failed(readFields(bytes.subarray(start + headerLength, end)));
      // Notices, settings of the session, the end of the command: nobody needs them.
      default:
    }
  }
}

function readFields(bytes: Buffer): ReadonlyMap<string, string> {
  const fields = bytes.toString('utf8').split('\0');
  return new Map(fields.filter((field) => field !== '').map((field) => [field.charAt(0), field.slice(1)]));
}
