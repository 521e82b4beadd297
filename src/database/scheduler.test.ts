import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DatabaseError } from '../errors/database-error.ts';
import { backgroundClient, type QueuedWork, Scheduler, slowClient } from './scheduler.ts';

interface Work extends QueuedWork {
  readonly name: string;
}

/** What was refused since it was last looked at, and why. */
const refusals: string[] = [];
const reasons: string[] = [];

const work = (client: string | null, name: string, ...touches: string[]): Work => ({
  client,
  touches,
  bytes: 1,
  isQuick: false,
  name,
  arrived: 0,
  reject: ({ message }) => {
    refusals.push(name);
    reasons.push(message);
  },
});
const open = (
  length = 100,
  share = 100,
  bytes = 1000,
  whyNone: () => DatabaseError | null = () => null,
  onUnstuck = () => {},
): Scheduler<Work> => new Scheduler({ length, bytes, share, size: 100, timeoutMillis: 1000 }, whyNone, onUnstuck);

function refusedBy(queue: Scheduler<Work>, added: Work): string[] {
  queue.add(added);
  return refusals.splice(0);
}

/** The names of what waits. */
function waitingIn(queue: Scheduler<Work>): string[] {
  queue.refuseAll(new DatabaseError('over', { sqlstate: null }));
  return refusals.splice(0);
}

function takeAll(queue: Scheduler<Work>): string {
  const names: string[] = [];
  for (let taken = queue.take(); taken !== undefined; taken = queue.take()) names.push(taken.name);
  return names.join(', ');
}

test("clients take turns, each in its own order, and rowgraph's own work comes first", () => {
  const queue = open();
  for (const name of ['a1', 'a2', 'a3', 'b1', 'c1', 'c2']) queue.add(work(name[0]!, name));
  queue.add(work(null, 'own'));
  assert.equal(queue.size, 7);
  assert.equal(takeAll(queue), 'own, a1, b1, c1, a2, c2, a3');
  assert.equal(queue.size, 0);
});

test('a client uses no more than its share until it gives a connection back', () => {
  const queue = open(100, 2);
  const first = work('a', 'a1');
  for (const each of [first, work('a', 'a2'), work('a', 'a3'), work('b', 'b1')]) queue.add(each);
  assert.equal(takeAll(queue), 'a1, b1, a2');
  assert.equal(queue.hasNext, false);
  queue.release(first);
  assert.equal(queue.hasNext, true);
  assert.equal(takeAll(queue), 'a3');
});

test('a client that holds connections for long comes after clients that use fewer', () => {
  const queue = open();
  for (let index = 1; index <= 6; index++) queue.add(work('slow', `s${index}`));
  const first = queue.take()!;
  queue.take();
  queue.take();
  for (const name of ['q1', 'q2', 'q3', 'q4']) queue.add(work('quick', name));
  queue.release(first);
  // It uses two by now: the other client catches up before they take turns.
  assert.equal(takeAll(queue), 'q1, q2, s4, q3, s5, q4, s6');
});

test('reserved connections are for work that is unlike what is running, whoever sends it', () => {
  const queue = open(100, 2);
  const first = work('a', 'locked 1', 'locked');
  queue.add(first);
  queue.add(work('b', 'locked 2', 'locked', 'account'));
  assert.equal(takeAll(queue), 'locked 1, locked 2');
  queue.add(work('c', 'locked 3', 'locked'));
  queue.add(work('d', 'locked 4', 'blog', 'locked'));
  assert.equal(queue.hasNext, false, 'these would wait for what the first waits for');
  // It shares a table with the second, which may be waiting for another one.
  queue.add(work('e', 'account', 'account'));
  queue.add(work('c', 'blog', 'blog'));
  queue.add(work('f', 'blog again', 'blog'));
  queue.add(work('g', 'nothing'));
  assert.equal(takeAll(queue), 'blog, account, nothing');
  queue.release(first);
  // The second may be waiting for the account.
  assert.equal(takeAll(queue), 'locked 4, locked 3');
  assert.deepEqual(waitingIn(queue), ['blog again']);
});

test('work that got stuck on a reserved connection gets no other one for now, nor does work on the same objects', () => {
  const queue = open(100, 1);
  const takeReserved = (each: Work): void => {
    queue.add(each);
    assert.equal(queue.take(), each);
    assert.equal(queue.isReserved(each), true);
  };
  const running = work('a', 'running', 'account');
  queue.add(running);
  assert.equal(queue.isReserved(queue.take()!), false);
  const stuck = work('b', 'stuck', 'blog', 'locked');
  takeReserved(stuck);
  queue.noteStuck(stuck);
  queue.release(stuck);
  queue.add(stuck);
  queue.add(work('c', 'like it', 'blog', 'locked', 'post'));
  assert.equal(queue.hasNext, false);
  const unlike = work('d', 'unlike it', 'blog');
  takeReserved(unlike);
  queue.noteDone(unlike);
  queue.release(unlike);
  assert.equal(queue.hasNext, false, 'it may have been the other table');
  queue.noteDone(work('e', 'e', 'locked', 'blog', 'account'));
  assert.equal(takeAll(queue), 'stuck');
  queue.noteStuck(stuck);
  queue.release(stuck);
  queue.release(running);
  assert.equal(takeAll(queue), 'like it', 'other connections are for all');
  queue.add(stuck);
  assert.equal(queue.hasNext, false);
});

