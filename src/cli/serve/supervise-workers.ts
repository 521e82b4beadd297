/**
 * `rowgraph serve` with several workers: starts them, replaces those that die, and ends them all. A worker is the same command in a
 * separate process (`node:cluster`). Each has a listening socket of its own where the system lets processes share a port; elsewhere it gets
 * its connections from this process, which serves no requests itself.
 */
import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import type { Observer } from '../../events.ts';
import { createTelemetry } from '../../telemetry/create-telemetry.ts';
import { SilentExitError } from '../command-error.ts';
import type { ServeConfiguration } from '../command-settings.ts';
import { longestEnd, watchForEnd } from './process-end.ts';
import { describeAdmin, explainListenError, serveAdmin } from './start-service.ts';
import { askWorker, listenToWorker, sharesPort, WorkerMetrics } from './worker-messages.ts';

/** Delay before replacing a worker that could not start; doubled each time. */
const firstDelayMilliseconds = 100;
const longestDelayMilliseconds = 2_000;
/** How long to wait beyond the time in which each worker ends by itself. */
const patienceMilliseconds = 3000;

/** Resolves once it has been stopped and all workers have exited. Throws `SilentExitError` if the first worker cannot serve. */
export async function superviseWorkers(configuration: ServeConfiguration): Promise<void> {
  const { workers, host, port, logLevel } = configuration;
  // The same port for all workers that will ever start, even if all die at once. If a flag is given twice, the last one counts.
  cluster.setupPrimary({ args: [...process.argv.slice(2), '--port', String(await findPort(host, port))] });
  const { observe, metricsContentType } = createTelemetry({ level: logLevel });
  const end = watchForEnd(observe);
  const supervisor = new Supervisor(workers, longestEnd(configuration) + patienceMilliseconds, observe);
  const { metrics } = supervisor;
  const ping = async (): Promise<void> => {
    if (!(await supervisor.areReady())) throw new Error('Not all workers are ready');
  };
  const service = { writeMetrics: () => metrics.write(), metricsContentType, ping, isDraining: end.isBegun, observe };
  const admin = await serveAdmin(configuration, service);
  try {
    const failed = supervisor.start().then((lines) => {
      if (lines !== null)
        process.stdout.write([`${lines[0]} from ${workers} processes`, ...lines.slice(1), ...describeAdmin(admin), ''].join('\n'));
      return end.begun;
    });
    await Promise.race([end.begun, failed]);
    const signal = end.isBegun() && (await end.begun) === 'SIGINT' ? 'SIGINT' : 'SIGTERM';
    await supervisor.stop(signal, signal === 'SIGINT' ? 0 : configuration.drainDelay);
  } finally {
    await admin?.close();
  }
  if (end.hasFaults()) throw new SilentExitError(1);
}

/** One of the workers, and later those that replace it. */
interface Slot {
  /** Whether none has served yet, or the last one could not start. */
  isEmpty: boolean;
}

interface WorkerLife {
  readonly slot: Slot;
  hasServed: boolean;
  /** How many workers of this slot have failed to start in a row. */
  readonly failures: number;
}

class Supervisor {
  /** How long a worker may take to end, in milliseconds. */
  readonly #longestEnd: number;
  readonly #observe: Observer;
  readonly #restarts = new Set<NodeJS.Timeout>();
  readonly #slots: readonly Slot[];
  /** Workers that end because of a fault of their own. */
  readonly #ending = new WeakSet<Worker>();
  /** Those that have reported that they serve. */
  readonly #serving = new Set<Worker>();
  readonly metrics = new WorkerMetrics(liveWorkers);
  #isStopping = false;

  constructor(count: number, longestEnd: number, observe: Observer) {
    this.#slots = Array.from({ length: count }, () => ({ isEmpty: true }));
    this.#longestEnd = longestEnd;
    this.#observe = observe;
  }

