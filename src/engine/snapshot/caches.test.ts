import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { Deadline } from '../../budget/deadline.ts';
import type { IntrospectionJson } from '../../introspection/execute-introspection.ts';
import { CacheUse, IntrospectionCache } from './caches.ts';

describe('IntrospectionCache', () => {
  let answers: IntrospectionCache;
  let made: string[];

  beforeEach(() => {
    answers = new IntrospectionCache(100, new CacheUse('introspection'));
    made = [];
  });

  /** The response of this name, of this many bytes. `made` records when it is begun and when it is ended. */
  async function ask(name: string, length = 10, deadline: Deadline | null = null): Promise<string> {
    const make = function* (): Generator<void, IntrospectionJson> {
      made.push(name);
      yield;
      made.push(`${name}.`);
      return new Map([
        ['a', [Buffer.from(name)]],
        ['b', [Buffer.alloc(length, '.')]],
      ]);
    };
    const json = await answers.get(name, make, deadline);
    return Buffer.concat([...json.values()].flat()).toString();
  }

  it('makes a response once', async () => {
    assert.equal(await ask('a'), 'a..........');
    assert.equal(await ask('a'), 'a..........');
    assert.deepEqual(made, ['a', 'a.']);
  });

  it('makes a response once for concurrent requests', async () => {
    await Promise.all([ask('a'), ask('a'), ask('a')]);
    assert.deepEqual(made, ['a', 'a.']);
  });

  it('makes one response at a time', async () => {
    await Promise.all([ask('a'), ask('b'), ask('a'), ask('c')]);
    assert.deepEqual(made, ['a', 'a.', 'b', 'b.', 'c', 'c.']);
  });

  it('keeps no more bytes than it may, and the most recently used responses', async () => {
    for (const name of ['a', 'b', 'c', 'b', 'c']) await ask(name, 45);
    assert.deepEqual(made, ['a', 'a.', 'b', 'b.', 'c', 'c.']);
    await ask('a', 45);
    assert.equal(made.length, 8);
  });

  it('does not keep a response that is larger than the cache', async () => {
    await ask('a');
    assert.equal((await ask('large', 1000)).length, 1005);
    await ask('large', 1000);
    await ask('a');
    assert.deepEqual(made, ['a', 'a.', 'large', 'large.', 'large', 'large.']);
  });

  it('keeps nothing if it may keep no bytes', async () => {
    answers = new IntrospectionCache(0, new CacheUse('introspection'));
    await ask('a');
    await ask('a');
    assert.equal(made.length, 4);
  });

  it('rejects a request at its deadline, and does no work that nobody waits for', async () => {
    const deadlines = [new Deadline(60_000), new Deadline(60_000)] as const;
    const stopped = Promise.allSettled([ask('a', 10, deadlines[0]), ask('b', 10, deadlines[1])]);
    const others = Promise.all([ask('a'), ask('c')]);
    for (const deadline of deadlines) deadline.stop('expired');
    for (const outcome of await stopped) assert.equal(outcome.status === 'rejected' && outcome.reason.code, 'TIMEOUT');
    await others;
    assert.deepEqual(made, ['a', 'a.', 'c', 'c.']);
    assert.equal(await ask('b'), 'b..........');
  });

  it('stops work in progress that nobody waits for', async () => {
    const deadline = new Deadline(60_000);
    const stopped = assert.rejects(
      answers.get(
        'endless',
        function* () {
          for (let step = 0; ; step++) {
            if (step === 3) deadline.stop('abandoned');
            yield;
          }
        },
        deadline,
      ),
      { code: 'CANCELLED' },
    );
    assert.equal(await ask('a'), 'a..........');
    await stopped;
  });

  it('does not cache a failure, and continues after it', async () => {
    const failed = answers.get('a', function* () {
      yield;
      throw new Error('cannot');
    });
    const next = ask('b');
    await assert.rejects(failed, /^Error: cannot$/);
    await next;
    assert.equal(await ask('a'), 'a..........');
  });
});
