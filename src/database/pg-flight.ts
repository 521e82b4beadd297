/** Runs that leave in one write on one connection: settles each when its reply arrives, and has it tried again if that may succeed. */
import { Deadline } from '../budget/deadline.ts';
import type { Distribution } from '../statistics.ts';
import type { Pace } from './pace.ts';
import type { ConnectionUser, PgConnection } from './pg-connection.ts';
import { type Fault, lossBy, PgRun, retries } from './pg-run.ts';
import { afterRollback } from './session-statement.ts';
import { toDatabaseError } from './to-database-error.ts';
import { encodeBatches } from './wire/encode-batch.ts';
import type { PgExchange } from './wire/pg-exchange.ts';
import type { PreparedStatements } from './wire/prepared-statements.ts';

/** How long cleaning up may take. */
const cleanUpMillis = 5000;

/** What all flights of a database share. */
export interface FlightContext {
  readonly pace: Pace;
  readonly batchSeconds: Distribution;
  readonly batchBytes: Distribution;
  /** Puts a run back into the queue. */
  readonly queueAgain: (run: PgRun) => void;
  /** Whether another server does what this one cannot: then nothing that the server failed is tried again here. */
  readonly isReplaceable: boolean;
  /** Called when a batch is sent again because of the error that ended its connection. */
  readonly onResend: (error: unknown) => void;
}

/** Who lent the connection. */
interface Lender {
  /** Whether the connection is a reserved one, on which time is limited. */
  readonly isReserved: boolean;
  /** The only run has succeeded, however long it took. */
  onDone(): void;
  /** The only run was stopped because it held a reserved connection for too long. */
  onStuck(): void;
  /** The connection is no longer needed; with an error, it is unusable. */
  onFree(error: unknown): void;
}

export class PgFlight implements ConnectionUser {
  readonly #context: FlightContext;
  readonly #connection: PgConnection;
  readonly #prepared: PreparedStatements | null;
  readonly #runs: readonly PgRun[];
  readonly #lender: Lender;
  readonly #started = performance.now();
  #completed = 0;
  /** The only run, if it is to be sent again on the same connection. */
  #resent: PgRun | null = null;
  /** Whether the only run has failed and may have left something on the connection. */
  #needsCleanUp = false;

  /** `prepared`: where its statements are prepared by name; null if they are not. Several runs must be alike, and all prepared. */
  constructor(
    context: FlightContext,
    connection: PgConnection,
    prepared: PreparedStatements | null,
    runs: readonly PgRun[],
    lender: Lender,
  ) {
    this.#context = context;
    this.#connection = connection;
    this.#prepared = prepared;
    this.#runs = runs;
    this.#lender = lender;
  }