  /**
   * Resolves, when all workers serve, to what the first one reports about the service; to null if `stop` came first. Rejects if the first
   * worker exits before it serves.
   */
  async start(): Promise<readonly string[] | null> {
    // Alone, so that a problem with the settings, the database or the port is reported only once.
    const first = this.#fork();
    const lines = await untilServing(first);
    if (this.#isStopping) return null;
    if (lines === null) throw new SilentExitError(first.process.exitCode || 1);
    const [slot, ...others] = this.#slots as readonly [Slot, ...Slot[]];
    slot.isEmpty = false;
    this.#watch(first, { slot, hasServed: true, failures: 0 });
    await Promise.all(others.map((other) => this.#keepAlive(other, 0)));
    return this.#isStopping ? null : lines;
  }

  /**
   * Whether all workers can answer requests. One that has died does not count while it is replaced, which takes less than a second, unless
   * its replacement cannot start.
   */
  async areReady(): Promise<boolean> {
    if (this.#slots.some(({ isEmpty }) => isEmpty)) return false;
    const serving = liveWorkers().filter((worker) => this.#serving.has(worker) && !this.#ending.has(worker));
    const answers = await Promise.all(serving.map((worker) => askWorker(worker, 'ready')));
    return serving.length > 0 && answers.every((answer) => answer === true);
  }

  /** Ends all workers: gracefully, or by force if that takes too long. The port closes after the drain delay, in milliseconds. */
  async stop(signal: NodeJS.Signals, drainDelay: number): Promise<void> {
    this.#isStopping = true;
    for (const timer of this.#restarts) clearTimeout(timer);
    const running = liveWorkers();
    // Of workers that share the port, each closes its own.
    const closePort = (): void => (sharesPort ? undefined : this.#closePort());
    const ends = running.map((worker) => new Promise<void>((resolve) => worker.once('exit', () => resolve())));
    for (const worker of running) {
      worker.process.kill(signal);
      killAfter(worker, this.#longestEnd);
    }
    // Once disconnected, they no longer notice when this process ends.
    process.once('exit', () => {
      for (const worker of running) worker.process.kill('SIGKILL');
    });
    const draining = drainDelay > 0 ? setTimeout(closePort, drainDelay) : undefined;
    if (draining === undefined) closePort();
    await Promise.all(ends);
    clearTimeout(draining);
  }

  /**
   * Closes the port of this process. Workers that do not serve yet are left alone: they will close what they open, but could not finish
   * starting without the channel to this process.
   */
  #closePort(): void {
    for (const worker of this.#serving) worker.disconnect();
    this.#serving.clear();
  }

  /** Starts a worker and replaces it whenever it exits. Resolves when the first one serves. */
  async #keepAlive(slot: Slot, failures: number): Promise<void> {
    const worker = this.#fork();
    const life = { slot, hasServed: false, failures };
    return new Promise((resolve) => {
      this.#watch(worker, life, resolve);
      onServing(worker, () => {
        life.hasServed = true;
        slot.isEmpty = false;
        resolve();
      });
    });
  }

  #fork(): Worker {
    const worker = cluster.fork();
    // A worker may die while it is written to; its 'exit' follows.
    worker.on('error', () => undefined);
    onServing(worker, () => this.#serving.add(worker));
    listenToWorker(worker, {
      answers: { metrics: () => this.metrics.write(), ready: () => this.areReady() },
      onEnding: () => {
        this.#ending.add(worker);
        killAfter(worker, this.#longestEnd);
      },
    });
    worker.once('disconnect', () => {
      this.#serving.delete(worker);
      // All that is left for it to do is to exit, unless this process has disconnected it.
      if (!this.#isStopping) killAfter(worker, patienceMilliseconds);
    });
    return worker;
  }

  /** Replaces a worker when it dies: immediately, unless it could not even start. */
  #watch(worker: Worker, life: WorkerLife, onServing: () => void = () => {}): void {
    worker.once('exit', (code, signal) => {
      if (this.#isStopping) return onServing();
      const { slot, hasServed, failures } = life;
      if (!hasServed) slot.isEmpty = true;
      const restartMilliseconds = hasServed ? 0 : Math.min(firstDelayMilliseconds * 2 ** failures, longestDelayMilliseconds);
      this.metrics.noteExit(worker);
      this.#observe({ kind: 'worker-ended', worker: worker.process.pid, code, signal: signal || null, restartMilliseconds });
      const timer = setTimeout(() => {
        this.#restarts.delete(timer);
        void this.#keepAlive(slot, hasServed ? 0 : failures + 1).then(onServing);
      }, restartMilliseconds);
      this.#restarts.add(timer);
    });
  }
}

/** Ends a worker by force unless it exits within so many milliseconds. */
function killAfter(worker: Worker, milliseconds: number): void {
  const timer = setTimeout(() => worker.process.kill('SIGKILL'), milliseconds);
  timer.unref();
  worker.once('exit', () => clearTimeout(timer));
}

/** A worker reports that it is ready with a list of lines about the service; questions and answers are objects. */
function onServing(worker: Worker, listener: (lines: readonly string[]) => void): void {
  worker.on('message', (message: unknown) => {
    if (Array.isArray(message)) listener(message as readonly string[]);
  });
}

/** The lines that a worker reports when it is ready; null if it exits first. */
function untilServing(worker: Worker): Promise<readonly string[] | null> {
  return new Promise((resolve) => {
    onServing(worker, resolve);
    worker.once('exit', () => resolve(null));
  });
}

/** The port, or a free one instead of 0. Rejects if it is in use: workers that share a port would share it with anybody. */
async function findPort(host: string, port: number): Promise<number> {
  const probe = createServer();
  try {
    await once(probe.listen(port, host), 'listening');
    return (probe.address() as AddressInfo).port;
  } catch (error) {
    throw explainListenError(error, host, port);
  } finally {
    if (probe.listening) await once(probe.close(), 'close');
  }
}

function liveWorkers(): Worker[] {
  return Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
}
