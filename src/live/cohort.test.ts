import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ChangeNote, type Clock, Cohort } from './cohort.ts';

/** Time that passes only when a test says so. */
class TestClock implements Clock {
  #now = 1000;
  #timers: { readonly at: number; readonly callback: () => void }[] = [];

  now(): number {
    return this.#now;
  }

  after(millis: number, callback: () => void): () => void {
    const timer = { at: this.#now + millis, callback };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((each) => each !== timer);
    };
  }

  pass(millis: number): void {
    this.#now += millis;
    const due = this.#timers.filter(({ at }) => at <= this.#now);
    this.#timers = this.#timers.filter(({ at }) => at > this.#now);
    for (const { callback } of due) callback();
  }

  get waits(): number {
    return this.#timers.length;
  }
}

function createCohort() {
  const clock = new TestClock();
  let due = 0;
  const countOne = (): void => {
    due += 1;
  };
  const timing = { clock, intervalMillis: 50, onDue: countOne };
  const dependencies = { relations: [1], isTraced: true, readsClaims: false, unannounced: [], own: new Set<number>() };
  const cohort = new Cohort({ key: 'k' } as never, dependencies, 0, timing);
  return { clock, cohort, countDue: () => due };
}

test('the first change is evaluated at once, and those that follow together, an interval later', () => {
  const { clock, cohort, countDue } = createCohort();
  cohort.markDirty();
  assert.equal(countDue(), 1);
  cohort.begin();
  cohort.end(true, []);
  for (let change = 0; change < 5; change += 1) cohort.markDirty();
  assert.deepEqual([cohort.state, countDue()], ['waiting', 1]);
  clock.pass(49);
  assert.equal(countDue(), 1);
  clock.pass(1);
  assert.deepEqual([cohort.state, countDue()], ['queued', 2]);
});

test('a change during an evaluation makes it dirty again', () => {
  const { clock, cohort, countDue } = createCohort();
  cohort.markDirty();
  cohort.begin();
  cohort.markDirty();
  cohort.markDirty();
  assert.equal(countDue(), 1);
  cohort.end(true, []);
  assert.equal(cohort.state, 'waiting');
  clock.pass(50);
  cohort.begin();
  cohort.end(false, []);
  assert.deepEqual([cohort.state, clock.waits], ['clean', 0]);
});

test('a relation that changed during the evaluation that turned out to read it is not missed', () => {
  for (const [changed, isMissed] of [
    [new Set([7]), true],
    [new Set([8]), false],
    [null, true],
  ] as const) {
    const { cohort } = createCohort();
    cohort.markDirty();
    cohort.begin();
    cohort.noteChange(changed);
    cohort.end(true, [7]);
    assert.equal(cohort.state, isMissed ? 'waiting' : 'clean');
  }
});

test('whoever noted a change learns when it has been answered, and whether any answer is another one', async () => {
  const { clock, cohort } = createCohort();
  cohort.markDirty();
  cohort.begin();
  const note = new ChangeNote();
  cohort.markDirty(note);
  note.done();
  let isTold = false;
  void note.evaluated.then(() => {
    isTold = true;
  });
  cohort.end(true, []);
  await null;
  assert.equal(isTold, false, 'that evaluation began before the change');
  clock.pass(50);
  cohort.begin();
  cohort.end(true, []);
  assert.equal(await note.evaluated, true);
  const none = new ChangeNote();
  none.done();
  assert.equal(await none.evaluated, false);
});

test('a failure is tried again after growing pauses, and is forgotten after an answer', () => {
  const { clock, cohort, countDue } = createCohort();
  cohort.markDirty();
  const pauses = [];
  for (let failure = 0; failure < 9; failure += 1) {
    cohort.begin();
    cohort.fail();
    const before = countDue();
    let pause = 0;
    for (; countDue() === before; pause += 50) clock.pass(50);
    pauses.push(pause);
  }
  assert.ok(pauses[0]! >= 250 && pauses[0]! <= 400, `${pauses}`);
  assert.ok(pauses.at(-1)! >= 15_000 && pauses.at(-1)! <= 19_000, `${pauses}`);
  cohort.begin();
  cohort.end(true, []);
  assert.equal(cohort.state, 'clean');
});

test('one that takes long is evaluated half of the time at most, and less if it fails', () => {
  const { clock, cohort, countDue } = createCohort();
  const evaluate = (): void => {
    cohort.begin();
    clock.pass(10_000);
    cohort.tookMillis = 10_000;
  };
  evaluate();
  cohort.end(true, []);
  cohort.markDirty();
  evaluate();
  cohort.end(true, []);
  cohort.markDirty();
  clock.pass(9_999);
  assert.equal(countDue(), 1);
  clock.pass(1);
  assert.equal(countDue(), 2);
  evaluate();
  cohort.end(true, []);
  cohort.markDirty();
  // Somebody waits for a first answer.
  cohort.hurry();
  assert.equal(countDue(), 3);
  for (let failure = 0; failure < 9; failure += 1) {
    evaluate();
    cohort.fail();
    if (failure < 8) clock.pass(80_000);
  }
  const before = countDue();
  clock.pass(59_999);
  assert.equal(countDue(), before);
  clock.pass(20_000);
  assert.equal(countDue(), before + 1);
});

test('the change after a single evaluation that took long, because it waited for a lock, is evaluated at once', () => {
  const { clock, cohort, countDue } = createCohort();
  for (const millis of [2, 10_000, 2]) {
    cohort.begin();
    clock.pass(Math.max(millis, 50));
    cohort.tookMillis = millis;
    cohort.end(true, []);
    const before = countDue();
    cohort.markDirty();
    clock.pass(2);
    assert.equal(countDue(), before + 1, `${millis}`);
  }
});

test('a pause after a failure ends when the database is back', () => {
  const { clock, cohort, countDue } = createCohort();
  cohort.markDirty();
  for (let failure = 0; failure < 5; failure += 1) {
    cohort.begin();
    cohort.fail();
    clock.pass(5_000);
  }
  cohort.begin();
  cohort.fail();
  const before = countDue();
  cohort.hurry();
  clock.pass(50);
  assert.deepEqual([cohort.state, countDue() - before, clock.waits], ['queued', 1, 0]);
});

test('it is refreshed after its interval, counted from the last evaluation', () => {
  const { clock, cohort, countDue } = createCohort();
  cohort.refreshMillis = 1000;
  cohort.markDirty();
  cohort.begin();
  cohort.end(true, []);
  clock.pass(999);
  assert.equal(countDue(), 1);
  cohort.markDirty();
  assert.equal(countDue(), 2);
  cohort.begin();
  cohort.end(true, []);
  clock.pass(999);
  assert.equal(countDue(), 2);
  clock.pass(1);
  assert.equal(countDue(), 3);
});

test('one that is closed is never due again, and tells those who wait', async () => {
  const { clock, cohort, countDue } = createCohort();
  cohort.refreshMillis = 10;
  cohort.markDirty();
  cohort.begin();
  const note = new ChangeNote();
  cohort.markDirty(note);
  note.done();
  cohort.close();
  assert.equal(await note.evaluated, false);
  cohort.end(true, []);
  cohort.markDirty();
  clock.pass(100_000);
  assert.deepEqual([cohort.state, countDue(), clock.waits], ['ended', 1, 0]);
});
