/**
 * What runs on the connections, and what may use one of the spare ones: those beyond the number that one client may use. They are for work
 * that is quick, or unlike what is running, so that work waiting for a locked table or a slow function never holds all connections. In:
 * work as it starts and ends; out: what may start.
 */
import { dropFrom } from './work-list.ts';

/** What is known of work before it runs. */
export interface RunnableWork {
  /** Names of the tables and functions that it touches. */
  readonly touches: readonly string[];
  /** Whether recent work of its kind was quick: then it may use any connection, because it soon frees it. */
  readonly isQuick: boolean;
}

/** How many lists of objects that work got stuck on to remember. */
const mostStuck = 100;

export class SpareConnections<Work extends RunnableWork> {
  readonly #share: number;
  /** What runs, by kind of connection: up to the share first, then spare ones. */
  readonly #running: Work[] = [];
  readonly #runningSpare: Work[] = [];
  /** What was touched by work that was stopped on a spare connection. */
  #stuck: readonly (readonly string[])[] = [];

  /** `share`: how many connections are not spare. */
  constructor(share: number) {
    this.#share = share;
  }

  /** Work gets a connection. */
  start(work: Work): void {
    (this.#isOnlySpare() ? this.#runningSpare : this.#running).push(work);
  }

  /** Work no longer has its connection. */
  end(work: Work): void {
    if (!dropFrom(this.#running, work)) dropFrom(this.#runningSpare, work);
  }

  /** Whether work runs on a spare connection. */
  has(work: Work): boolean {
    return this.#runningSpare.includes(work);
  }

  /** Work was stopped on a spare connection: work that touches the same objects gets none for now. */
  noteStuck({ touches }: RunnableWork): void {
    this.#stuck = [...this.#stuck.slice(1 - mostStuck), touches];
  }

  /** Work is done: others do not get stuck on what it touches. */
  noteDone({ touches }: RunnableWork): void {
    if (this.#stuck.length > 0) this.#stuck = this.#stuck.filter((stuck) => !isWithin(stuck, touches));
  }

  /** Work that was stuck may be tried again. */
  forgetStuck(): void {
    this.#stuck = [];
  }

  /**
   * Decides what may start now. If only spare connections are left, work is held back if it touches everything that running or stuck work
   * touches: it would have to wait for the same table or function. Call the result for many items: consecutive items of one operation are
   * decided once.
   */
  whatMayRun(): (work: RunnableWork) => boolean {
    if (!this.#isOnlySpare()) return always;
    let known: readonly string[] | null = null;
    let isKnownToWait = false;
    return ({ touches, isQuick }) => {
      if (touches !== known) {
        known = touches;
        isKnownToWait = this.#stuck.some((stuck) => isWithin(stuck, touches)) || (!isQuick && this.#isAlikeRunning(touches));
      }
      return !isKnownToWait;
    };
  }

  /** Whether any work may start. */
  get mayRunAnything(): boolean {
    return !this.#isOnlySpare();
  }

  // A private getter would be a call of V8's runtime.
  #isOnlySpare(): boolean {
    return this.#running.length >= this.#share;
  }

  #isAlikeRunning(touches: readonly string[]): boolean {
    const isAlike = (other: Work): boolean => isWithin(other.touches, touches);
    return this.#running.some(isAlike) || this.#runningSpare.some(isAlike);
  }
}

function always(): boolean {
  return true;
}

/** Whether `names` is not empty and all of them are in `others`. */
function isWithin(names: readonly string[], others: readonly string[]): boolean {
  // Items of one operation share the same list.
  return names.length > 0 && (names === others || names.every((name) => others.includes(name)));
}