test('a flood of work that could run does not displace what others wait for', () => {
  const queue = open(5, 1);
  queue.add(work('x', 'running', 'locked'));
  queue.take();
  queue.add(work('victim', 'v', 'locked'));
  for (const name of ['f1', 'f2', 'f3', 'f4']) assert.deepEqual(refusedBy(queue, work('flood', name, 'other')), []);
  assert.deepEqual(refusedBy(queue, work('flood', 'f5', 'other')), ['f5']);
  assert.deepEqual(refusedBy(queue, work('newcomer', 'n', 'other')), ['f4']);
  assert.deepEqual(waitingIn(queue).sort(), ['f1', 'f2', 'f3', 'n', 'v']);
});

test('a client with quick work may use all connections, because others soon get the next one', () => {
  const queue = open(100, 2);
  const quick = (client: string, name: string): Work => ({ ...work(client, name, 'account'), isQuick: true });
  const first = quick('a', 'a1');
  for (const each of [first, quick('a', 'a2'), quick('a', 'a3'), work('a', 'slow', 'account'), quick('a', 'a4')]) queue.add(each);
  assert.deepEqual([queue.take()?.name, queue.take()?.name, queue.take()?.name], ['a1', 'a2', 'a3']);
  assert.equal(queue.hasNext, false, 'what is slow waits for its share');
  queue.add(quick('b', 'b1'));
  assert.equal(queue.take()?.name, 'b1');
  queue.noteStuck(first);
  queue.add(quick('c', 'c1'));
  assert.equal(queue.hasNext, false, 'what is stuck is not quick any more');
});

test('as long as more than the reserved connections are free, all running work may be alike', () => {
  const queue = open(100, 3);
  for (const client of ['a', 'b', 'c', 'd']) queue.add(work(client, client, 'account'));
  assert.equal(takeAll(queue), 'a, b, c');
  const reserved = work('e', 'e', 'blog');
  queue.add(reserved);
  assert.equal(takeAll(queue), 'e');
  queue.release(reserved);
  assert.equal(queue.hasNext, false, 'what ends on a reserved connection makes no other room');
});

test('without room, only the client with the most waiting work is refused', () => {
  const queue = open(6);
  for (let index = 0; index < 6; index++) assert.deepEqual(refusedBy(queue, work('flood', `f${index}`)), []);
  const late = work('flood', 'late');
  assert.deepEqual(refusedBy(queue, late), ['late']);
  assert.deepEqual(refusedBy(queue, work('a', 'a1')), ['f5']);
  assert.deepEqual(refusedBy(queue, work('b', 'b1')), ['f4']);
  assert.equal(queue.size, 6);
  assert.deepEqual(refusedBy(queue, work(null, 'own')), [], 'there is always room for rowgraph itself');
  assert.equal(takeAll(queue), 'own, f0, a1, b1, f1, f2, f3');
});

test('if all wait for the same object, the newcomer is refused', () => {
  const queue = open(3);
  for (const client of ['a', 'b', 'c']) queue.add(work(client, client));
  const newcomer = work('d', 'd');
  assert.deepEqual(refusedBy(queue, newcomer), ['d']);
  const second = work('a', 'a2');
  assert.deepEqual(refusedBy(queue, second), ['a2']);
});

test('without room, work that cannot run makes room for work that can', () => {
  const queue = open(3, 1);
  queue.add(work('a', 'locked', 'locked'));
  queue.take();
  for (const client of ['b', 'c', 'd']) queue.add(work(client, client, 'locked'));
  const another = work('e', 'e', 'locked');
  assert.deepEqual(refusedBy(queue, another), ['e']);
  assert.deepEqual(refusedBy(queue, work('f', 'f', 'account')), ['b']);
  assert.equal(takeAll(queue), 'f');
});

