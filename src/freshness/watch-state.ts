/** What the watch knows, and what follows from what happens to it: a pure function of state and event. The watch does the work. */
import type { Event } from '../events.ts';
import { isSameStamp, type SchemaStamp, type Versions } from './versions.ts';

/** A snapshot with the stamp at which it is valid. Replaced as a whole whenever one of them changes. */
export interface Loaded<Snapshot> {
  readonly stamp: SchemaStamp;
  readonly snapshot: Snapshot;
  /** How many of its tables have changed since. */
  readonly doubtful: number;
}

export interface WatchState<Snapshot> {
  readonly loaded: Loaded<Snapshot>;
  /**
   * When the last comparison that found no change began, in milliseconds, and the marker then (null if there is none). A comparison that
   * leads to a load proves nothing, because the schema may change again meanwhile.
   */
  readonly compared: { readonly at: number; readonly marker: string | null };
  /** Whether the next refresh loads the schema, changed or not. */
  readonly isForced: boolean;
  /** Whether the database had a newer version when it was last read than that of the snapshot. */
  readonly isBehind: boolean;
  /** How many fruitless comparisons invalid requests may still trigger, as of a time. */
  readonly checks: { readonly left: number; readonly at: number };
  /** Messages of errors that repeats did not resolve on the current schema and never will: a type without an operator has none. */
  readonly persistent: ReadonlySet<string>;
  /** A standby refuses LISTEN, which is not tried again before the next load. */
  readonly listening: 'no' | 'yes' | 'failed' | 'refused';
  readonly isFailing: boolean;
  readonly isStopped: boolean;
}

export type WatchEvent<Snapshot> =
  | { readonly kind: 'reload asked' }
  | { readonly kind: 'refresh began' }
  /** The schema is that of the snapshot, which may have moved on to a newer version. */
  | { readonly kind: 'unchanged'; readonly loaded: Loaded<Snapshot>; readonly compared: WatchState<Snapshot>['compared'] }
  | { readonly kind: 'changed'; readonly loaded: Loaded<Snapshot> }
  | { readonly kind: 'refresh failed'; readonly error: unknown }
  /** The snapshot found out that the schema has changed since it was read. */
  | { readonly kind: 'doubted' }
  /** The database or a request says that there is a newer version. */
  | { readonly kind: 'version moved' }
  /** `loaded` is null if the snapshot cannot move on to these versions. */
  | { readonly kind: 'versions read'; readonly versions: Versions; readonly loaded: Loaded<Snapshot> | null }
  | { readonly kind: 'check found nothing'; readonly now: number }
  | { readonly kind: 'repeats failed'; readonly message: string }
  | { readonly kind: 'listening' }
  | { readonly kind: 'listen failed'; readonly error: unknown; readonly isRefused: boolean }
  | { readonly kind: 'stopped' };

/** What the watch has to do now. */
type WatchAction = 'listen' | Event;

/**
 * How many comparisons that find no change may be triggered by requests that are rejected without asking the database: this many in a row,
 * then one per pause; a change resets the count. Beyond that, invalid requests cost the database nothing.
 */
const mostFruitlessChecks = 20;
const fruitlessCheckMillis = 200;
/** How many errors that persisted after all repeats to remember. */
const mostPersistent = 100;
/** How often to run a statement again if it misses an object that the schema has. */
const mostRepeats = 3;

export function initialState<Snapshot>(loaded: Loaded<Snapshot>, now: number): WatchState<Snapshot> {
  return {
    loaded,
    compared: nothingCompared,
    isForced: false,
    isBehind: false,
    checks: { left: mostFruitlessChecks, at: now },
    persistent: new Set(),
    listening: 'no',
    isFailing: false,
    isStopped: false,
  };
}

const nothingCompared = { at: -Infinity, marker: null };

