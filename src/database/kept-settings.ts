/**
 * What batches leave set on a connection, so that the next ones need not set it again: JIT compilation off, and the time limit of most
 * requests. In: batches; out: which settings each must make itself. Only where the connection leads to one backend: a pooler in between would
 * hand our settings to other programs. A function may change a setting for the session, so they are made again every tenth of a second.
 */
import { longestTimer } from '../budget/deadline.ts';
import type { Batch, ByteString, ColumnValue } from './database.ts';
import { roleLimitOf, type SettingsToKeep, type SettingsUse } from './session-statement.ts';

/** How long settings are relied on, in milliseconds. */
const renewMillis = 100;
/**
 * How much longer than a request's remaining time the kept limit may be. Its deadline cancels it anyway; PostgreSQL's limit is for the case
 * that a cancel request cannot reach it.
 */
const tolerance = 1.05;

export class KeptSettings {
  /** The process of the backend; null if nothing may remain on the connection. */
  #backend: number | null;
  /** The time limit to keep, in milliseconds; Infinity for the connection's own. */
  #longest: number;
  /** The one that is set. */
  #limit = Infinity;
  /** When the settings must be made again, in milliseconds of `performance.now()`. */
  #dueAt = -Infinity;

  /**
   * `backend`: the process id that the server announced; null if nothing may remain on the connection. `usualLimit`: the time limit of most
   * batches, in milliseconds, or Infinity.
   */
  constructor(backend: number | null, usualLimit: number) {
    this.#backend = backend;
    this.#longest = usualLimit > longestTimer ? Infinity : Math.ceil(usualLimit);
  }

  /** What a batch keeps if it makes the settings for others. */
  get kept(): SettingsToKeep | null {
    return this.#backend === null ? null : { backend: this.#backend, timeout: this.#longest };
  }

  /** Whether a time limit is set, which is not meant for most internal queries. */
  get isLimited(): boolean {
    return this.#limit !== Infinity;
  }

  /**
   * `mayKeep`: whether the batch is alone and has the usual time limit, so that it may make the settings for others. A batch with a longer
   * limit than all before it makes them in any case.
   */
  choose(batch: Batch, mayKeep: boolean): SettingsUse {
    if (this.#backend === null || batch.session === null) return 'transaction';
    const now = performance.now();
    const limit = limitOf(batch);
    if (limit > this.#longest) {
      this.#longest = Math.ceil(limit);
      this.#dueAt = -Infinity;
    }
    if (now >= this.#dueAt) return mayKeep ? 'connection' : 'transaction';
    const remaining = (batch.deadline?.expiresAt ?? Infinity) - now;
    return this.#limit <= Math.min(roleLimitOf(batch), remaining * tolerance) ? 'kept' : 'limited';
  }

  /** Whether the kept time limit is too short for a batch: it also applies to what precedes the session statement. */
  isTooShortFor(batch: Batch): boolean {
    return this.isShorterThan(limitOf(batch));
  }

  /** Whether the kept time limit is shorter than this many milliseconds. */
  isShorterThan(millis: number): boolean {
    return millis > this.#limit;
  }

  /**
   * A batch that made the settings has succeeded. Its session row says whether it ran in the backend that the server had announced, unless
   * the row was too long to be read.
   */
  settle(sessionRow: readonly ColumnValue[]): void {
    const answer = sessionRow.at(-1) as ByteString | undefined;
    if (answer?.latin1 === '0') this.#backend = null;
    else {
      this.#limit = this.#longest;
      this.#dueAt = answer === undefined ? -Infinity : performance.now() + renewMillis;
    }
  }

  /** The next batch must make the settings, because they may have changed. */
  expire(): void {
    this.#dueAt = -Infinity;
  }

  /** The time limit is the connection's own again, so the next batch must set it. */
  noteReset(): void {
    this.#limit = Infinity;
    this.expire();
  }
}

/** How long each statement of a batch may take, in milliseconds, if the batch did not have to wait. */
function limitOf(batch: Batch): number {
  return Math.min(roleLimitOf(batch), batch.deadline?.millis ?? Infinity);
}
