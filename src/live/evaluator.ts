/**
 * Whose turn it is: dirty cohorts wait here by statement and role, so that those of one statement follow each other and share connections
 * (`Batch.template`). Their number is bounded, and so are their connections: requests do not wait behind them. Slow ones have turns of their
 * own, as many at a time as they have connections, so that neither others nor their own deadlines wait for them.
 */
import type { Cohort } from './cohort.ts';

/** Then it is the turn of another statement. */
const longestStreak = 256;

export class Evaluator {
  readonly #evaluate: (cohort: Cohort) => Promise<void>;
  readonly #most: number;
  readonly #mostSlow: number;
  /** Cohorts that are queued, by statement and role. */
  readonly #queues = new Map<object, Map<string, Set<Cohort>>>();
  readonly #slow = new Set<Cohort>();
  readonly #running = new Set<Cohort>();
  #slowRunning = 0;
  /** How many cohorts of one statement have had their turn in a row. */
  #streak = 0;
  #isAwake = false;

  /** `evaluate` never rejects. `most` and `mostSlow`: how many evaluations may be under way, and how many slow ones beside them. */
  constructor(most: number, mostSlow: number, evaluate: (cohort: Cohort) => Promise<void>) {
    this.#most = most;
    this.#mostSlow = mostSlow;
    this.#evaluate = evaluate;
  }

  add(cohort: Cohort): void {
    if (cohort.isSlow) this.#slow.add(cohort);
    else this.#queue(cohort);
    if (this.#isAwake) return;
    this.#isAwake = true;
    // Whatever a change makes dirty becomes so in one turn of the event loop.
    queueMicrotask(() => {
      this.#isAwake = false;
      this.#start();
    });
  }

  /** Whether any others wait for their turn, or have it, that are not known to be slow. */
  hasWorkBeside(cohort: Cohort): boolean {
    const waiting = [...this.#queues.values()].flatMap((byRole) => [...byRole.values()].flatMap((queue) => [...queue]));
    return [...this.#running, ...waiting].some((each) => each !== cohort && !each.isSlow);
  }

  #queue(cohort: Cohort): void {
    const { kind, role } = cohort.standing;
    const byRole = this.#queues.get(kind) ?? new Map<string, Set<Cohort>>();
    const queue = byRole.get(role) ?? new Set();
    this.#queues.set(kind, byRole.set(role, queue.add(cohort)));
  }

  #start(): void {
    while (this.#running.size < this.#most) {
      const cohort = this.#take();
      if (cohort === null) break;
      this.#running.add(cohort);
      void this.#evaluate(cohort).finally(() => {
        this.#running.delete(cohort);
        this.#start();
      });
    }
    for (const cohort of this.#slow) {
      if (this.#slowRunning === this.#mostSlow) return;
      this.#slow.delete(cohort);
      if (cohort.state !== 'queued') continue;
      this.#slowRunning += 1;
      void this.#evaluate(cohort).finally(() => {
        this.#slowRunning -= 1;
        this.#start();
      });
    }
  }

  /** The next of the statement whose turn it is, which keeps it for a while, or until none of its cohorts is left. */
  #take(): Cohort | null {
    for (const [kind, byRole] of this.#queues) {
      this.#streak += 1;
      if (this.#streak > longestStreak && this.#queues.size > 1) {
        this.#streak = 0;
        this.#queues.delete(kind);
        this.#queues.set(kind, byRole);
        continue;
      }
      for (const [role, queue] of byRole) {
        for (const cohort of queue) {
          queue.delete(cohort);
          if (queue.size === 0) byRole.delete(role);
          if (byRole.size === 0) {
            this.#queues.delete(kind);
            this.#streak = 0;
          }
          if (cohort.state === 'queued') return cohort;
        }
      }
    }
    return null;
  }
}
