/**
 * The metrics of several processes as those of one. In: what each of them reads; out: the text of `/metrics`. What a process has counted stays in the sum when it
 * ends, so that counters never go down.
 *
 * Leans on prom-client beyond its documentation: that what `AggregatorRegistry.aggregate` makes can be read as JSON again (`test/contracts/prom-client.test.ts`).
 */
import { AggregatorRegistry, type MetricObjectWithValues, type MetricValue, type Registry } from 'prom-client';

/** All metrics of a process, as plain data. */
export type MetricsReading = readonly MetricObjectWithValues<MetricValue<string>>[];

export class MetricsSum {
  readonly #latest = new Map<number, MetricsReading>();
  /** What processes have counted that have ended. */
  #past: MetricsReading = [];

  /** What a process reads now; null if it does not answer, which leaves its last reading in place. */
  note(process: number, reading: MetricsReading | null): void {
    if (reading !== null) this.#latest.set(process, reading);
  }

  /** A process has ended: of its metrics, counters and histograms stay. */
  end(process: number): void {
    const last = this.#latest.get(process);
    this.#latest.delete(process);
    if (last === undefined) return;
    this.#past = [...this.#past, ...last.filter(({ type }) => isCounted(String(type)))];
    void this.#condense(this.#past);
  }

  /** Makes one reading of those of all processes that have ended. */
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