test('without room for the bytes, the client whose work takes the most is refused', () => {
  const queue = open(100, 100, 10);
  const heavy = (client: string, name: string, bytes: number): Work => ({ ...work(client, name), bytes });
  for (const [name, bytes] of [
    ['a1', 3],
    ['a2', 3],
    ['a3', 3],
  ] as const)
    assert.deepEqual(refusedBy(queue, heavy('a', name, bytes)), []);
  assert.deepEqual(refusedBy(queue, heavy('a', 'a4', 2)), ['a4']);
  assert.deepEqual(refusedBy(queue, heavy('b', 'b1', 1)), []);
  assert.deepEqual(refusedBy(queue, heavy('b', 'b2', 4)), ['a3', 'a2']);
  assert.deepEqual(refusedBy(queue, heavy('c', 'c1', 100)), ['c1']);
  assert.equal(takeAll(queue), 'a1, b1, b2');
  assert.deepEqual(refusedBy(queue, heavy('c', 'c1', 100)), [], 'where nothing waits, any work may');
});

test('removed work is not taken, and no longer counts', () => {
  const queue = open();
  const gone = work('a', 'gone');
  for (const each of [gone, work('a', 'a2'), work('b', 'b1')]) queue.add(each);
  queue.remove(gone);
  queue.remove(gone);
  assert.equal(queue.size, 2);
  assert.equal(takeAll(queue), 'a2, b1');
});

test("work that is alike is taken from the head of each client's list only, so that each client's order is kept", () => {
  const queue = open();
  for (const name of ['a-x', 'a-x', 'a-y', 'a-x', 'b-x', 'c-y', 'c-x']) queue.add(work(name[0]!, name));
  const isAlike = ({ name }: Work): boolean => name.endsWith('x');
  assert.deepEqual(
    queue.takeAlike(isAlike, 10).map(({ name }) => name),
    ['a-x', 'a-x', 'b-x'],
  );
  assert.deepEqual(queue.takeAlike(isAlike, 10), []);
  assert.equal(queue.size, 4);
});

test('a client that uses connections is not forgotten, however many others come and go', () => {
  const queue = open(100, 1);
  const first = work('a', 'a1');
  for (const each of [first, work('a', 'a2')]) queue.add(each);
  assert.equal(takeAll(queue), 'a1');
  for (let number = 0; number < 3000; number++) {
    const passing = work(`client ${number}`, 'passing');
    queue.add(passing);
    assert.equal(queue.take(), passing);
    queue.release(passing);
  }
  assert.equal(queue.hasNext, false);
  queue.release(first);
  assert.equal(takeAll(queue), 'a2');
});

test('work that got stuck on a reserved connection may use one again after a while', (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  let calls = 0;
  const queue = open(
    100,
    1,
    1000,
    () => null,
    () => void calls++,
  );
  const stuck = work('other', 'stuck', 'b');
  for (const each of [work('one', 'running', 'a'), stuck]) queue.add(each);
  assert.equal(takeAll(queue), 'running, stuck');
  queue.noteStuck(stuck);
  queue.release(stuck);
  context.mock.timers.tick(4999);
  queue.add(work('third', 'next', 'b'));
  assert.deepEqual([calls, queue.hasNext], [0, false]);
  context.mock.timers.tick(1);
  assert.equal(calls, 1);
  assert.equal(takeAll(queue), 'next');
});

test('a wait ends with the reason why no connection can be opened, if that is known', (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  let now = 0;
  context.mock.method(performance, 'now', () => now);
  let why: DatabaseError | null = null;
  const queue = open(9, 1, 9, () => why);
  reasons.length = 0;
  queue.add(work(null, 'own'));
  queue.add(work('a', 'early'));
  now = 500;
  queue.add(work('a', 'late'));
  now = 1000;
  context.mock.timers.tick(1000);
  const overloaded = 'The server is overloaded: no database connection became free in time. Try again later.';
  assert.deepEqual(
    [refusals.splice(0), reasons.splice(0)],
    [
      ['own', 'early'],
      [overloaded, overloaded],
    ],
  );
  why = new DatabaseError('too many clients', { sqlstate: '53300' });
  now = 1500;
  context.mock.timers.tick(500);
  assert.deepEqual([refusals.splice(0), reasons.splice(0)], [['late'], ['too many clients']]);
  assert.equal(queue.size, 0);
});

test('slow background work leaves a connection to the rest of it, and both leave one to others', () => {
  const runnable = (size: number): string => {
    const queue: Scheduler<Work> = new Scheduler(
      { length: 100, bytes: 1000, share: size, size, timeoutMillis: 1000 },
      () => null,
      () => {},
    );
    for (const name of ['s1', 's2', 's3', 's4']) queue.add(work(slowClient, name));
    const slow = takeAll(queue);
    for (const name of ['b1', 'b2', 'b3', 'b4']) queue.add(work(backgroundClient, name));
    return `${slow}; ${takeAll(queue)}`;
  };
  assert.deepEqual([1, 2, 3, 10, 16].map(runnable), ['s1; ', 's1; ', 's1; b1', 's1, s2; b1', 's1, s2, s3, s4; b1']);
});
