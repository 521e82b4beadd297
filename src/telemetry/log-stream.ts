/**
 * Writes log lines to a file descriptor that may be full, slow or closed. Callers never wait or fail: lines are held in bounded memory, and
 * those that find no room are dropped and counted. (pino's own destination has no such bound: it ends the process if a write fails, and
 * then does not let it exit.)
 */
import { constants, fstatSync, openSync, write, writeSync } from 'node:fs';

interface LogStreamOptions {
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

/**
 * A descriptor of standard error that never blocks: a write to a pipe that nobody reads, or to a terminal that is paused (Ctrl-S), would
 * keep the process from exiting. Only opening it once more gives it a mode of its own (`/dev/fd` of Linux).
 */
function openStandardError(): number {
  const { fd, isTTY } = process.stderr;
  try {
    if (!isTTY && !fstatSync(fd).isFIFO()) return fd;
    return openSync(`/dev/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch {
    return fd;
  }
}

export interface Clock {
  /** Milliseconds from some point in time. */
  now(): number;
  /** Calls back once, without keeping the process alive. */
  after(milliseconds: number, callback: () => void): void;
}

const processClock: Clock = {
  now: () => performance.now(),
  after: (milliseconds, callback) => void setTimeout(callback, milliseconds).unref(),
};

const windowMilliseconds = 1000;
const linesPerWindow = 10;
/** Of what is reported for as long as it lasts, in milliseconds: the first and the longest pause between lines, and after which silence it is over. */
const lasting = { firstPause: 5_000, longestPause: 600_000, quiet: 15_000 };

interface Window {
  start: number;
  lines: number;
}

/** Something that lasts, such as an outage. */
interface Episode {
  /** When its last line was written. */
  written: number;
  /** When it was last reported. */
  seen: number;
  /** Until the next line may be written. */
  pause: number;
  /** How many were not written since. */
  omitted: number;
}

type OnOmitted = (key: string, count: number, seconds: number) => void;

export class LogLimit {
  /** There are few keys: kinds of events, and codes of errors. */
  readonly #windows = new Map<string, Window>();
  readonly #episodes = new Map<string, Episode>();
  readonly #onOmitted: OnOmitted;
  readonly #clock: Clock;

  /** `onOmitted` is called at the end of a time in which lines were dropped, with how many, and the length of that time. */
  constructor(onOmitted: OnOmitted, clock: Clock = processClock) {
    this.#onOmitted = onOmitted;
    this.#clock = clock;
  }

  /** Whether to write a line with this key: the first ten of each second are written. */
  admits(key: string): boolean {
    const now = this.#clock.now();
    let window = this.#windows.get(key);
    if (window === undefined || now - window.start >= windowMilliseconds) {
      if (window !== undefined) this.#end(key, window);
      window = { start: now, lines: 0 };
      this.#windows.set(key, window);
    }
    window.lines += 1;
    if (window.lines === linesPerWindow + 1) this.#endLater(key, window, window.start + windowMilliseconds - now);
    return window.lines <= linesPerWindow;
  }

  /** Whether to write a line about something that lasts: the first is written, then one after each pause, and each pause is longer. */
  admitsFewer(key: string): boolean {
    const now = this.#clock.now();
    const episode = this.#episodes.get(key);
    if (episode === undefined) {
      this.#episodes.set(key, { written: now, seen: now, pause: lasting.firstPause, omitted: 0 });
      this.#awaitQuiet(key, lasting.quiet);
      return true;
    }
    episode.seen = now;
    if (now - episode.written < episode.pause) {
      episode.omitted += 1;
      return false;
    }
    this.#reportEpisode(key, episode, now);
    episode.pause = Math.min(episode.pause * 2, lasting.longestPause);
    episode.written = now;
    return true;
  }

  /** Forgets what has not been reported for a while, so that the next time it is written at once. */
  #awaitQuiet(key: string, milliseconds: number): void {
    this.#clock.after(milliseconds, () => {
      const episode = this.#episodes.get(key);
      if (episode === undefined) return;
      const left = episode.seen + lasting.quiet - this.#clock.now();
      if (left > 0) return this.#awaitQuiet(key, left);
      this.#episodes.delete(key);
      this.#reportEpisode(key, episode, episode.seen);
    });
  }

  #reportEpisode(key: string, episode: Episode, until: number): void {
    if (episode.omitted > 0) this.#onOmitted(key, episode.omitted, Math.max(1, Math.round((until - episode.written) / 1000)));
    episode.omitted = 0;
  }

  #endLater(key: string, window: Window, milliseconds: number): void {
    this.#clock.after(milliseconds, () => {
      if (this.#windows.get(key) === window) this.#end(key, window);
    });
  }

  #end(key: string, { lines }: Window): void {
    this.#windows.delete(key);
    if (lines > linesPerWindow) this.#onOmitted(key, lines - linesPerWindow, windowMilliseconds / 1000);
  }
}