export function reduce<Snapshot>(
  state: WatchState<Snapshot>,
  event: WatchEvent<Snapshot>,
): { readonly state: WatchState<Snapshot>; readonly actions: readonly WatchAction[] } {
  switch (event.kind) {
    case 'reload asked':
      return keep({ ...state, isForced: true });
    case 'refresh began':
      return keep({ ...state, isForced: false });
    case 'unchanged':
      return thenListen({ ...state, loaded: event.loaded, compared: event.compared, isFailing: false });
    case 'changed':
      return thenListen({
        ...state,
        loaded: event.loaded,
        compared: { ...state.compared, marker: null },
        checks: { ...state.checks, left: mostFruitlessChecks },
        persistent: new Set(),
        listening: state.listening === 'refused' ? 'no' : state.listening,
        isFailing: false,
      });
    case 'refresh failed':
      return {
        state: { ...state, isFailing: true },
        actions: state.isFailing || state.isStopped ? [] : [{ kind: 'schema-load-failed', error: event.error }],
      };
    case 'doubted':
      return keep({ ...state, compared: nothingCompared });
    case 'version moved':
      return keep({ ...state, isBehind: true });
    case 'versions read': {
      const loaded = event.loaded ?? state.loaded;
      return keep({ ...state, loaded, isBehind: event.versions.version !== loaded.stamp.version });
    }
    case 'check found nothing':
      return keep({ ...state, checks: { left: checksLeft(state, event.now) - 1, at: event.now } });
    case 'repeats failed':
      return keep(state.persistent.size < mostPersistent ? { ...state, persistent: new Set([...state.persistent, event.message]) } : state);
    case 'listening':
      return keep({ ...state, listening: 'yes' });
    case 'listen failed': {
      if (event.isRefused) return keep({ ...state, listening: 'refused' });
      const isFirst = state.listening !== 'failed' && !state.isStopped;
      return { state: { ...state, listening: 'failed' }, actions: isFirst ? [{ kind: 'listen-failed', error: event.error }] : [] };
    }
    case 'stopped':
      return keep({ ...state, isStopped: true });
  }
}

function keep<Snapshot>(state: WatchState<Snapshot>): { readonly state: WatchState<Snapshot>; readonly actions: readonly WatchAction[] } {
  return { state, actions: [] };
}

/** The triggers may have been installed at any time. */
function thenListen<Snapshot>(state: WatchState<Snapshot>): ReturnType<typeof keep<Snapshot>> {
  return { state, actions: shouldListen(state) ? ['listen'] : [] };
}

export function shouldListen({ loaded, listening, isStopped }: WatchState<unknown>): boolean {
  return loaded.stamp.version !== null && (listening === 'no' || listening === 'failed') && !isStopped;
}

/** Whether nothing can have changed since the last comparison, because its marker is still the same. */
export function provesNoChange({ compared, isForced }: WatchState<unknown>, marker: string | null): boolean {
  return !isForced && marker !== null && marker === compared.marker;
}

/** Whether nothing has changed since the snapshot was loaded. */
export function isUnchanged({ loaded, isForced }: WatchState<unknown>, stamp: SchemaStamp): boolean {
  return !isForced && isSameStamp(stamp, loaded.stamp) && loaded.doubtful === 0;
}

/** Whether a request that was rejected without asking the database, and began then, may trigger a comparison. */
export function mayCompare(state: WatchState<unknown>, began: number, now: number): boolean {
  // A comparison that began after the request did has seen every change that the client can know of.
  return state.compared.at < began && checksLeft(state, now) >= 1;
}

/** Whether to repeat a statement that misses an object of the current schema. */
export function mayRepeat({ persistent }: WatchState<unknown>, message: string, repeats: number): boolean {
  return repeats < mostRepeats && !persistent.has(message);
}

function checksLeft({ checks: { left, at } }: WatchState<unknown>, now: number): number {
  return Math.min(mostFruitlessChecks, left + (now - at) / fruitlessCheckMillis);
}
