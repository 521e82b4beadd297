/** All cohorts: who belongs to which, and what is prepared and bound for them, again when the schema has changed or a stream moves on. */
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { Deadline } from '../budget/deadline.ts';
import type { Dependencies } from '../catalog/load-dependencies.ts';
import type { Database } from '../database/database.ts';
import { backgroundClient, backgroundShare } from '../database/scheduler.ts';
import { type PreparedFor, prepareForRole } from '../engine/handle.ts';
import type { Caller, GraphQLRequest, HttpHead } from '../engine/request.ts';
import { resumeStream } from '../engine/resume-stream.ts';
import type { SchemaSnapshot } from '../engine/snapshot/schema-snapshot.ts';
import { StandingRequest } from '../engine/standing-request.ts';
import { ApiError } from '../errors/api-error.ts';
import type { Observer } from '../events.ts';
import type { SchemaWatch } from '../freshness/schema-watch.ts';
import type { PlanMeasure } from '../plan/measure.ts';
import { type Clock, Cohort, type Member } from './cohort.ts';
import { DependencyCache } from './dependencies.ts';
import { type CohortKeeper, endsSubscription, evaluateCohort, explainFailure } from './evaluate.ts';
import { Evaluator } from './evaluator.ts';
import { RelationIndex } from './relation-index.ts';

export interface CohortSettings {
  readonly intervalMillis: number;
  /** How often to evaluate what no feed announces; null for never. */
  readonly refreshMillis: number | null;
  /** The factor by which the estimated rows of a subscription count. */
  readonly cost: number;
  /** How long an evaluation may take, and the wait for the first answer. */
  readonly timeoutMillis: number;
}

/** How many evaluations may be under way; PostgreSQL's part of them is bounded by the share of background work. */
const mostEvaluations = 32;
/** How many subscriptions are prepared again before requests have their turn. */
const preparedAtATime = 50;
/** How long to wait before a stream tries again to move on, while the database cannot be reached. */
const resumePauseMillis = 1000;

/** A subscription that is ready to join the cohort of its equals. */
export interface Bound {
  readonly standing: StandingRequest;
  readonly dependencies: Dependencies;
  readonly epoch: number;
  /** Whether an equal request of the same caller, with this head, has the same answers. */
  isFor(head: HttpHead | undefined): boolean;
}

export class Cohorts implements CohortKeeper, Iterable<Cohort> {
  readonly database: Database;
  readonly watch: SchemaWatch<SchemaSnapshot>;
  readonly observe: Observer;
  readonly settings: CohortSettings;
  readonly counts = { evaluations: 0, changes: 0 };
  readonly index = new RelationIndex();
  readonly #clock: Clock;
  readonly #all = new Set<Cohort>();
  readonly #byKey = new Map<string, Cohort>();
  /** How long the last evaluation of each statement took, in milliseconds. */
  readonly #times = new WeakMap<object, number>();
  readonly #dependencies: DependencyCache;
  readonly #evaluator: Evaluator;
  /** The number of the schema that cohorts must be prepared for. */
  epoch = 0;
  #resumed = 0;

  constructor(database: Database, watch: SchemaWatch<SchemaSnapshot>, observe: Observer, settings: CohortSettings, clock: Clock) {
    this.database = database;
    this.watch = watch;
    this.observe = observe;
    this.settings = settings;
    this.#clock = clock;
    this.#dependencies = new DependencyCache(database);
    const mostSlow = backgroundShare(database.readStatistics().pool?.size ?? 1);
    this.#evaluator = new Evaluator(mostEvaluations, mostSlow, (cohort) => evaluateCohort(cohort, this));
  }

  get size(): number {
    return this.#all.size;
  }

  [Symbol.iterator](): Iterator<Cohort> {
    return this.#all.values();
  }

