/**
 * What runs on the connections, and what may have one of the spare ones: those beyond the number that one client may use. They are for work that is quick, or
 * unlike what runs, so that work that waits for a locked table or a slow function never holds them all. In: work as it starts and ends; out: what may start.
 */
import { deleteFrom } from './work-list.ts';

/** What is known of work before it runs. */
export interface RunnableWork {
  /** Names of the tables and functions that it touches. */
  readonly touches: readonly string[];
  /** Whether work of its kind took a moment of late: then it may have any connection, as others soon can. */
  readonly isQuick: boolean;
}

/** How many names that were stuck on spare connections to remember. */
const mostStuck = 100;

export class SpareConnections<Work extends RunnableWork> {
  readonly #share: number;
  /** What runs: on as many connections as the share is, and on spare ones. */
  readonly #running: Work[] = [];
  readonly #runningSpare: Work[] = [];
  /** What was touched by work that waited too long for a lock on a spare connection. */
  #stuck: readonly (readonly string[])[] = [];

  /** `share`: how many connections are not spare. */
  constructor(share: number) {
    this.#share = share;
  }

  /** Work gets a connection. */
  start(work: Work): void {
    (this.#isOnlySpare ? this.#runningSpare : this.#running).push(work);
  }

  /** Work no longer has its connection. */
  end(work: Work): void {
    if (!deleteFrom(this.#running, work)) deleteFrom(this.#runningSpare, work);
  }

  /** Whether work runs on a spare connection. */
  has(work: Work): boolean {
    return this.#runningSpare.includes(work);
  }

  /** Work waited too long on a spare connection: nothing that touches the same objects gets one. */
  noteStuck({ touches }: RunnableWork): void {
    this.#stuck = [...this.#stuck.slice(1 - mostStuck), touches];
  }

  /** Work is done: others do not get stuck on what it touches. */
  noteDone({ touches }: RunnableWork): void {
    if (this.#stuck.length > 0) this.#stuck = this.#stuck.filter((stuck) => !isWithin(stuck, touches));
  }

  /** What was stuck may be tried again. */
  forgetStuck(): void {
    this.#stuck = [];
  }

  /**
   * What may start now. Where only spare connections are left, that is what is not bound to wait if something that runs, or that was stuck, waits for a table
   * or function. It would be where it touches all that the other touches. Ask many works at a time: those of one operation are decided once.
   */
  whatMayRun(): (work: RunnableWork) => boolean {
    if (!this.#isOnlySpare) return always;
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

  /** Whether anything may start. */
  get mayRunAnything(): boolean {
    return !this.#isOnlySpare;
  }

  get #isOnlySpare(): boolean {
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

/** Whether there are names, and all are among others. */
function isWithin(names: readonly string[], others: readonly string[]): boolean {
  // Work of one operation has one list.
  return names.length > 0 && (names === others || names.every((name) => others.includes(name)));
}
