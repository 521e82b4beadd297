/**
 * Live queries: subscriptions that are equal form a cohort, a feed of changes makes cohorts dirty, and dirty ones are evaluated.
 * docs/live.md says what is promised.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Deadline, explainStop } from '../budget/deadline.ts';
import { checkLimit } from '../budget/limits.ts';
import type { Dependencies } from '../catalog/load-dependencies.ts';
import type { Database } from '../database/database.ts';
import { backgroundClient } from '../database/scheduler.ts';
import { ClaimsError } from '../engine/claims.ts';
import { handleRequest, type Target } from '../engine/handle.ts';
import type { Caller, GraphQLRequest, SubscribeOptions } from '../engine/request.ts';
import type { SchemaSnapshot } from '../engine/snapshot/schema-snapshot.ts';
import { type PreparedFor, prepareForRole, StandingRequest } from '../engine/standing-request.ts';
import { ApiError } from '../errors/api-error.ts';
import { DatabaseError } from '../errors/database-error.ts';
import { toApiError } from '../errors/from-postgres.ts';
import type { Observer } from '../events.ts';
import type { SchemaWatch } from '../freshness/schema-watch.ts';
import type { PlanMeasure } from '../plan/measure.ts';
import type { Replicas } from '../replicas/replicas.ts';
import { RequestErrors } from '../request/validate/parse-document.ts';
import type { LiveStatistics } from '../statistics.ts';
import { CatalogWatch } from './catalog-watch.ts';
import type { Change, ChangeFeed, OnChange } from './changes/change-feed.ts';
import { ChangeNote, type Clock, Cohort, type Member } from './cohort.ts';
import { DependencyCache } from './dependencies.ts';
import { type CohortKeeper, endsSubscription, evaluateCohort, persist } from './evaluate.ts';
import { Evaluator } from './evaluator.ts';
import { FeedHolder } from './feed-holder.ts';
import { RelationIndex } from './relation-index.ts';
import { Subscription } from './subscription.ts';

export interface LiveSettings {
  readonly intervalMillis: number;
  /** How often to evaluate what no feed announces; null for never. */
  readonly refreshMillis: number | null;
  readonly maxSubscriptions: number;
  /** The factor by which the estimated rows of a subscription count. */
  readonly cost: number;
  /** How long an evaluation may take, and the wait for the first answer. */
  readonly timeoutMillis: number;
  readonly openFeed: (onChange: OnChange) => Promise<ChangeFeed>;
  /** For operations that are answered once: subscriptions are evaluated on the primary, which has what the feed announces. */
  readonly replicas?: Replicas | undefined;
}

/** How many evaluations may be under way; PostgreSQL's part of them is bounded by the share of background work. */
const mostEvaluations = 32;
/** How often to look for changes of the catalogs. */
const catalogMillis = 1000;
/** How many subscriptions are prepared again before requests have their turn. */
const preparedAtATime = 50;

const realTime: Clock = {
  now: () => performance.now(),
  after: (millis, callback) => {
    const timer = setTimeout(callback, millis).unref();
    return () => clearTimeout(timer);
  },
};

interface Bound {
  readonly standing: StandingRequest;
  readonly dependencies: Dependencies;
}

export class LiveQueries implements CohortKeeper {
  readonly database: Database;
  readonly watch: SchemaWatch<SchemaSnapshot>;
  readonly observe: Observer;
  readonly settings: LiveSettings;
  readonly #clock: Clock;
  /** Every subscription, from its first `next()` on; null until it has been prepared. */
  readonly #members = new Map<Subscription, Member | null>();
  readonly #clients = new Map<string, number>();
  readonly #cohorts = new Set<Cohort>();
  readonly #byKey = new Map<string, Cohort>();
  readonly counts = { evaluations: 0, changes: 0 };
  readonly index = new RelationIndex();
  readonly #dependencies: DependencyCache;
  readonly #catalogs: CatalogWatch;
  readonly #evaluator: Evaluator;
  readonly #feed: FeedHolder;
  #openFeed: ChangeFeed | null = null;
  #timer: NodeJS.Timeout | null = null;
  /** The marker of the last look at the catalogs. */
  #marker: string | null = null;
  #epoch = 0;
  #isClosed = false;

