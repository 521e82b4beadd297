/** Styles text for people on a terminal. It stays plain if it is piped, or if `NO_COLOR` says so. */
import { styleText } from 'node:util';
/** Styles a text, if its stream is a terminal that shows styles. */
export type Paint = (style: 'bold' | 'dim' | 'red' | 'yellow' | 'cyan', text: string) => string;

export function paintFor(stream: NodeJS.WritableStream): Paint {
  return (style, text) => styleText(style, text, { stream });
}

/** Writes a warning to standard error, whatever the log level. */
export function warn(message: string): void {
  process.stderr.write(`rowgraph: ${paintFor(process.stderr)('yellow', 'WARNING')}: ${message}\n`);
}

/** One line, to be read. */
export function printable(line: string): string {
  return line.replaceAll(/\p{Cc}+/gu, ' ');
}

/**
 * SQL, to be run: unchanged, including line breaks, because any other text might do something else. If it is not safe to show, returns a
 * message that says so.
 */
export function printableSql(sql: string): string {
  return /[^\P{Cc}\n\t]/u.test(sql) ? '-- This SQL contains control characters; --json shows it.' : sql;
}

/** A step that ends within this many milliseconds is not worth a line. */
const patience = 400;

interface StepOptions {
  /** Whether the step is known to take long: prints immediately, because the work may block the timer. */
  readonly isLong?: boolean;
  /** The progress of the work, shown every second. */
  readonly describeState?: () => string;
}

export class Progress {
  readonly #write: (line: string) => void;

  constructor(write: (line: string) => void) {
    this.#write = write;
  }

  /** Does some work; if it takes long, prints what it is and how long it took. */
  async step<T>(label: string, work: () => Promise<T>, { isLong = false, describeState }: StepOptions = {}): Promise<T> {
    const start = performance.now();
    let isReported = false;
    const tell = (): void => {
      isReported = true;
      this.#write(`${label} …`);
    };
    if (isLong) tell();
    const timers = [setTimeout(() => isReported || tell(), patience)];
    if (describeState) timers.push(setInterval(() => this.#write(`${label}: ${describeState()}`), 1000));
    try {
      return await work();
    } finally {
      for (const timer of timers) clearInterval(timer);
      if (isReported) this.#write(`${label}: done in ${((performance.now() - start) / 1000).toFixed(1)} s`);
    }
  }
}
