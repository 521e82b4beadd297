/** One evaluation of a cohort: its answer, what becomes of errors, and who gets it. */
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { Deadline } from '../budget/deadline.ts';
import type { Database } from '../database/database.ts';
import { backgroundClient, slowClient } from '../database/scheduler.ts';
import type { RawResponse } from '../engine/request.ts';
import { failureResponse } from '../engine/run/response.ts';
import { ClaimsError } from '../engine/run/session.ts';
import type { SchemaSnapshot } from '../engine/snapshot/schema-snapshot.ts';
import { type Evaluated, isCurrent } from '../engine/standing-request.ts';
import { ApiError } from '../errors/api-error.ts';
import type { ErrorCode } from '../errors/codes.ts';
import { DatabaseError } from '../errors/database-error.ts';
import { toApiError } from '../errors/from-postgres.ts';
import type { Observer } from '../events.ts';
import { Attempts } from '../freshness/attempts.ts';
import type { SchemaWatch } from '../freshness/schema-watch.ts';
import { RequestErrors } from '../request/validate/parse-document.ts';
import type { Cohort, Member } from './cohort.ts';
import type { RelationIndex } from './relation-index.ts';

/** What keeps the cohorts. */
export interface CohortKeeper {
  readonly database: Database;
  readonly watch: SchemaWatch<SchemaSnapshot>;
  readonly observe: Observer;
  readonly settings: { readonly timeoutMillis: number };
  readonly index: RelationIndex;
  readonly counts: { evaluations: number; changes: number };
  /** The number of the schema that cohorts must be prepared for. */
  readonly epoch: number;
  /** Whether others that may be quick wait for their turn, or have it. */
  hasWorkBeside(cohort: Cohort): boolean;
  /** Prepares a cohort for the current schema. */
  prepareAgain(cohort: Cohort, deadline: Deadline): Promise<void>;
  /** How long PostgreSQL took for it. */
  noteTime(cohort: Cohort, millis: number): void;
  /** A stream has given rows up to a cursor. */
  moveOn(member: Member, cursor: string): void;
}

/** How long an evaluation may run while others wait that may be quick, in milliseconds, and how often to look whether any do. */
const longestQuick = 1000;
const lookMillis = 250;
/** In bytes. Longer answers are not kept: who subscribes later gets one of a new evaluation. */
const longestKept = 64 * 1024;

/** Errors that pass: the evaluation is tried again, and clients hear nothing of them. */
const passing: ReadonlySet<ErrorCode> = new Set([
  'OVERLOADED',
  'DATABASE_UNAVAILABLE',
  'SCHEMA_LOADING',
  'CONFLICT',
  'CANCELLED',
  'SHUTTING_DOWN',
]);
/** Errors that clients hear of, and that may be gone at another attempt. */
const uncertain: ReadonlySet<ErrorCode> = new Set(['TIMEOUT', 'DATABASE_FAILED', 'INTERNAL_ERROR']);

/** Whether an error of preparing a subscription ends it: it is no longer valid, or no longer allowed. */
export function endsSubscription(error: unknown): boolean {
  if (error instanceof RequestErrors) return true;
  return error instanceof ApiError && !passing.has(error.code) && !uncertain.has(error.code);
}

/** The error that a client may see. A wrong claim is the mistake of the program. */
export function explainFailure(error: unknown, observe: Observer): unknown {
  if (error instanceof ApiError || error instanceof RequestErrors || error instanceof ClaimsError) return error;
  if (error instanceof DatabaseError) return toApiError(error);
  observe({ kind: 'defect-found', requestId: null, error });
  return new ApiError('INTERNAL_ERROR', 'Internal error: this is a bug in rowgraph. Please report it.', { cause: error });
}

/** How long to wait before another attempt, in milliseconds. */
const pauseMillis = 200;

/** Does the work, and does it again while it fails because the database cannot be reached or is busy, until the deadline. */
export async function persist<Result>(work: () => Promise<Result>, deadline: Deadline): Promise<Result> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const failure = error instanceof DatabaseError ? toApiError(error) : error;
      if (!(failure instanceof ApiError && passing.has(failure.code)) || deadline.remaining < pauseMillis || deadline.stopped !== null)
        throw failure;
    }
    await pause(pauseMillis);
  }
}

/** How many members get an answer before requests have their turn: each writes to a socket. */
const givenAtATime = 500;

/** When an evaluation was sent to PostgreSQL, as a time of `performance.now()`. */
interface Marks {
  sent: number | null;
}

