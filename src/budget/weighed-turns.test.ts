/** Turns of requests that weigh much. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../errors/api-error.ts';
import { Deadline } from './deadline.ts';
import { WeighedTurns } from './turns.ts';

/** Requests that the test ends, and the list of those that have begun. */
function makeRequests(turns: WeighedTurns) {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const turnEnds = new Map<string, () => void>();
  const start = (name: string, { deadline = new Deadline(60_000), weight = 1 } = {}): Promise<string> =>
    turns
      .run(name[0]!, weight, deadline, (endTurn) => {
        begun.push(name);
        turnEnds.set(name, endTurn);
        return new Promise<string>((resolve) => ends.set(name, () => resolve(name)));
      })
      .finally(() => deadline.end());
  return { begun, start, end: (name: string) => ends.get(name)?.(), endTurn: (name: string) => turnEnds.get(name)?.() };
}

test('a limited number begins at once, in total and per client; the one that has waited longest is next', async () => {
  const { begun, start, end } = makeRequests(new WeighedTurns({ total: 3, ofClient: 2 }));
  const done = ['a1', 'a2', 'a3', 'b1', 'c1', 'a4'].map((name) => start(name));
  await new Promise(setImmediate);
  assert.deepEqual(begun, ['a1', 'a2', 'b1']);
  end('b1');
  await done[3];
  assert.deepEqual(begun, ['a1', 'a2', 'b1', 'c1'], 'a3 came before, but its client has its share');
  end('a2');
  await done[1];
  assert.deepEqual(begun.at(-1), 'a3');
  for (const name of ['a1', 'a3', 'c1']) end(name);
  await Promise.all([done[0], done[2], done[4]]);
  assert.deepEqual(begun.at(-1), 'a4');
  end('a4');
  await done[5];
});

test('a turn ends when the request is ready for the database, whatever comes later', async () => {
  const { begun, start, end, endTurn } = makeRequests(new WeighedTurns({ total: 1, ofClient: 1 }));
  const first = start('a1');
  const second = start('b1');
  endTurn('a1');
  end('a1');
  await first;
  const third = start('c1');
  assert.deepEqual(begun, ['a1', 'b1'], 'the end of the first makes no more room');
  end('b1');
  await second;
  end('c1');
  await third;
});

test('a request larger than all bounds gets a turn too, and is not overtaken by smaller ones', async () => {
  const { begun, start, end } = makeRequests(new WeighedTurns({ total: 4, ofClient: 3 }));
  const done = [start('a1', { weight: 2 }), start('b1', { weight: 100 }), start('c1')];
  assert.deepEqual(begun, ['a1']);
  end('a1');
  await done[0];
  assert.deepEqual(begun, ['a1', 'b1', 'c1']);
  for (const name of ['b1', 'c1']) end(name);
  await Promise.all(done);
});

test('two clients with much to do cannot keep a third from its turn', async () => {
  const { begun, start, end } = makeRequests(new WeighedTurns({ total: 4, ofClient: 3 }));
  const done = new Map<string, Promise<string>>();
  const begin = (name: string, weight: number): void => void done.set(name, start(name, { weight }));
  for (let number = 1; number <= 20; number++) begin(`a${number}`, 3);
  for (let number = 1; number <= 20; number++) begin(`b${number}`, 1);
  begin('c1', 1);
  for (const name of ['a1', 'b1', 'a2']) {
    end(name);
    await done.get(name);
  }
  assert.deepEqual(begun, ['a1', 'b1', 'a2', 'b2', 'c1']);
  for (let ended = 3; ended < 41; ended++) {
    const name = begun[ended]!;
    end(name);
    await done.get(name);
  }
  assert.equal(new Set(begun).size, 41);
});

test('a request without a deadline waits for its turn, too', async () => {
  const turns = new WeighedTurns({ total: 1, ofClient: 1 });
  const gate = Promise.withResolvers<string>();
  const first = turns.run('a', 1, null, () => gate.promise);
  const second = turns.run('b', 1, null, async () => 'second');
  gate.resolve('first');
  assert.deepEqual(await Promise.all([first, second]), ['first', 'second']);
});

test('a request whose time is up, or whose client disconnects, stops waiting', async () => {
  const { begun, start, end } = makeRequests(new WeighedTurns({ total: 1, ofClient: 1 }));
  const first = start('a1');
  const gone = new Deadline(60_000);
  const abandoned = start('b1', { deadline: gone });
  const next = start('c1');
  gone.stop('abandoned');
  await assert.rejects(abandoned, (error) => error instanceof ApiError && error.code === 'CANCELLED');
  end('a1');
  await first;
  assert.deepEqual(begun, ['a1', 'c1']);
  end('c1');
  await next;
});

test('a request that fails gives its turn back', async () => {
  const turns = new WeighedTurns({ total: 1, ofClient: 1 });
  const deadline = new Deadline(60_000);
  await assert.rejects(turns.run('a', 1, deadline, () => Promise.reject(new Error('as it happens'))));
  assert.equal(await turns.run('a', 1, deadline, async () => 'fine'), 'fine');
  deadline.end();
});
