import assert from 'node:assert/strict';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { type TestContext, test } from 'node:test';
import { Registry } from 'prom-client';
import { until } from '../../test/support/until.ts';
import { collectProcessMetrics, EventLoopLag } from './event-loop-lag.ts';

/** The lag of so many requests in flight, with whether it is measured at the moment. */
function setUp(context: TestContext, inFlight: { count: number }) {
  context.mock.timers.enable({ apis: ['setInterval'] });
  const state = { isMeasured: false };
  const set = (isMeasured: boolean): boolean => {
    state.isMeasured = isMeasured;
    return true;
  };
  const delays = Object.assign(monitorEventLoopDelay(), { enable: () => set(true), disable: () => set(false) });
  return {
    state,
    lag: new EventLoopLag(new Registry(), () => inFlight.count, delays),
    wait: (millis: number) => context.mock.timers.tick(millis),
  };
}

test('an idle server is not woken to be measured', (context) => {
  const { state, lag, wait } = setUp(context, { count: 0 });
  assert.equal(state.isMeasured, false);
  lag.noteRequest();
  assert.equal(state.isMeasured, true);
  wait(100);
  assert.equal(state.isMeasured, true);
  wait(100);
  assert.equal(state.isMeasured, false);
  lag.noteRequest();
  assert.equal(state.isMeasured, true);
});

test('it is measured as long as a request is being answered', (context) => {
  const inFlight = { count: 1 };
  const { state, lag, wait } = setUp(context, inFlight);
  lag.noteRequest();
  wait(60_000);
  assert.equal(state.isMeasured, true);
  inFlight.count = 0;
  wait(100);
  assert.equal(state.isMeasured, false);
});

test('a loop that is blocked shows in the metrics until they are read; the other default metrics are there', async () => {
  const registry = new Registry();
  collectProcessMetrics(registry);
  const delays = monitorEventLoopDelay({ resolution: 10 });
  const lag = new EventLoopLag(registry, () => 0, delays);
  const untilMeasured = (nanos: number): Promise<void> =>
    until(() => {
      lag.noteRequest();
      return delays.count > 0 && delays.max >= nanos;
    });
  const read = async () => {
    lag.collect();
    const [value] = (await registry.getSingleMetric('nodejs_eventloop_lag_max_seconds')!.get()).values;
    return value!.value;
  };
  assert.equal(await read(), 0);
  await untilMeasured(0);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
  await untilMeasured(1e8);
  assert.ok((await read()) >= 0.1);
  assert.equal(await read(), 0);
  const text = await registry.metrics();
  for (const name of [
    'process_cpu_seconds_total',
    'nodejs_heap_size_used_bytes',
    'nodejs_eventloop_lag_seconds',
    'nodejs_eventloop_lag_p99_seconds',
  ]) {
    assert.equal(text.match(new RegExp(`^${name} [0-9.e-]+$`, 'gm'))?.length, 1, name);
  }
});
