/**
 * Equal subscriptions: of one role, text and values, and of one set of claims if the answer depends on any. They share each evaluation and
 * each answer. Here is when a cohort is evaluated; `evaluator.ts` does it.
 */

import type { Dependencies } from '../catalog/load-dependencies.ts';
import type { Caller, GraphQLRequest, HttpHead, RawResponse } from '../engine/request.ts';
import type { StandingRequest } from '../engine/standing-request.ts';
import type { Subscription } from './subscription.ts';

/** One subscription, with all that is needed to prepare it again on another schema. */
export interface Member {
  readonly subscription: Subscription;
  request: GraphQLRequest;
  caller: Caller;
  readonly http: HttpHead | undefined;
  cohort: Cohort | null;
  /** The number of the first evaluation that began after it joined; null once it has an answer. */
  awaits: number | null;
  /** Whether its last answer was no error: a stream that has one more gets no answer without rows. */
  isCaughtUp: boolean;
  /** Called with its first answer, or with why there is none yet. */
  onFirst: ((failure: unknown) => void) | null;
}

/** Time, in milliseconds; `after` returns what stops the wait. */
export interface Clock {
  now(): number;
  after(millis: number, callback: () => void): () => void;
}

/** Waits until all cohorts that a change has made dirty have been evaluated. */
export class ChangeNote {
  readonly evaluated: Promise<boolean>;
  #resolve!: (isOther: boolean) => void;
  #left = 1;
  #isOther = false;

