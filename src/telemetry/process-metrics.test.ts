import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { Registry } from 'prom-client';
import { collectProcessMetrics } from './process-metrics.ts';

const readUtilization = async (registry: Registry): Promise<number> => {
  const { values } = await registry.getSingleMetric('nodejs_eventloop_utilization')!.get();
  return values[0]!.value;
};

test('the utilization of the event loop is measured from one reading of the metrics to the next', async () => {
  const registry = new Registry();
  collectProcessMetrics(registry);
  // Nothing is counted before the event loop begins.
  await setImmediate();
  await readUtilization(registry);
  // The loop is busy while it is blocked, and idle while it waits for another thread.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
  const busy = await readUtilization(registry);
  await once(new Worker('Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200)', { eval: true }), 'exit');
  const idle = await readUtilization(registry);
  assert.ok(busy > idle && busy <= 1 && idle >= 0, `${busy} then ${idle}`);
});
