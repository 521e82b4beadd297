/**
 * Decides which batches share a connection: batches of one template and role that are requested in one turn of the event loop, if such
 * batches are quick. They leave in one write. Each has a Sync of its own, and so is a transaction of its own
 * (https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-PIPELINING). In: batches as they come; out: groups.
 *
 * This saves a write, a read and the wake-up of a backend for each batch (docs/decisions/pipelining.md). Many batches come in one turn when
 * this process is busy. As long as enough connections are idle, batches are sent one by one, so that PostgreSQL can use all of its cores.
 */

const mostTogether = 8;
/** How long the last of a group may wait for the others, estimated from the average. */
const longestWaitMillis = 4;
/** How long it may wait for a single one, estimated from the slowest recent batch. */
const slowMillis = 25;
/**
 * If batches of a template take this long on average, one connection is enough for them: this process needs about as long to read a request
 * and write its response, so it sends no more than one batch in that time.
 */
const millisPerConnection = 0.2;
/** The weight of the latest time in the moving average. */
const weight = 1 / 16;
/** The factor by which the slowest time decays with each further batch: a second counts as slow for the next 370. */
const decay = 0.99;
/** The next mutation of an origin counts as brief if the slowest recent one took no longer than this. */
const briefMillis = 100;
/** The time recorded for a failure, so that a failing template runs alone for a while. */
const failureMillis = 1000;

/** How long PostgreSQL takes for a batch, in milliseconds. */
interface Pace {
  average: number;
  slowest: number;
}

/** Collects the batches of a turn, and learns how quick each template is. */
export class Pipelining<Job> {
  readonly #send: (jobs: readonly Job[]) => void;
  readonly #countSpare: (wanted: number) => number;
  readonly #isAlike: (one: Job, other: Job) => boolean;
  readonly #paces = new WeakMap<object, Pace>();
  /** The shortest exchange so far: the network, and minimal work. */
  #floorMillis = Infinity;
  #turn = new Map<object, Job[]>();

  /**
   * `countSpare`: how many connections must get work of their own before any is shared, if `wanted` connections at work are enough;
   * `isAlike`: whether two batches of one template may be sent together.
   */
  constructor(send: (jobs: readonly Job[]) => void, countSpare: (wanted: number) => number, isAlike: (one: Job, other: Job) => boolean) {
    this.#send = send;
    this.#countSpare = countSpare;
    this.#isAlike = isAlike;
  }

  /** Adds a batch that may share a connection; it is sent at the end of the turn. */
  add(template: object, job: Job): void {
    if (this.#turn.size === 0) setImmediate(() => this.#endTurn());
    const jobs = this.#turn.get(template);
    if (jobs === undefined) this.#turn.set(template, [job]);
    else jobs.push(job);
  }

  /** Records how long this many batches, sent together, took. */
  note(template: object, batches: number, millis: number): void {
    this.#floorMillis = Math.min(this.#floorMillis, millis);
    this.#learn(template, (millis - this.#floorMillis) / batches);
  }

  /** Whether all recent batches of an origin were quick, even those that had to wait for the disk. */
  isBrief(origin: object): boolean {
    const pace = this.#paces.get(origin);
    return pace !== undefined && pace.slowest <= briefMillis;
  }

  noteFailure(template: object): void {
    this.#learn(template, failureMillis);
  }

  #learn(template: object, millis: number): void {
    const pace = this.#paces.get(template);
    if (pace === undefined) this.#paces.set(template, { average: millis, slowest: millis });
    else {
      pace.average += (millis - pace.average) * weight;
      pace.slowest = Math.max(millis, pace.slowest * decay);
    }
  }

  #endTurn(): void {
    const turn = this.#turn;
    this.#turn = new Map();
    for (const [template, jobs] of turn) {
      if (jobs.length === 1) this.#send(jobs);
      else for (const alike of this.#groupsOf(jobs)) this.#sendInGroups(template, alike);
    }
  }

  #sendInGroups(template: object, jobs: readonly Job[]): void {
    const spare = this.#countSpare(this.#connectionsFor(template));
    const groups = Math.max(Math.ceil(jobs.length / this.mostOf(template)), Math.min(jobs.length, spare));
    const size = Math.ceil(jobs.length / groups);
    for (let start = 0; start < jobs.length; start += size) this.#send(jobs.slice(start, start + size));
  }

  /** Splits the batches of a template into groups that may be sent together. */
  #groupsOf(jobs: readonly Job[]): readonly (readonly Job[])[] {
    const first = jobs[0]!;
    if (jobs.every((job) => job === first || this.#isAlike(first, job))) return [jobs];
    const groups: Job[][] = [];
    for (const job of jobs) {
      const group = groups.find(([one]) => this.#isAlike(one!, job));
      if (group === undefined) groups.push([job]);
      else group.push(job);
    }
    return groups;
  }

  /** How many connections this process can keep busy with this template. */
  #connectionsFor(template: object): number {
    const pace = this.#paces.get(template);
    return pace === undefined ? Infinity : Math.max(1, Math.ceil(pace.average / millisPerConnection));
  }

  /** How many batches of a template may be sent together; one if nothing is known about them. */
  mostOf(template: object): number {
    const pace = this.#paces.get(template);
    if (pace === undefined || pace.slowest > slowMillis) return 1;
    return Math.max(1, Math.min(mostTogether, Math.floor(longestWaitMillis / pace.average)));
  }
}
