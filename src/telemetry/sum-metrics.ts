/**
 * The metrics of several processes as those of one. In: the metrics of each; out: the text of `/metrics`. What a process has counted stays
 * in the sum after it ends, so that counters never go down.
 *
 * Relies on prom-client beyond its documentation: the result of `AggregatorRegistry.aggregate` can be read as JSON again
 * (`test/contracts/prom-client.test.ts`).
 */
import { AggregatorRegistry, type MetricObjectWithValues, type MetricValue, type Registry } from 'prom-client';

/** All metrics of a process, as plain data. */
export type MetricsReading = readonly MetricObjectWithValues<MetricValue<string>>[];

export class MetricsSum {
  readonly #latest = new Map<number, MetricsReading>();
  /** The counts of processes that have ended. */
  #past: MetricsReading = [];

  /** The current metrics of a process; null if it does not answer, which leaves its last ones in place. */
  note(process: number, reading: MetricsReading | null): void {
    if (reading !== null) this.#latest.set(process, reading);
  }

  /** A process has ended: its counters and histograms are kept. */
  end(process: number): void {
    const last = this.#latest.get(process);
    this.#latest.delete(process);
    if (last === undefined) return;
    this.#past = [...this.#past, ...last.filter(({ type }) => isCounted(String(type)))];
    void this.#condense(this.#past);
  }

  /** Combines the metrics of all processes that have ended into one reading. */
  async #condense(past: MetricsReading): Promise<void> {
    const condensed = await readRegistry(aggregate([past]));
    if (this.#past === past) this.#past = condensed;
  }

  /** The sum, in the text format of Prometheus. */
  write(): Promise<string> {
    return aggregate([...this.#latest.values(), this.#past]).metrics();
  }
}

function isCounted(type: string): boolean {
  return type === 'counter' || type === 'histogram';
}

function aggregate(readings: readonly MetricsReading[]): Registry {
  return AggregatorRegistry.aggregate(readings as object[]);
}

/** The metrics of a registry as plain data. */
export async function readRegistry(registry: Registry): Promise<MetricsReading> {
  return (await registry.getMetricsAsJSON()) as MetricsReading;
}