  constructor(database: Database, watch: SchemaWatch<SchemaSnapshot>, observe: Observer, settings: LiveSettings, clock = realTime) {
    this.database = database;
    this.watch = watch;
    this.observe = observe;
    this.settings = settings;
    this.#clock = clock;
    this.#dependencies = new DependencyCache(database);
    this.#catalogs = new CatalogWatch(database);
    this.#evaluator = new Evaluator(mostEvaluations, (cohort) => evaluateCohort(cohort, this));
    const open = (): Promise<ChangeFeed> => settings.openFeed((change) => this.#noteChange(change));
    this.#feed = new FeedHolder(open, (feed) => this.#noteFeed(feed), clock);
    watch.onChange = () => this.#noteSchemaChange();
  }

  get epoch(): number {
    return this.#epoch;
  }

  subscribe(request: GraphQLRequest, caller: Caller, client: string, options: SubscribeOptions): Subscription {
    const { signal } = options;
    return new Subscription((subscription) => {
      if (signal?.aborted) return void subscription.return();
      const stop = (): void => void subscription.return();
      signal?.addEventListener('abort', stop);
      const count = this.#count(subscription, client);
      const deadline = options.deadline ?? new Deadline(this.settings.timeoutMillis);
      subscription.onEnd = () => {
        signal?.removeEventListener('abort', stop);
        if (options.deadline === undefined) {
          deadline.stop('abandoned');
          deadline.end();
        }
        this.#discount(subscription, client);
      };
      const target = {
        ...options,
        readOnly: options.readOnly ?? false,
        database: this.database,
        replicas: this.settings.replicas,
        caller,
        observe: this.observe,
        deadline,
        client,
      };
      this.#begin(subscription, request, caller, count, target).catch((error: unknown) => subscription.fail(this.#explain(error)));
    });
  }

  readStatistics(): LiveStatistics {
    return { subscriptions: this.#members.size, cohorts: this.#cohorts.size, ...this.counts };
  }

  /** How an operation behaves as a live query. */
  async explain(measure: PlanMeasure): Promise<{ isShared: boolean; isTraced: boolean; unannounced: readonly string[] }> {
    const { readsClaims, isTraced, unannounced } = await this.#dependencies.of(measure);
    return { isShared: !readsClaims, isTraced, unannounced };
  }

  /** Ends all subscriptions. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const subscription of [...this.#members.keys()]) subscription.fail(closing());
    await this.#feed.close();
  }

  /** The error that a client may see. A wrong claim is the mistake of the program. */
  #explain(error: unknown): unknown {
    if (error instanceof ApiError || error instanceof RequestErrors || error instanceof ClaimsError) return error;
    if (error instanceof DatabaseError) return toApiError(error);
    this.observe({ kind: 'defect-found', requestId: null, error });
    return new ApiError('INTERNAL_ERROR', 'Internal error: this is a bug in rowgraph. Please report it.', { cause: error });
  }

  #count(subscription: Subscription, client: string): number {
    const count = (this.#clients.get(client) ?? 0) + 1;
    this.#clients.set(client, count);
    this.#members.set(subscription, null);
    return count;
  }

  #discount(subscription: Subscription, client: string): void {
    const left = (this.#clients.get(client) ?? 1) - 1;
    if (left === 0) this.#clients.delete(client);
    else this.#clients.set(client, left);
    const member = this.#members.get(subscription);
    this.#members.delete(subscription);
    if (member) this.#leave(member);
    if (this.#members.size > 0) return;
    this.#feed.release();
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  async #begin(
    subscription: Subscription,
    request: GraphQLRequest,
    caller: Caller,
    count: number,
    target: Target & { readonly deadline: Deadline },
  ): Promise<void> {
    if (this.#isClosed) throw closing();
    const { maxSubscriptions } = this.settings;
    if (this.#members.size > maxSubscriptions) {
      const message = `The server has ${maxSubscriptions.toLocaleString('en-US')} subscriptions, which is the limit. Try again later.`;
      throw new ApiError('TOO_MANY_SUBSCRIPTIONS', message);
    }
    const source = await persist(() => prepareForRole(this.watch, caller, target.deadline, request, target), target.deadline);
    const { operation } = source.prepared.operation.node;
    if (operation !== 'subscription') {
      if (operation === 'mutation' && target.readOnly === true)
        throw new ApiError('METHOD_NOT_ALLOWED', 'The operation is a mutation, which cannot be subscribed to. Send it as a POST request.');
      subscription.give(await handleRequest(this.watch, caller, target.deadline, request, target));
      return subscription.complete();
    }
    checkLimit(source.roleSchema.role.limits, 'subscriptions', count);
    const member: Member = { subscription, request, caller, http: target.http, cohort: null, awaits: null, onFirst: null };
    const bound = await persist(() => this.#bind(source, member, target.deadline), target.deadline);
    if (subscription.isEnded) return;
    target.onPrepared?.();
    this.#members.set(subscription, member);
    this.#awaitFirst(member, target.deadline);
    this.#start();
    this.#join(member, bound);
  }

  /** Bounds the wait for the first answer: it ends with what the last evaluation failed with. */
  #awaitFirst(member: Member, deadline: Deadline): void {
    let last: unknown = null;
    member.onFirst = (failure) => {
      if (failure !== null) last = failure;
      else {
        member.onFirst = null;
        deadline.onStop(null);
        deadline.end();
      }
    };
    deadline.onStop((reason) => member.subscription.fail(last ?? explainStop(reason)));
  }

  /** The claims are part of a cohort only if the answer may depend on them. Without them it runs without any, and shows nobody's rows. */
  async #bind(source: PreparedFor, { request, caller, http }: Member, deadline: Deadline): Promise<Bound> {
    const { measure } = source.prepared.compiled;
    if (measure.volatileRoutine !== null) {
      const message = `The function ${measure.volatileRoutine} is volatile: each call may change something, or return something else`;
      throw new ApiError('SUBSCRIPTION_NOT_SUPPORTED', `${message}. Subscribe without it, or declare it stable.`);
    }
    const dependencies = await this.#dependencies.of(measure);
    const own = dependencies.readsClaims ? { caller, http } : { caller: { role: caller.role } };
    const target = { database: this.database, observe: this.observe, deadline, client: backgroundClient, ...own };
    return { standing: await StandingRequest.bind(source, request, target, this.settings.cost), dependencies };
  }

  #start(): void {
    this.#feed.need();
    this.#timer ??= setInterval(() => void this.#lookAtCatalogs(), catalogMillis).unref();
  }

  #join(member: Member, { standing, dependencies }: Bound): void {
    let cohort = this.#byKey.get(standing.key);
    if (cohort === undefined) {
      const timing = {
        clock: this.#clock,
        intervalMillis: this.settings.intervalMillis,
        onDue: (due: Cohort) => this.#evaluator.add(due),
      };
      cohort = new Cohort(standing, dependencies, this.#epoch, timing);
      cohort.refreshMillis = this.#refreshOf({ standing, dependencies });
      this.#byKey.set(standing.key, cohort);
      this.#cohorts.add(cohort);
      this.index.set(cohort);
    }
    shareWith(member, cohort);
    member.cohort = cohort;
    member.awaits = cohort.nextEvaluation;
    cohort.members.add(member);
    cohort.markDirty();
  }

  #leave(member: Member): void {
    const { cohort } = member;
    if (cohort === null) return;
    member.cohort = null;
    cohort.members.delete(member);
    if (cohort.members.size === 0) this.#drop(cohort);
  }

