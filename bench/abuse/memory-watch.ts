/** The memory (RSS) of a process under attack, looked at five times a second. */
import { readFileSync } from 'node:fs';

/** In MB. */
export interface MemoryFigures {
  /** The peak of all processes watched. */
  readonly most: number;
  /** The least since `forgetLeast`. */
  readonly least: number;
}

export class MemoryWatch {
  readonly #processId: () => number | undefined;
  readonly #sampling: NodeJS.Timeout;
  #most = 0;
  #least = Infinity;

  /** `processId` may change when the process is replaced. */
  constructor(processId: () => number | undefined) {
    this.#processId = processId;
    this.#sampling = setInterval(() => this.read(), 200);
  }

  read(): MemoryFigures {
    const status = statusOf(this.#processId());
    this.#most = Math.max(this.#most, inMegabytes(status, 'VmHWM'));
    // A dead process has no figures.
    this.#least = Math.min(this.#least, inMegabytes(status, 'VmRSS') || Infinity);
    return { most: this.#most, least: this.#least };
  }

  forgetLeast(): void {
    this.#least = Infinity;
  }

  stop(): void {
    clearInterval(this.#sampling);
  }
}

function statusOf(processId: number | undefined): string {
  try {
    return readFileSync(`/proc/${processId}/status`, 'latin1');
  } catch {
    return '';
  }
}

function inMegabytes(status: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0) / 1024;
}