  start(): void {
    const [first] = this.#runs as readonly [PgRun];
    let bytes: Uint8Array;
    try {
      bytes = this.#isAlone ? first.encode(this.#prepared, this.#lender.isReserved) : this.#encodeTogether();
    } catch (error) {
      for (const run of this.#runs) run.reject(toDatabaseError(error));
      // In a later turn, because the work that waits for the connection may fail in the same way.
      setImmediate(() => this.#lender.onFree(undefined));
      return;
    }
    for (const run of this.#runs) run.noteSent(this);
    this.#connection.exchange(bytes, first.replyTo(this.#runs.length), this);
  }

  /** Stops the runs if nobody waits for any of them, or if there is only one. */
  cancelUnlessAwaited(): void {
    if (this.#isAlone || !this.#isAwaited()) this.#connection.cancel();
  }

  done(exchange: PgExchange): void {
    const run = this.#runs[this.#completed++]!;
    const millis = performance.now() - this.#started;
    if (run.batch !== null) {
      this.#context.batchSeconds.note(millis / 1000);
      this.#context.batchBytes.note(exchange.rowBytes);
    }
    if (this.#isAlone) this.#prepared?.settle(exchange.completed + (exchange.error === null && exchange.followUpRow !== null ? 1 : 0));
    if (exchange.overflown) run.reject(run.explain(exchange));
    else if (exchange.error === null) this.#succeed(run, exchange, millis);
    if (exchange.error !== null) {
      if (this.#isAlone) this.#failAlone(run, exchange);
      else this.#failTogether(run, exchange);
    }
    if (this.#completed < this.#runs.length && !exchange.broken && !this.#isAwaited()) this.#connection.cancel();
  }

  overflow(): void {
    // The outcome of a mutation must be known.
    if (this.#runs[this.#completed]!.isForgettable) this.#connection.cut();
    else this.#connection.cancel();
  }

  free(error: unknown): void {
    // It may have been stopped while a cancel request was under way.
    const resent = this.#resent?.isSettled === false ? this.#resent : null;
    if (error === undefined && resent !== null) this.#fly(resent);
    else if (error === undefined && this.#needsCleanUp) this.#fly(cleanUp(this.#context.pace));
    else {
      if (resent !== null) this.#context.queueAgain(resent);
      this.#lender.onFree(error);
    }
  }

  /** Sends something else on the same connection. */
  #fly(run: PgRun): void {
    new PgFlight(this.#context, this.#connection, this.#prepared, [run], this.#lender).start();
  }

  get #isAlone(): boolean {
    return this.#runs.length === 1;
  }

  /** Whether anybody waits for a run that is not over yet. */
  #isAwaited(): boolean {
    return this.#runs.some(({ isSettled }, index) => index >= this.#completed && !isSettled);
  }

  /** Without limiting their time: they never share a reserved connection. */
  #encodeTogether(): Uint8Array {
    return encodeBatches(
      this.#runs.map(({ batch }) => batch!),
      this.#prepared,
    );
  }

  #succeed(run: PgRun, { results, followUpRow }: PgExchange, millis: number): void {
    const { kind, batch } = run;
    batch?.followUp?.note(followUpRow);
    run.resolve(results);
    if (kind !== undefined && this.#completed === this.#runs.length) this.#context.pace.note(kind, this.#runs.length, millis);
    if (this.#isAlone) this.#lender.onDone();
  }

  #failAlone(run: PgRun, exchange: PgExchange): void {
    this.#needsCleanUp = !exchange.broken && run.batch?.session?.resetsConnection === true;
    if (run.isSettled) return;
    const fault = run.faultOf(exchange);
    if (fault === null || !this.#mayRetry(run, fault)) return run.reject(run.explain(exchange));
    if (fault === 'stale-plan') {
      this.#prepared?.evictAll();
      this.#resent = run;
      return;
    }
    if (fault === 'held-reserve') {
      if (run.batch?.origin !== undefined) this.#context.pace.noteFailure(run.batch.origin);
      this.#lender.onStuck();
    }
    this.#tryAgain(run, fault, exchange.error);
  }

  /** Each batch is a transaction of its own. One that fails runs again alone; if the connection is lost, so do those after it. */
  #failTogether(run: PgRun, exchange: PgExchange): void {
    const { kind } = run;
    if (kind !== undefined) this.#context.pace.noteFailure(kind);
    const { error, broken } = exchange;
    for (const each of broken ? this.#runs.slice(this.#completed - 1) : [run]) {
      if (each.isSettled) continue;
      const fault = !broken ? 'in-company' : each === run ? each.faultOf(exchange) : lossBy(error);
      if (fault !== null && this.#mayRetry(each, fault)) this.#tryAgain(each, fault, error);
      else each.reject(each.explain(exchange));
    }
  }

  #mayRetry(run: PgRun, fault: Fault): boolean {
    if (this.#context.isReplaceable && (fault === 'lost' || fault === 'unreached')) return false;
    return run.mayRetry(fault);
  }

  #tryAgain(run: PgRun, fault: Fault, error: unknown): void {
    const { queueAgain, onResend } = this.#context;
    const { pauseMillis } = retries[fault];
    if (pauseMillis === 0) return queueAgain(run);
    run.pause(pauseMillis, () => {
      if (run.batch !== null) onResend(error);
      queueAgain(run);
    });
  }
}

/** Undoes what a failed batch left on its connection. Nobody waits for it. */
function cleanUp(pace: Pace): PgRun {
  const deadline = new Deadline(cleanUpMillis);
  const end = (): void => deadline.end();
  return PgRun.ofQuery({ text: afterRollback, parameters: [] }, deadline, pace, { resolve: end, reject: end });
}