  #drop(cohort: Cohort): void {
    cohort.close();
    this.#cohorts.delete(cohort);
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

  /**
   * Prepares the subscriptions of a cohort for the current schema. What is no longer valid ends; what is no longer equal, because the answer
   * has come to depend on the claims, goes to cohorts of its own.
   */
  async prepareAgain(cohort: Cohort, deadline: Deadline): Promise<void> {
    const epoch = this.#epoch;
    const groups = new Map<string, Bound & { readonly members: Member[] }>();
    const known = new Map<GraphQLRequest, Map<Caller, Promise<Bound>>>();
    let count = 0;
    for (const member of [...cohort.members]) {
      const { request, caller } = member;
      const byCaller = known.get(request) ?? new Map<Caller, Promise<Bound>>();
      known.set(request, byCaller);
      const target = { database: this.database, caller, observe: this.observe, deadline, client: backgroundClient };
      const bound =
        byCaller.get(caller) ??
        prepareForRole(this.watch, caller, deadline, request, target).then((source) => this.#bind(source, member, deadline));
      byCaller.set(caller, bound);
      try {
        const { standing, dependencies } = await bound;
        const group = groups.get(standing.key);
        if (group === undefined) groups.set(standing.key, { standing, dependencies, members: [member] });
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
    this.#adopt(cohort, kept, epoch);
    for (const group of groups.values()) {
      if (group === kept) continue;
      for (const member of group.members) {
        if (member.cohort !== cohort) continue;
        this.#leave(member);
        this.#join(member, group);
      }
    }
  }

  #adopt(cohort: Cohort, { standing, dependencies }: Bound, epoch: number): void {
    if (this.#byKey.get(cohort.key) === cohort) this.#byKey.delete(cohort.key);
    if (!this.#byKey.has(standing.key)) this.#byKey.set(standing.key, cohort);
    cohort.key = standing.key;
    cohort.standing = standing;
    cohort.dependencies = dependencies;
    cohort.epoch = epoch;
    cohort.refreshMillis = this.#refreshOf({ standing, dependencies });
    this.index.set(cohort);
  }

  #noteChange(change: Change): Promise<boolean> {
    const note = new ChangeNote();
    if (change.kind === 'everything') this.index.coverBy(this.#openFeed);
    const relations = change.kind === 'tables' ? change.tables : null;
    for (const cohort of this.#cohorts) cohort.noteChange(relations);
    for (const cohort of this.index.affectedBy(change)) {
      if (change.kind === 'everything') cohort.hurry();
      cohort.markDirty(note);
    }
    note.done();
    return note.evaluated;
  }

  #noteFeed(feed: ChangeFeed | null): void {
    this.#openFeed = feed;
    this.index.coverBy(feed);
  }

  #noteSchemaChange(): void {
    if (this.#cohorts.size === 0) return;
    this.#epoch += 1;
    this.#dependencies.forget();
    this.#openFeed?.noteSchemaChange();
    for (const cohort of this.#cohorts) cohort.markDirty();
  }

  async #lookAtCatalogs(): Promise<void> {
    const { marker } = this.watch.state.compared;
    if (this.#cohorts.size === 0 || (marker !== null && marker === this.#marker)) return;
    try {
      const { isOfDefinitions, relations } = await this.#catalogs.compare(this.index.relations);
      this.#marker = marker;
      if (isOfDefinitions) this.#noteSchemaChange();
      else if (relations.size > 0) void this.#noteChange({ kind: 'tables', tables: relations });
    } catch {
      // The database cannot be reached: it is asked again in a second, and the feed says "everything" when it is back.
    }
  }
}

/** Equal subscriptions hold one request and one caller, not each their own copy. */
function shareWith(member: Member, { members }: Cohort): void {
  const [other] = members;
  if (other === undefined) return;
  if (JSON.stringify(member.request) === JSON.stringify(other.request)) member.request = other.request;
  if (JSON.stringify(member.caller) === JSON.stringify(other.caller)) member.caller = other.caller;
}

function closing(): ApiError {
  return new ApiError('SHUTTING_DOWN', 'The server is shutting down. Subscribe again at another instance.');
}
