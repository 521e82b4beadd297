/**
 * The metrics of the process: those that prom-client has by default, with the utilization of the event loop in place of its delays, whose measurement
 * wakes an idle process a hundred times a second. Everything is read when somebody asks for the metrics.
 *
 * Leans on prom-client beyond its documentation: which of its metrics measure delays (`test/contracts/prom-client.test.ts`).
 */
import { performance } from 'node:perf_hooks';
import { collectDefaultMetrics, Gauge, type Registry } from 'prom-client';

/** The longest interval that a timer can have: prom-client starts to measure delays in any case. */
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
