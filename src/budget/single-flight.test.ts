import assert from 'node:assert/strict';
import { test } from 'node:test';
import { singleFlight } from './single-flight.ts';

/** Work whose runs the test ends one by one. */
function startableWork() {
  const runs: { end(): void; fail(error: Error): void }[] = [];
  const work = () => new Promise<void>((resolve, reject) => void runs.push({ end: resolve, fail: reject }));
  return { ...singleFlight(work), runs };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('calls during a run share the next run', async () => {
  const { run, runs } = startableWork();
  const done: string[] = [];
  const first = run().then(() => done.push('first'));
  const others = Promise.all([run(), run(), run()]).then(() => done.push('others'));
  assert.equal(runs.length, 1);
  runs[0]!.end();
  await first;
  await turn();
  assert.deepEqual([done, runs.length], [['first'], 2]);
  const last = run().then(() => done.push('last'));
  runs[1]!.end();
  await others;
  await turn();
  runs[2]!.end();
  await last;
  assert.deepEqual(done, ['first', 'others', 'last']);
});

test('a failed run rejects for all who share it, and the next one starts', async () => {
  const { run, runs } = startableWork();
  const first = assert.rejects(run(), /first/);
  const second = run();
  runs[0]!.fail(new Error('first'));
  await first;
  await turn();
  runs[1]!.end();
  await second;
  assert.equal(runs.length, 2);
});

test('waiting for the present run starts no further one', async () => {
  const { run, settled, runs } = startableWork();
  await settled();
  assert.equal(runs.length, 0);
  const first = assert.rejects(run(), /first/);
  const waiting = settled();
  runs[0]!.fail(new Error('first'));
  await waiting;
  await first;
  assert.equal(runs.length, 1);
});

test('a call between the end of a run and the start of the next starts no third', async () => {
  const { run, runs } = startableWork();
  let last: Promise<void> | undefined;
  const first = run().then(() => {
    last = run();
  });
  const second = run();
  runs[0]!.end();
  await first;
  await turn();
  assert.equal(runs.length, 2);
  runs[1]!.end();
  await Promise.all([second, last]);
  assert.equal(runs.length, 2);
});
