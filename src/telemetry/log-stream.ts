/**
 * Writes log lines to a file descriptor that may be full, slow or closed. In: lines; out: the same lines, as far as the descriptor accepts
 * them. Callers never wait or fail: lines are held in bounded memory, and those that find no room are dropped and counted. (pino's own
 * destination has no such bound: it ends the process if a write fails, and then does not let it exit.)
 *
 * Relies on undocumented behaviour of Node (`test/contracts/node.test.ts`): a pipe or a socket becomes non-blocking when `process.stderr` is
 * first read, and `setBlocking` of its handle changes that. A write that blocks would keep the process from exiting.
 */
import { constants, openSync, write, writeSync } from 'node:fs';

export interface LogStreamOptions {
  /** Default: standard error. */
  readonly fd?: number;
  /** How many bytes may wait to be written. Default: 4 MB. */
  readonly mostBytes?: number;
  /** Called with the number of lines that were dropped, once everything else has been written. */
  readonly onDropped: (lines: number) => void;
}

/** In milliseconds: when to retry after a failed write, unless a new line comes first. */
const retryInterval = 100;

export class LogStream {
  readonly #fd: number;
  readonly #unblock: () => void;
  readonly #mostBytes: number;
  readonly #onDropped: (lines: number) => void;
  #lines: string[] = [];
  /** What is being written, or will be written next. */
  #chunk = Buffer.alloc(0);
  #isWriting = false;
  /** Total bytes of the chunk and the lines. */
  #bytes = 0;
  #dropped = 0;
  #retry: NodeJS.Timeout | null = null;
  #isUsed = false;

  constructor({ fd, mostBytes = 4 * 1024 ** 2, onDropped }: LogStreamOptions) {
    this.#fd = fd ?? openStandardError();
    this.#unblock = fd === undefined ? unblockStandardError : () => {};
    this.#mostBytes = mostBytes;
    this.#onDropped = onDropped;
  }

  write(line: string): void {
    const bytes = Buffer.byteLength(line);
    if (this.#bytes + bytes > this.#mostBytes) {
      this.#dropped += 1;
      return;
    }
    if (!this.#isUsed) process.once('exit', () => this.#writeLast());
    this.#isUsed = true;
    this.#lines.push(line);
    this.#bytes += bytes;
    if (!this.#isWriting) this.#writeNext();
  }

  #writeNext(): void {
    if (this.#chunk.length === 0) this.#chunk = this.#takeLines();
    this.#isWriting = true;
    this.#unblock();
    write(this.#fd, this.#chunk, (error, written) => {
      this.#isWriting = false;
      if (error) this.#retryLater();
      else this.#noteWritten(written);
    });
  }

  #noteWritten(written: number): void {
    this.#bytes -= written;
    this.#chunk = this.#chunk.subarray(written);
    if (this.#bytes > 0) this.#writeNext();
    else if (this.#dropped > 0) {
      const dropped = this.#dropped;
      this.#dropped = 0;
      this.#onDropped(dropped);
    }
  }

  #retryLater(): void {
    this.#retry ??= setTimeout(() => {
      this.#retry = null;
      if (!this.#isWriting && this.#bytes > 0) this.#writeNext();
    }, retryInterval).unref();
  }

  /** Called once, when the process exits: what does not fit is lost. A chunk that is being written is left to the thread that writes it. */
  #writeLast(): void {
    const rest = this.#isWriting ? this.#takeLines() : Buffer.concat([this.#chunk, this.#takeLines()]);
    try {
      this.#unblock();
      if (rest.length > 0) writeSync(this.#fd, rest);
    } catch {
      // Nobody is left to report it to.
    }
  }

  #takeLines(): Buffer<ArrayBuffer> {
    const text = this.#lines.join('');
    this.#lines = [];
    return Buffer.from(text);
  }
}

/** Writing to a terminal blocks while its output is paused (Ctrl-S), unless it is opened once more (`/dev/fd` of Linux does that). */
function openStandardError(): number {
  const { fd, isTTY } = process.stderr;
  if (!isTTY) return fd;
  try {
    return openSync(`/dev/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch {
    return fd;
  }
}

/**
 * Makes standard error non-blocking again: Node restores the original mode of a pipe when it starts a process that shares it, and when such
 * a process exits, such as another worker.
 */
function unblockStandardError(): void {
  const { _handle: handle } = process.stderr as { readonly _handle?: { setBlocking?(isBlocking: boolean): unknown } | null };
  handle?.setBlocking?.(false);
}