/** Evaluates a cohort and gives its members the answer if it is another one. Never rejects. */
export async function evaluateCohort(cohort: Cohort, keeper: CohortKeeper): Promise<void> {
  const number = cohort.begin();
  keeper.counts.evaluations += 1;
  const deadline = new Deadline(keeper.settings.timeoutMillis);
  const marks: Marks = { sent: null };
  const watch = cohort.isSlow ? null : watchTime(deadline, marks, () => keeper.hasWorkBeside(cohort));
  try {
    const evaluated = await attempt(cohort, keeper, deadline, marks);
    if (evaluated !== null) await answer(cohort, keeper, number, evaluated);
  } catch (error) {
    if (watch?.isOver) cohort.beginAgain();
    else await fail(cohort, keeper, number, error instanceof DatabaseError ? toApiError(error) : error);
  } finally {
    watch?.end();
    deadline.end();
  }
}

/** Stops an evaluation that turns out to be slow while others wait: it begins again on a connection for slow ones. */
function watchTime(deadline: Deadline, marks: Marks, isAwaited: () => boolean): { readonly isOver: boolean; end(): void } {
  let isOver = false;
  const check = (): void => {
    isOver = marks.sent !== null && performance.now() - marks.sent >= longestQuick && isAwaited();
    if (isOver) deadline.stop('expired');
    else timer = setTimeout(check, lookMillis);
  };
  let timer = setTimeout(check, longestQuick);
  return {
    get isOver() {
      return isOver;
    },
    end: () => clearTimeout(timer),
  };
}

/** Null if nobody is left to be answered. */
async function attempt(cohort: Cohort, keeper: CohortKeeper, deadline: Deadline, marks: Marks): Promise<Evaluated | null> {
  const { database, watch, observe } = keeper;
  const attempts = new Attempts(watch, deadline);
  for (;;) {
    marks.sent = null;
    try {
      const { standing } = cohort;
      if (cohort.epoch !== keeper.epoch || !isCurrent(standing.source, watch.current(), standing.role))
        await keeper.prepareAgain(cohort, deadline);
      if (cohort.state === 'ended') return null;
      // Who has no answer yet needs its bytes.
      const isKnown = cohort.answer !== null || [...cohort.members].every(({ awaits }) => awaits === null);
      const client = cohort.isSlow ? slowClient : backgroundClient;
      const run = { database, deadline, observe, client, marks };
      return await cohort.standing.evaluate(isKnown ? cohort.hash : '', cohort.dependencies.isTraced, run);
    } catch (error) {
      const failure = await attempts.failed(error);
      if (failure !== null) throw await cohort.standing.locate(failure);
    } finally {
      if (marks.sent !== null) keeper.noteTime(cohort, performance.now() - marks.sent);
    }
  }
}

async function answer(cohort: Cohort, keeper: CohortKeeper, number: number, { hash, response, relations }: Evaluated): Promise<void> {
  const isOther = hash !== cohort.hash;
  if (isOther) keeper.counts.changes += 1;
  cohort.hash = hash;
  cohort.readsUnknown = false;
  if (response !== null) cohort.answer = response.length <= longestKept ? response : null;
  await give(cohort, keeper, number, isOther, response ?? cohort.answer);
  const { own } = cohort.dependencies;
  cohort.end(isOther, relations?.filter((id) => !own.has(id)) ?? []);
  if (cohort.state !== 'ended') keeper.index.set(cohort);
}

/** Gives an answer to all members, or only to those that have none yet. */
async function give(cohort: Cohort, keeper: CohortKeeper, number: number, isOther: boolean, response: RawResponse | null): Promise<void> {
  let count = 0;
  for (const member of [...cohort.members]) {
    const { awaits } = member;
    if (awaits === null ? !isOther : awaits > number) continue;
    // Null only if the answer was not kept and its bytes were not asked for, because nobody needed them when the evaluation began.
    if (response === null) continue;
    member.awaits = null;
    member.onFirst?.(null);
    if (response.endCursor === null && member.isCaughtUp) continue;
    member.isCaughtUp = response.errorCode === null;
    member.subscription.give(response);
    if (typeof response.endCursor === 'string') keeper.moveOn(member, response.endCursor);
    count += 1;
    if (count % givenAtATime === 0) await nextTurn();
  }
}

async function fail(cohort: Cohort, keeper: CohortKeeper, number: number, error: unknown): Promise<void> {
  const response = { ...failureResponse(error), isLive: true };
  const code = response.errorCode ?? 'INTERNAL_ERROR';
  for (const { onFirst } of cohort.members) onFirst?.(error);
  if (code === 'UNAUTHENTICATED') {
    for (const { subscription } of [...cohort.members]) subscription.fail(error);
    return cohort.end(false, []);
  }
  if (passing.has(code)) return cohort.fail();
  if (code === 'INTERNAL_ERROR') keeper.observe({ kind: 'defect-found', requestId: null, error });
  const hash = `error ${Buffer.concat(response.chunks).toString()}`;
  const isOther = hash !== cohort.hash;
  cohort.hash = hash;
  cohort.answer = response;
  cohort.readsUnknown = true;
  await give(cohort, keeper, number, isOther, response);
  if (uncertain.has(code)) cohort.fail(isOther);
  else cohort.end(isOther, cohort.traced);
}
