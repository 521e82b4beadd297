/**
 * Live queries: subscriptions that are equal form a cohort, a feed of changes makes cohorts dirty, and dirty ones are evaluated.
 * docs/live.md says what is promised.
 */
import { Deadline, explainStop } from '../budget/deadline.ts';
import { checkLimit } from '../budget/limits.ts';
import type { Database } from '../database/database.ts';
import { handleRequest, type PreparedFor, prepareForRole, type Target } from '../engine/handle.ts';
import type { Caller, GraphQLRequest, SubscribeOptions } from '../engine/request.ts';
import { resumeStream } from '../engine/resume-stream.ts';
import type { SchemaSnapshot } from '../engine/snapshot/schema-snapshot.ts';
import { ApiError } from '../errors/api-error.ts';
import type { Observer } from '../events.ts';
import type { SchemaWatch } from '../freshness/schema-watch.ts';
import type { PlanMeasure } from '../plan/measure.ts';
import type { Replicas } from '../replicas/replicas.ts';
import type { LiveStatistics } from '../statistics.ts';
import { CatalogWatch } from './catalog-watch.ts';
import type { Change, ChangeFeed, OnChange } from './changes/change-feed.ts';
import { ChangeNote, type Clock, type Member } from './cohort.ts';
import { type Bound, type CohortSettings, Cohorts } from './cohorts.ts';
import { explainFailure, persist } from './evaluate.ts';
import { FeedHolder } from './feed-holder.ts';
import { Subscription } from './subscription.ts';

export interface LiveSettings extends CohortSettings {
  readonly maxSubscriptions: number;
  readonly openFeed: (onChange: OnChange) => Promise<ChangeFeed>;
  /** For operations that are answered once: subscriptions are evaluated on the primary, which has what the feed announces. */
  readonly replicas?: Replicas | undefined;
}

/** How often to look for changes of the catalogs. */
const catalogMillis = 1000;

const realTime: Clock = {
  now: () => performance.now(),
  after: (millis, callback) => {
    const timer = setTimeout(callback, millis).unref();
    return () => clearTimeout(timer);
  },
};

export class LiveQueries {
  readonly database: Database;
  readonly watch: SchemaWatch<SchemaSnapshot>;
  readonly observe: Observer;
  readonly settings: LiveSettings;
  /** Every subscription, from its first `next()` on; null until it has been prepared. */
  readonly #members = new Map<Subscription, Member | null>();
  readonly #clients = new Map<string, number>();
  readonly #cohorts: Cohorts;
  readonly #catalogs: CatalogWatch;
  readonly #feed: FeedHolder;
  #openFeed: ChangeFeed | null = null;
  #timer: NodeJS.Timeout | null = null;
  /** The marker of the last look at the catalogs. */
  #marker: string | null = null;
  #isClosed = false;

  constructor(database: Database, watch: SchemaWatch<SchemaSnapshot>, observe: Observer, settings: LiveSettings, clock = realTime) {
    this.database = database;
    this.watch = watch;
    this.observe = observe;
    this.settings = settings;
    this.#cohorts = new Cohorts(database, watch, observe, settings, clock);
    this.#catalogs = new CatalogWatch(database);
    const open = (): Promise<ChangeFeed> => settings.openFeed((change) => this.#noteChange(change));
    this.#feed = new FeedHolder(open, (feed) => this.#noteFeed(feed), clock);
    watch.onChange = () => this.#noteSchemaChange();
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
      const asked = options.after === undefined ? request : resumeStream(request, options.after);
      this.#begin(subscription, asked, caller, count, target).catch((error: unknown) =>
        subscription.fail(explainFailure(error, this.observe)),
      );
    });
  }

  readStatistics(): LiveStatistics {
    return { subscriptions: this.#members.size, cohorts: this.#cohorts.size, ...this.#cohorts.counts };
  }

  /** How an operation behaves as a live query. */
  async explain(measure: PlanMeasure): Promise<{ isShared: boolean; isTraced: boolean; unannounced: readonly string[] }> {
    const { readsClaims, isTraced, unannounced } = await this.#cohorts.dependenciesOf(measure);
    return { isShared: !readsClaims, isTraced, unannounced };
  }

  /** Ends all subscriptions. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const subscription of [...this.#members.keys()]) subscription.fail(closing());
    await this.#feed.close();
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
    if (member) this.#cohorts.leave(member);
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
    const unbound = { cohort: null, awaits: null, isCaughtUp: false, onFirst: null };
    const member: Member = { subscription, request, caller, http: target.http, ...unbound };
    const bind = async (source: PreparedFor): Promise<Bound | null> => {
      const { operation } = source.prepared.operation.node;
      if (operation === 'mutation' && target.readOnly === true)
        throw new ApiError('METHOD_NOT_ALLOWED', 'The operation is a mutation, which cannot be subscribed to. Send it as a POST request.');
      if (operation !== 'subscription') return null;
      this.#checkRoom();
      checkLimit(source.roleSchema.role.limits, 'subscriptions', count);
      return this.#cohorts.bind(source, member, target.deadline);
    };
    const bound = await persist(() => prepareForRole(this.watch, caller, target.deadline, request, target, bind), target.deadline);
    if (bound === null) {
      subscription.give(await handleRequest(this.watch, caller, target.deadline, request, target));
      return subscription.complete();
    }
    if (subscription.isEnded) return;
    target.onPrepared?.();
    this.#members.set(subscription, member);
    this.#awaitFirst(member, target.deadline);
    this.#start();
    this.#cohorts.join(member, bound);
  }

  #checkRoom(): void {
    const { maxSubscriptions } = this.settings;
    if (this.#members.size <= maxSubscriptions) return;
    const message = `The server has ${maxSubscriptions.toLocaleString('en-US')} subscriptions, which is the limit. Try again later.`;
    throw new ApiError('TOO_MANY_SUBSCRIPTIONS', message);
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

  #start(): void {
    this.#feed.need();
    this.#timer ??= setInterval(() => void this.#lookAtCatalogs(), catalogMillis).unref();
  }

  #noteChange(change: Change): Promise<boolean> {
    const note = new ChangeNote();
    if (change.kind === 'everything') this.#cohorts.index.coverBy(this.#openFeed);
    const relations = change.kind === 'tables' ? change.tables : null;
    for (const cohort of this.#cohorts) cohort.noteChange(relations);
    for (const cohort of this.#cohorts.index.affectedBy(change)) {
      if (change.kind === 'everything') cohort.hurry();
      cohort.markDirty(note);
    }
    note.done();
    return note.evaluated;
  }

  #noteFeed(feed: ChangeFeed | null): void {
    this.#openFeed = feed;
    this.#cohorts.index.coverBy(feed);
  }

  #noteSchemaChange(): void {
    if (this.#cohorts.size === 0) return;
    this.#openFeed?.noteSchemaChange();
    this.#cohorts.renew();
  }

  async #lookAtCatalogs(): Promise<void> {
    const { marker } = this.watch.state.compared;
    if (this.#cohorts.size === 0 || (marker !== null && marker === this.#marker)) return;
    try {
      const { isOfDefinitions, relations } = await this.#catalogs.compare(this.#cohorts.index.relations);
      this.#marker = marker;
      if (isOfDefinitions) this.#noteSchemaChange();
      else if (relations.size > 0) void this.#noteChange({ kind: 'tables', tables: relations });
    } catch {
      // The database cannot be reached: it is asked again in a second, and the feed says "everything" when it is back.
    }
  }
}

function closing(): ApiError {
  return new ApiError('SHUTTING_DOWN', 'The server is shutting down. Subscribe again at another instance.');
}
