/** What a client has not taken yet of a response or a message that goes out in parts, so that a slow client has time for each. */

/** In bytes. */
const partLength = 1024 * 1024;

/** Parts of at most 1 MiB. */
export function cutParts(chunks: readonly Uint8Array[]): Uint8Array[][] {
  let part: Uint8Array[] = [];
  let room = partLength;
  const parts = [part];
  for (const chunk of chunks) {
    let start = 0;
    while (chunk.length - start > room) {
      part.push(chunk.subarray(start, start + room));
      start += room;
      room = partLength;
      part = [];
      parts.push(part);
    }
    part.push(chunk.subarray(start));
    room -= chunk.length - start;
  }
  return parts;
}

/** Writes a part, and calls back when the client has taken it, or is gone. Returns false, and never calls back, if there is nothing to wait for. */
type WritePart<Part> = (part: Part, isLast: boolean, onTaken: () => void) => boolean;

/** Writes each part when the one before has been taken. */
export class PartQueue<Part extends object> {
  readonly #write: WritePart<Part>;
  /** Parts, and what to call when those before have been taken. */
  readonly #waiting: (Part | (() => void))[] = [];
  #isWriting = false;

  constructor(write: WritePart<Part>) {
    this.#write = write;
  }

  /** Calls back when the parts have been taken, or nobody takes them any more. */
  add(parts: readonly Part[], onTaken: () => void): void {
    this.#waiting.push(...parts, onTaken);
    if (!this.#isWriting) this.#writeOn();
  }

  #writeOn(): void {
    this.#isWriting = true;
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      if (typeof next === 'function') next();
      else if (this.#write(next, typeof this.#waiting[0] === 'function', () => this.#writeOn())) return;
    }
    this.#isWriting = false;
  }
}