  /** The schema may have changed: all are prepared again. */
  renew(): void {
    this.epoch += 1;
    this.#dependencies.forget();
    for (const cohort of this.#all) cohort.markDirty();
  }

  dependenciesOf(measure: PlanMeasure): Promise<Dependencies> {
    return this.#dependencies.of(measure);
  }

  /** The claims are part of a cohort only if the answer may depend on them. Without them it runs without any, and shows nobody's rows. */
  async bind(
    source: PreparedFor,
    { request, caller, http }: Pick<Member, 'request' | 'caller' | 'http'>,
    deadline: Deadline,
  ): Promise<Bound> {
    const { epoch } = this;
    const { measure } = source.prepared.compiled;
    if (measure.volatileRoutine !== null) {
      const message = `The function ${measure.volatileRoutine} is volatile: each call may change something, or return something else`;
      throw new ApiError('SUBSCRIPTION_NOT_SUPPORTED', `${message}. Subscribe without it, or declare it stable.`);
    }
    const dependencies = await this.#dependencies.of(measure);
    const own = dependencies.readsClaims ? { caller, http } : { caller: { role: caller.role } };
    const target = { database: this.database, observe: this.observe, deadline, client: backgroundClient, ...own };
    const readsHead = dependencies.readsClaims && source.roleSchema.granted.requestSettings !== null;
    const isFor = (head: HttpHead | undefined): boolean => !readsHead || head === http;
    return { standing: await StandingRequest.bind(source, request, target, this.settings.cost), dependencies, epoch, isFor };
  }

  join(member: Member, bound: Bound): void {
    const { standing, dependencies, epoch } = bound;
    let cohort = this.#byKey.get(standing.key);
    if (cohort === undefined) {
      const timing = {
        clock: this.#clock,
        intervalMillis: this.settings.intervalMillis,
        onDue: (due: Cohort) => this.#evaluator.add(due),
      };
      cohort = new Cohort(standing, dependencies, epoch, timing);
      cohort.refreshMillis = this.#refreshOf(bound);
      cohort.tookMillis = this.#times.get(standing.kind) ?? 0;
      this.#byKey.set(standing.key, cohort);
      this.#all.add(cohort);
      this.index.set(cohort);
    }
    shareWith(member, cohort);
    member.cohort = cohort;
    member.awaits = cohort.nextEvaluation;
    cohort.members.add(member);
    cohort.markDirty();
    if (!cohort.isFailing) cohort.hurry();
  }

  hasWorkBeside(cohort: Cohort): boolean {
    return this.#evaluator.hasWorkBeside(cohort);
  }

  noteTime(cohort: Cohort, millis: number): void {
    cohort.tookMillis = millis;
    this.#times.set(cohort.standing.kind, millis);
  }

  leave(member: Member): void {
    const { cohort } = member;
    if (cohort === null) return;
    member.cohort = null;
    cohort.members.delete(member);
    if (cohort.members.size === 0) this.#drop(cohort);
  }

  /** A stream has given rows up to this cursor. It goes on when they have been taken: its subscriber misses none of them. */
  moveOn(member: Member, cursor: string): void {
    this.leave(member);
    member.subscription.onWanted = () => void this.#resume(member, cursor);
  }

  /**
   * Prepares the subscriptions of a cohort for the current schema. What is no longer valid ends; what is no longer equal, because the answer
   * has come to depend on the claims, goes to cohorts of its own.
   */
  async prepareAgain(cohort: Cohort, deadline: Deadline): Promise<void> {
    const groups = new Map<string, Bound & { readonly members: Member[] }>();
    const known = new Map<GraphQLRequest, Map<Caller, Promise<Bound>>>();
    let count = 0;
    // Those who join meanwhile are among them.
    for (const member of cohort.members) {
      const { request, caller, http } = member;
      const byCaller = known.get(request) ?? new Map<Caller, Promise<Bound>>();
      known.set(request, byCaller);
      const bound = byCaller.get(caller) ?? this.#prepare(member, deadline);
      byCaller.set(caller, bound);
      try {
        const ofCaller = await bound;
        const each = ofCaller.isFor(http) ? ofCaller : await this.#prepare(member, deadline);
        const group = groups.get(each.standing.key);
        if (group === undefined) groups.set(each.standing.key, { ...each, members: [member] });
        else group.members.push(member);
      } catch (error) {
        if (!endsSubscription(error)) throw error;
        member.subscription.fail(error);
      }
      count += 1;
      if (count % preparedAtATime === 0) await nextTurn();
    }
    const kept = groups.get(cohort.key) ?? [...groups.values()][0];
    if (kept === undefined || cohort.state === 'ended') return;
    this.#adopt(cohort, kept);
    for (const group of groups.values()) {
      if (group === kept) continue;
      for (const member of group.members) {
        if (member.cohort !== cohort) continue;
        this.leave(member);
        this.join(member, group);
      }
    }
  }

  async #prepare(member: Member, deadline: Deadline): Promise<Bound> {
    const { request, caller } = member;
    const target = { database: this.database, caller, observe: this.observe, deadline, client: backgroundClient };
    return prepareForRole(this.watch, caller, deadline, request, target, (source) => this.bind(source, member, deadline));
  }

  /** Joins the cohort of those at the same cursor, as soon as the database can be asked. */
  async #resume(member: Member, cursor: string): Promise<void> {
    const { subscription } = member;
    this.#resumed += 1;
    if (this.#resumed % preparedAtATime === 0) await nextTurn();
    while (!subscription.isEnded) {
      const deadline = new Deadline(this.settings.timeoutMillis);
      try {
        member.request = resumeStream(member.request, cursor);
        const bound = await this.#prepare(member, deadline);
        if (!subscription.isEnded) this.join(member, bound);
        return;
      } catch (error) {
        const failure = explainFailure(error, this.observe);
        if (!(failure instanceof ApiError) || endsSubscription(failure)) return subscription.fail(failure);
      } finally {
        deadline.end();
      }
      await pause(resumePauseMillis, undefined, { ref: false });
    }
  }

  #drop(cohort: Cohort): void {
    cohort.close();
    this.#all.delete(cohort);
    if (this.#byKey.get(cohort.key) === cohort) this.#byKey.delete(cohort.key);
    this.index.delete(cohort);
  }

  /** What no feed announces is refreshed as the setting says, and what directives name as they say. */
  #refreshOf({ standing, dependencies: { unannounced } }: Bound): number | null {
    const { liveRefresh } = standing.source.prepared.compiled.measure;
    const { refreshMillis } = this.settings;
    if (unannounced.length === 0 || refreshMillis === null) return liveRefresh;
    return Math.min(refreshMillis, liveRefresh ?? Infinity);
  }

  #adopt(cohort: Cohort, bound: Bound): void {
    const { standing, dependencies, epoch } = bound;
    if (this.#byKey.get(cohort.key) === cohort) this.#byKey.delete(cohort.key);
    if (!this.#byKey.has(standing.key)) this.#byKey.set(standing.key, cohort);
    cohort.key = standing.key;
    cohort.standing = standing;
    cohort.dependencies = dependencies;
    cohort.epoch = epoch;
    cohort.refreshMillis = this.#refreshOf(bound);
    this.index.set(cohort);
  }
}

/** Equal subscriptions hold one request and one caller, not each their own copy. */
function shareWith(member: Member, { members }: Cohort): void {
  const [other] = members;
  if (other === undefined) return;
  if (isEqual(member.request, other.request)) member.request = other.request;
  if (isEqual(member.caller, other.caller)) member.caller = other.caller;
}

function isEqual(one: object, other: object): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}