  constructor() {
    this.evaluated = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  add(): void {
    this.#left += 1;
  }

  /** A cohort has been evaluated, or whoever made the note has noted all cohorts. */
  done(isOther = false): void {
    this.#isOther ||= isOther;
    this.#left -= 1;
    if (this.#left === 0) this.#resolve(this.#isOther);
  }
}

/** `waiting`: dirty, until its interval or a pause is over. `queued`: dirty, and waiting for its turn. */
type CohortState = 'clean' | 'waiting' | 'queued' | 'evaluating' | 'ended';

interface CohortTiming {
  readonly clock: Clock;
  /** The shortest time from one evaluation to the next. */
  readonly intervalMillis: number;
  /** Called when its turn may come. */
  readonly onDue: (cohort: Cohort) => void;
}

/**
 * How long to wait after evaluations that failed and may succeed later, in milliseconds: doubled each time, up to the longest, or to a
 * multiple of what they take.
 */
const pauses = { shortest: 250, longest: 15_000, factor: 6 };
/** Two evaluations in a row that take longer are followed by a rest as long as the shorter one: one alone may have waited for a lock. */
const slowMillis = 500;

export class Cohort {
  key: string;
  /** The schema for which it was prepared; another number needs another preparation. */
  epoch: number;
  standing: StandingRequest;
  dependencies: Dependencies;
  /** How often to evaluate it whatever changes, in milliseconds; null for never. */
  refreshMillis: number | null = null;
  /** The relations that the last evaluation read, if it was traced. */
  traced: readonly number[] = [];
  /** Whether it may depend on relations that are not known, because its last evaluation failed. */
  readsUnknown = false;
  readonly members = new Set<Member>();
  /** How long the last evaluation took, or that of another cohort with the same statement, in milliseconds. */
  tookMillis = 0;
  /** The hash of the last answer. */
  hash = '';
  /** The last answer; null if it is too long to be kept. */
  answer: RawResponse | null = null;
  readonly #timing: CohortTiming;
  #state: CohortState = 'clean';
  /** Whether something changed since the evaluation began. */
  #isDirtyAgain = false;
  #evaluations = 0;
  #beganAt = -Infinity;
  /** How long the evaluation before the last took, and how long to rest after the last, in milliseconds. */
  #tookBefore = 0;
  #restMillis = 0;
  #endedAt = -Infinity;
  #failures = 0;
  #stopTimer: (() => void) | null = null;
  #stopRefresh: (() => void) | null = null;
  /** Of changes that the next evaluation answers, and of those that the current one does. */
  #notes: ChangeNote[] = [];
  #currentNotes: ChangeNote[] = [];
  /** Relations that changed while it is being evaluated; null if all may have. */
  #changedMeanwhile: Set<number> | null = new Set();

  constructor(standing: StandingRequest, dependencies: Dependencies, epoch: number, timing: CohortTiming) {
    this.key = standing.key;
    this.epoch = epoch;
    this.standing = standing;
    this.dependencies = dependencies;
    this.#timing = timing;
  }

  get isSlow(): boolean {
    return this.tookMillis > slowMillis;
  }

  get isFailing(): boolean {
    return this.#failures > 0;
  }

  get state(): CohortState {
    return this.#state;
  }

  /** The number of the first evaluation that begins from now on. */
  get nextEvaluation(): number {
    return this.#evaluations + 1;
  }

  /** Its answer may be another one. `note` is told when that is known. */
  markDirty(note?: ChangeNote): void {
    if (this.#state === 'ended') return;
    if (note !== undefined) {
      note.add();
      this.#notes.push(note);
    }
    if (this.#state === 'evaluating') this.#isDirtyAgain = true;
    else if (this.#state === 'clean') this.#wait(this.#endedAt + this.#restMillis);
  }

  /** The database may be back, or somebody waits for a first answer: it waits no longer than its interval. */
  hurry(): void {
    if (this.#state !== 'waiting') return;
    this.#stopTimer?.();
    this.#wait(-Infinity);
  }

  /** These relations, or any if null, have changed: if it is being evaluated, it may turn out to have read them. */
  noteChange(relations: ReadonlySet<number> | null): void {
    if (this.#state !== 'evaluating') return;
    if (relations === null) this.#changedMeanwhile = null;
    else for (const id of relations) this.#changedMeanwhile?.add(id);
  }

  /** Its evaluation begins. Returns its number. */
  begin(): number {
    this.#state = 'evaluating';
    this.#isDirtyAgain = false;
    this.#changedMeanwhile = new Set();
    this.#currentNotes.push(...this.#notes.splice(0));
    this.#beganAt = this.#timing.clock.now();
    this.#evaluations += 1;
    return this.#evaluations;
  }

  /** Its evaluation has ended with an answer, or an error that counts as one; `isOther`: another one than before. */
  end(isOther: boolean, traced: readonly number[]): void {
    this.#tell(isOther);
    if (this.#state === 'ended') return;
    this.#failures = 0;
    this.#restMillis = this.isSlow ? Math.min(this.tookMillis, this.#tookBefore) : 0;
    this.#tookBefore = this.tookMillis;
    const missed = this.#changedMeanwhile;
    this.traced = traced;
    const mayHaveMissed = missed === null ? traced.length > 0 : traced.some((id) => missed.has(id));
    this.#rest();
    if (this.#isDirtyAgain || mayHaveMissed) this.markDirty();
    else if (this.refreshMillis !== null) this.#refreshAfter(this.refreshMillis);
  }

  /** Its evaluation was stopped, and is to begin again when it is its turn. */
  beginAgain(): void {
    if (this.#state === 'ended') return this.#tell(false);
    this.#notes.unshift(...this.#currentNotes.splice(0));
    this.#rest();
    this.#wait(-Infinity);
  }

  /** Its evaluation has failed, and is tried again after a pause. */
  fail(isOther = false): void {
    this.#tell(isOther);
    if (this.#state === 'ended') return;
    const longest = Math.max(pauses.longest, pauses.factor * this.tookMillis);
    const pause = Math.min(longest, pauses.shortest * 2 ** Math.min(this.#failures, 10));
    this.#failures += 1;
    this.#rest();
    this.#wait(this.#endedAt + pause * (1 + Math.random() / 4));
  }

  /** Nobody subscribes to it any longer. */
  close(): void {
    this.#state = 'ended';
    this.#stopTimer?.();
    this.#stopRefresh?.();
    this.#currentNotes.push(...this.#notes.splice(0));
    this.#tell(false);
  }

  #rest(): void {
    this.#state = 'clean';
    this.#endedAt = this.#timing.clock.now();
    this.#stopRefresh?.();
    this.#stopRefresh = null;
  }

  #tell(isOther: boolean): void {
    for (const note of this.#currentNotes.splice(0)) note.done(isOther);
  }

  /** Until this time, or until its interval is over. */
  #wait(until: number): void {
    this.#stopRefresh?.();
    this.#stopRefresh = null;
    const due = (): void => {
      this.#stopTimer = null;
      this.#state = 'queued';
      this.#timing.onDue(this);
    };
    this.#state = 'waiting';
    const millis = Math.max(until, this.#beganAt + this.#timing.intervalMillis) - this.#timing.clock.now();
    if (millis <= 0) due();
    else this.#stopTimer = this.#timing.clock.after(millis, due);
  }

  #refreshAfter(millis: number): void {
    this.#stopRefresh = this.#timing.clock.after(millis, () => {
      this.#stopRefresh = null;
      this.markDirty();
    });
  }
}
