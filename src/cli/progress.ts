/** Progress messages on stderr, for steps that take a while. */

/** A step that ends within this many milliseconds is not worth a line. */
const patience = 400;

export interface StepOptions {
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
