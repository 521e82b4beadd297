/**
 * The recent delay of the event loop, by which a server sheds load. It measures only while there are requests, so that an idle process
 * sleeps.
 */

const tickMillis = 20;
/** Weight of the latest delay in the mean. */
const weight = 0.2;
/** Measuring ends after this many ticks without a request. */
const idleTicks = 10;

export class LoopDelay {
  #timer: NodeJS.Timeout | null = null;
  #dueAt = 0;
  #ticksLeft = 0;
  #meanMillis = 0;

  /** In milliseconds. */
  get mean(): number {
    return this.#meanMillis;
  }

  noteRequest(): void {
    this.#ticksLeft = idleTicks;
    if (this.#timer !== null) return;
    this.#dueAt = performance.now() + tickMillis;
    this.#timer = setInterval(() => this.#tick(), tickMillis).unref();
  }

  #tick(): void {
    const now = performance.now();
    this.#meanMillis += (Math.max(0, now - this.#dueAt) - this.#meanMillis) * weight;
    this.#dueAt = now + tickMillis;
    this.#ticksLeft -= 1;
    if (this.#ticksLeft > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
    this.#meanMillis = 0;
  }
}
