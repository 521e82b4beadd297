/**
 * The delay of the event loop, under prom-client's default metric names, but measured only while there are requests: prom-client
 * measures all the time, which wakes an idle process a hundred times a second.
 */
import { type ELDHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { collectDefaultMetrics, Gauge, type Registry } from 'prom-client';

/** The sampling interval. It is part of each delay, as in prom-client. */
const resolutionMillis = 10;
/** Measuring ends after a time as long as this in which no request came and none was in flight. */
const idleMillis = 100;
/** As long as a timer can be set to. */
const neverMillis = 2 ** 31 - 1;
const nanosPerSecond = 1e9;

const measures: readonly (readonly [name: string, help: string, readNanos: (delays: ELDHistogram) => number])[] = [
  ['min', 'The minimum recorded event loop delay.', ({ min }) => min],
  ['max', 'The maximum recorded event loop delay.', ({ max }) => max],
  ['mean', 'The mean of the recorded event loop delays.', ({ mean }) => mean],
  ['stddev', 'The standard deviation of the recorded event loop delays.', ({ stddev }) => stddev],
  ['p50', 'The 50th percentile of the recorded event loop delays.', (delays) => delays.percentile(50)],
  ['p90', 'The 90th percentile of the recorded event loop delays.', (delays) => delays.percentile(90)],
  ['p99', 'The 99th percentile of the recorded event loop delays.', (delays) => delays.percentile(99)],
];

/** prom-client's default metrics, but for those that are here. */
export function collectProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: neverMillis });
  for (const [name] of measures) registry.removeSingleMetric(fullName(name));
}

export class EventLoopLag {
  readonly #delays: ELDHistogram;
  readonly #countInFlight: () => number;
  readonly #gauges: readonly { readonly gauge: Gauge; readonly readNanos: (delays: ELDHistogram) => number }[];
  #timer: NodeJS.Timeout | null = null;
  #wasBusy = false;

  /** Adds its gauges to the registry. `countInFlight`: how many requests are in flight. */
  constructor(registry: Registry, countInFlight: () => number, delays = monitorEventLoopDelay({ resolution: resolutionMillis })) {
    this.#delays = delays;
    this.#countInFlight = countInFlight;
    this.#gauges = measures.map(([name, help, readNanos]) => {
      return { gauge: new Gauge({ name: fullName(name), help, registers: [registry] }), readNanos };
    });
  }

  /** Records that a request has arrived. */
  noteRequest(): void {
    this.#wasBusy = true;
    if (this.#timer !== null) return;
    this.#delays.enable();
    this.#timer = setInterval(() => this.#endIfIdle(), idleMillis).unref();
  }

  /** Sets the gauges to what was measured since the last time; zero where nothing was. */
  collect(): void {
    for (const { gauge, readNanos } of this.#gauges) gauge.set(this.#delays.count === 0 ? 0 : readNanos(this.#delays) / nanosPerSecond);
    this.#delays.reset();
  }

  #endIfIdle(): void {
    if (!this.#wasBusy && this.#countInFlight() === 0 && this.#timer !== null) {
      clearInterval(this.#timer);
      this.#timer = null;
      this.#delays.disable();
    }
    this.#wasBusy = false;
  }
}

function fullName(name: string): string {
  return `nodejs_eventloop_lag_${name}_seconds`;
}
