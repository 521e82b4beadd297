/** Keeps the log readable, and the disk from filling up, when something fails thousands of times a second. */

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

interface Window {
  start: number;
  lines: number;
}

export class LogLimit {
  /** There are few keys: kinds of events, and codes of errors. */
  readonly #windows = new Map<string, Window>();
  readonly #onOmitted: (key: string, count: number) => void;
  readonly #clock: Clock;

  /** `onOmitted` is called at the end of each second in which lines were dropped. */
  constructor(onOmitted: (key: string, count: number) => void, clock: Clock = processClock) {
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

  #endLater(key: string, window: Window, milliseconds: number): void {
    this.#clock.after(milliseconds, () => {
      if (this.#windows.get(key) === window) this.#end(key, window);
    });
  }

  #end(key: string, { lines }: Window): void {
    this.#windows.delete(key);
    if (lines > linesPerWindow) this.#onOmitted(key, lines - linesPerWindow);
  }
}
