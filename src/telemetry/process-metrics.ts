/**
 * The metrics of the process: prom-client's default metrics, but with the utilization of the event loop instead of its delay, whose
 * measurement wakes an idle process a hundred times a second. Everything is read when the metrics are requested.
 *
 * Relies on prom-client beyond its documentation: which of its metrics measure delays (`test/contracts/prom-client.test.ts`).
 */
import { performance } from 'node:perf_hooks';
import { collectDefaultMetrics, Gauge, type Registry } from 'prom-client';

/** The longest interval of a timer: prom-client's measurement of delays cannot be switched off. */
const neverMillis = 2 ** 31 - 1;
const delays = /^nodejs_eventloop_lag_\w+_seconds$/;

/** Adds the metrics to the registry. */
export function collectProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: neverMillis });
  for (const { name } of registry.getMetricsAsArray()) if (delays.test(name)) registry.removeSingleMetric(name);
  let last = performance.eventLoopUtilization();
  new Gauge({
    name: 'nodejs_eventloop_utilization',
    help: 'The share of the time since the metrics were last read in which the event loop was busy, from 0 to 1.',
    registers: [registry],
    aggregator: 'average',
    collect() {
      const now = performance.eventLoopUtilization();
      this.set(performance.eventLoopUtilization(now, last).utilization);
      last = now;
    },
  });
}
