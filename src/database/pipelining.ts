/**
 * Decides which batches share a connection: those of one template and role that are requested in one turn of the event loop, if such batches are quick. They
 * leave in one write, each with a Sync of its own, so that each is a transaction of its own
 * (https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-PIPELINING). In: batches as they come; out: groups.
 *
 * It saves a write, a read and the wake-up of a backend for each batch (docs/decisions/pipelining.md). Many batches come in one turn when
 * this process is busy; and they go one by one as long as connections enough are idle, so that PostgreSQL has work for all of its cores.
 */

const mostTogether = 8;
/** How long the last of a group may wait for the others, going by the average. */
const longestWaitMillis = 4;
/** How long it may wait for a single one, going by the slowest of late. */
const slowMillis = 25;
/**
 * Batches of a template that take this long keep one connection at work: this process needs about as much time to read a request and write its
 * response, and so sends no more than one batch in it.
 */
const millisPerConnection = 0.2;
/** The weight of the latest time in the average. */
const weight = 1 / 16;
/** What is left of the slowest time after another one: a second counts as slow for the next 370. */
const fading = 0.99;
/** How long the slowest mutation of an origin may have taken of late for the next one to count as brief. */
const briefMillis = 100;
/** Stands for a failure, so that failing templates run alone for a while. */
const failureMillis = 1000;

/** How long a batch takes PostgreSQL, in milliseconds. */
interface Pace {
  average: number;
  slowest: number;
}

/** The batches of a turn, and what is known of their templates. */
export class Pipelining<Job> {
  readonly #send: (jobs: readonly Job[]) => void;
  readonly #countSpare: (wanted: number) => number;
  readonly #isAlike: (one: Job, other: Job) => boolean;
  readonly #paces = new WeakMap<object, Pace>();
  /** The minimum time of an exchange: the network, and minimal work. */
  #floorMillis = Infinity;
  #turn = new Map<object, Job[]>();

  /**
   * `countSpare`: how many connections must get work of their own before any is shared, where so many at work are enough; `isAlike`: whether two batches
   * of one template may be sent together.
   */
  constructor(send: (jobs: readonly Job[]) => void, countSpare: (wanted: number) => number, isAlike: (one: Job, other: Job) => boolean) {
    this.#send = send;
    this.#countSpare = countSpare;
    this.#isAlike = isAlike;
  }

  /** Adds a batch that may share a connection; it is sent when the turn is over. */
  add(template: object, job: Job): void {
    if (this.#turn.size === 0) setImmediate(() => this.#endTurn());
    const jobs = this.#turn.get(template);
    if (jobs === undefined) this.#turn.set(template, [job]);
    else jobs.push(job);
  }

  /** Records how long a number of batches, sent together, took. */
  note(template: object, batches: number, millis: number): void {
    this.#floorMillis = Math.min(this.#floorMillis, millis);
    this.#learn(template, (millis - this.#floorMillis) / batches);
  }

  /** Whether batches of an origin have taken but a moment of late, even those that wait for the disk. */
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
      pace.slowest = Math.max(millis, pace.slowest * fading);
    }
  }

  #endTurn(): void {
    const turn = this.#turn;
    this.#turn = new Map();
    for (const [template, all] of turn) {
      for (const jobs of this.#groupsOf(all)) {
        const spare = this.#countSpare(this.#connectionsFor(template));
        const groups = Math.max(Math.ceil(jobs.length / this.mostOf(template)), Math.min(jobs.length, spare));
        const size = Math.ceil(jobs.length / groups);
        for (let start = 0; start < jobs.length; start += size) this.#send(jobs.slice(start, start + size));
      }
    }
  }

  /** The batches of a template by what may go together. */
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

  /** How many connections are at work when this process sends as many of them as it can. */
  #connectionsFor(template: object): number {
    const pace = this.#paces.get(template);
    return pace === undefined ? Infinity : Math.max(1, Math.ceil(pace.average / millisPerConnection));
  }

  /** How many may be sent together; one if nothing is known about them. */
  mostOf(template: object): number {
    const pace = this.#paces.get(template);
    if (pace === undefined || pace.slowest > slowMillis) return 1;
    return Math.max(1, Math.min(mostTogether, Math.floor(longestWaitMillis / pace.average)));
  }
}
