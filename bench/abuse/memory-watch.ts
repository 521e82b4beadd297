/** The peak memory (RSS) of a process under attack, in MB, looked at five times a second. */
import { readFileSync } from 'node:fs';

export class MemoryWatch {
  readonly #processId: () => number | undefined;
  readonly #sampling: NodeJS.Timeout;
  #peak = 0;

  /** `processId` may change when the process is replaced. */
  constructor(processId: () => number | undefined) {
    this.#processId = processId;
    this.#sampling = setInterval(() => this.peak(), 200);
  }

  /** The peak of all processes watched. */
  peak(): number {
    this.#peak = Math.max(this.#peak, peakOf(this.#processId()));
    return this.#peak;
  }

  stop(): void {
    clearInterval(this.#sampling);
  }
}

/** 0 if the process has ended. */
function peakOf(processId: number | undefined): number {
  try {
    return Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${processId}/status`, 'latin1'))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}
