/**
 * The metrics of all workers as those of one service. In: the workers, as they start and exit; out: the sum, which keeps what exited
 * workers have counted.
 */
import type { Worker } from 'node:cluster';
import { type MetricsReading, MetricsSum } from '../telemetry/sum-metrics.ts';
import { askWorker } from './worker-messages.ts';

/** The primary's number among the processes; workers are numbered from 1. */
const primary = 0;

export class WorkerMetrics {
  readonly #sum = new MetricsSum();
  readonly #liveWorkers: () => readonly Worker[];
  #exits = 0;
  #collecting: Promise<string> | null = null;

  constructor(liveWorkers: () => readonly Worker[]) {
    this.#liveWorkers = liveWorkers;
  }

  /** A worker has exited. */
  noteExit(worker: Worker): void {
    this.#exits += 1;
    this.#sum.end(worker.id);
  }

  /** The text of `/metrics`; concurrent requests share one. A worker that does not answer counts with its last metrics. */
  write(): Promise<string> {
    this.#collecting ??= this.#collect().finally(() => {
      this.#collecting = null;
    });
    return this.#collecting;
  }

  async #collect(): Promise<string> {
    const workers = this.#liveWorkers();
    await Promise.all(
      workers.map(async (worker) => {
        const reading = (await askWorker(worker, 'metrics')) as MetricsReading | null;
        // If it has died, its last metrics have been added already.
        if (!worker.isDead()) this.#sum.note(worker.id, reading);
      }),
    );
    this.#sum.note(primary, this.#readOwn());
    return this.#sum.write();
  }

  #readOwn(): MetricsReading {
    const one = (name: string, help: string, type: string, value: number) => ({
      name,
      help,
      type,
      aggregator: 'sum',
      values: [{ value, labels: {} }],
    });
    return [
      one('rowgraph_workers', 'Processes that share the port.', 'gauge', this.#liveWorkers().length),
      one('rowgraph_worker_exits_total', 'Processes that exited unexpectedly.', 'counter', this.#exits),
    ] as unknown as MetricsReading;
  }
}
