/** What rowgraph needs of prom-client beyond its documentation. */
import assert from 'node:assert/strict';
import { Counter, Histogram, Registry } from 'prom-client';
import { Distribution } from '../../src/distribution.ts';
import { addHistogram } from '../../src/telemetry/add-histogram.ts';
import { collectProcessMetrics } from '../../src/telemetry/process-metrics.ts';
import { MetricsSum, readRegistry } from '../../src/telemetry/sum-metrics.ts';
import { contract } from './contract.ts';

contract('prom-client', 'telemetry/add-histogram.ts', 'a registry writes what has the members of a histogram as one', async () => {
  const options = { name: 'duration_seconds', help: 'How long it took.', buckets: [0.1, 1, 10] };
  const [one, other] = [new Registry(), new Registry()];
  const histogram = new Histogram({ ...options, registers: [one] });
  const counted = new Distribution(options.buckets);
  addHistogram(other, options, options.buckets, () => [counted]);
  for (const value of [0.05, 0.1, 0.5, 3, 20, 30]) {
    histogram.observe(value);
    counted.note(value);
  }
  assert.equal(await other.metrics(), await one.metrics());
});

contract('prom-client', 'telemetry/sum-metrics.ts', 'what was added up can be read as data, and added up again', async () => {
  const registry = new Registry();
  const distribution = new Distribution([1, 10]);
  for (const value of [0.5, 5, 50]) distribution.note(value);
  addHistogram(registry, { name: 'size', help: 'How large.' }, distribution.bounds, () => [distribution]);
  new Counter({ name: 'count_total', help: 'How many.', labelNames: ['kind'], registers: [registry] }).inc({ kind: 'a' }, 3);
  const sum = new MetricsSum();
  for (const worker of [1, 2, 3]) sum.note(worker, await readRegistry(registry));
  for (const worker of [1, 2]) sum.end(worker);
  for (let turn = 0; turn < 2; turn += 1) {
    const text = await sum.write();
    for (const line of ['size_bucket{le="1"} 3', 'size_bucket{le="+Inf"} 9', 'size_sum 166.5', 'size_count 9', 'count_total{kind="a"} 9'])
      assert.ok(text.includes(`\n${line}\n`), text);
  }
});

contract('prom-client', 'telemetry/process-metrics.ts', 'metrics of event loop delays have these names and can be removed', async () => {
  const registry = new Registry();
  collectProcessMetrics(registry);
  const text = await registry.metrics();
  for (const name of ['process_cpu_seconds_total', 'nodejs_heap_size_used_bytes', 'nodejs_eventloop_utilization']) {
    assert.equal(text.match(new RegExp(`^${name} [0-9.e-]+$`, 'gm'))?.length, 1, name);
  }
  assert.doesNotMatch(text, /nodejs_eventloop_lag_[a-z0-9]+_seconds/);
});
