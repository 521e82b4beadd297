import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import type { DatabaseError } from '../errors/database-error.ts';
import type { LentClient } from './lending-pool.ts';
import { type LendableWork, PgConnections } from './pg-connections.ts';

type Callback = (error: Error | undefined, client: LentClient | undefined) => void;

/** Work of its own client that notes whether it was refused. It is slow if it touches anything. */
class NotedWork implements LendableWork {
  readonly client: string | null;
  readonly bytes = 1;
  readonly isQuick: boolean;
  readonly touches: readonly string[];
  arrived = 0;
  refused: DatabaseError | null = null;

  readonly isRepeated: boolean;

  constructor(client: string | null, isRepeated = false, touches: readonly string[] = []) {
    this.client = client;
    this.isRepeated = isRepeated;
    this.touches = touches;
    this.isQuick = touches.length === 0;
  }

  refuse(error: DatabaseError): void {
    this.refused = error;
  }
}

const serverError = (code: string) => Object.assign(new Error(code), { severity: 'FATAL', code });
const client = (): LentClient => ({ release() {} });

/** Connections over a pool whose attempts to connect are settled by the test, the work that was served, and the errors that were reported. */
function open(size: number, keepsIdle = true) {
  const attempts: Callback[] = [];
  const served: { readonly client: LentClient; readonly work: NotedWork }[] = [];
  const errors: unknown[] = [];
  const pool = { waitingCount: 0, idleCount: 0, options: { max: size }, connect: (callback: Callback) => void attempts.push(callback) };
  const onError = (error: unknown): void => void errors.push(error);
  const options = { queueLength: 100, queueBytes: 1000, queueTimeoutMillis: 60_000, keepsIdle, onError };
  const connections = new PgConnections<LentClient, NotedWork>(
    pool,
    options,
    (client, work) => void served.push({ client, work }),
    () => {},
  );
  const works = Array.from({ length: size }, (_, index) => new NotedWork(`client ${index}`));
  for (const work of works) connections.request(work);
  return { attempts, served, works, errors, pool, connections };
}

describe('a server that refuses connections', () => {
  test('is asked for one connection at a time, until it accepts one', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { attempts, served, connections } = open(5);
    assert.equal(attempts.length, 5);
    for (const attempt of attempts.splice(0)) attempt(serverError('53300'), undefined);
    t.mock.timers.tick(250);
    assert.equal(attempts.length, 1);
    attempts.pop()!(serverError('53300'), undefined);
    assert.equal(attempts.length, 0);
    t.mock.timers.tick(250);
    assert.equal(attempts.length, 1);
    attempts.pop()!(undefined, client());
    assert.equal(served.length, 1);
    assert.equal(attempts.length, 4, 'all others that wait get theirs');
    connections.leaveBudget();
  });

  for (const sqlstate of ['53300', '57P01', '57P02', '57P03']) {
    test(`with ${sqlstate} is waited for`, (t) => {
      t.mock.timers.enable({ apis: ['setTimeout'] });
      const { attempts, works } = open(2);
      for (const attempt of attempts.splice(0)) attempt(serverError(sqlstate), undefined);
      assert.deepEqual(
        works.map(({ refused }) => refused),
        [null, null],
      );
      t.mock.timers.tick(250);
      assert.equal(attempts.length, 1);
    });
  }

  test('is asked again after a random delay, so that programs do not keep taking turns in the same order', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    let random = 0;
    t.mock.method(Math, 'random', () => random);
    const { attempts } = open(1);
    attempts.pop()!(serverError('53300'), undefined);
    t.mock.timers.tick(50);
    assert.equal(attempts.length, 1);
    random = 0.5;
    attempts.pop()!(serverError('53300'), undefined);
    t.mock.timers.tick(149);
    assert.equal(attempts.length, 0);
    t.mock.timers.tick(1);
    assert.equal(attempts.length, 1);
  });

  test('for good is reported to all waiting work', () => {
    const { attempts, works } = open(2);
    for (const attempt of attempts.splice(0)) attempt(serverError('28P01'), undefined);
    assert.deepEqual(
      works.map(({ refused }) => refused?.sqlstate),
      ['28P01', '28P01'],
    );
  });
});

describe('a server that was there', () => {
  /** One connection, which has served and is gone, so that work needs another one. `pass` moves the clock on by milliseconds. */
  function openServed(context: TestContext) {
    let now = 0;
    context.mock.timers.enable({ apis: ['setTimeout'] });
    context.mock.method(performance, 'now', () => now);
    const { connections, attempts, served } = open(1);
    attempts.pop()!(undefined, client());
    connections.giveBack(served[0]!.client, served[0]!.work);
    connections.noteBroken(served.pop()!.client, new Error('read ECONNRESET'));
    const pass = (millis: number): void => {
      now += millis;
      context.mock.timers.tick(millis);
    };
    const request = (name: string | null): NotedWork => {
      const work = new NotedWork(name);
      connections.request(work);
      return work;
    };
    return { connections, attempts, served, pass, request };
  }

  const restarts: Record<string, Error> = {
    'does not listen': Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }),
    'has no socket': Object.assign(new Error('connect ENOENT'), { code: 'ENOENT' }),
    'ends connections as they open': new Error('Connection terminated unexpectedly'),
    'is not reached by its pooler': serverError('08P01'),
  };
  for (const [what, error] of Object.entries(restarts)) {
    test(`and ${what} is waited for as long as a restart takes`, (context) => {
      const { attempts, pass, request, served } = openServed(context);
      const work = request('a');
      for (let waited = 0; waited < 1750; waited += 250) {
        assert.equal(attempts.length, 1, `after ${waited} ms`);
        attempts.pop()!(error, undefined);
        assert.equal(work.refused, null);
        pass(250);
      }
      attempts.pop()!(undefined, client());
      assert.equal(served[0]?.work, work);
    });
  }

  test('but no longer: then work is refused at once, while rowgraph itself looks for it at intervals', (context) => {
    const { attempts, served, pass, request } = openServed(context);
    const error = restarts['does not listen']!;
    const first = request('a');
    attempts.pop()!(error, undefined);
    pass(2000);
    attempts.pop()!(error, undefined);
    assert.match(first.refused?.message ?? '', /ECONNREFUSED/);
    for (let count = 0; count < 10; count++) assert.match(request('b').refused?.message ?? '', /ECONNREFUSED/);
    const own = request(null);
    assert.deepEqual([own.refused, attempts.length], [null, 0]);
    pass(250);
    assert.equal(attempts.length, 1);
    assert.match(request('c').refused?.message ?? '', /ECONNREFUSED/, 'nobody else waits for the attempt');
    attempts.pop()!(error, undefined);
    assert.match(own.refused?.message ?? '', /ECONNREFUSED/);
    pass(250);
    const next = request('d');
    assert.deepEqual([next.refused, attempts.length], [null, 1], 'this one tries');
    attempts.pop()!(undefined, client());
    const late = request('e');
    assert.deepEqual([served[0]?.work, late.refused], [next, null]);
  });

  test('and is starting again after a long time is waited for', (context) => {
    const { attempts, pass, request } = openServed(context);
    request('a');
    attempts.pop()!(restarts['does not listen'], undefined);
    pass(2000);
    attempts.pop()!(restarts['does not listen'], undefined);
    pass(250);
    const first = request('b');
    attempts.pop()!(serverError('57P03'), undefined);
    assert.deepEqual([first.refused, request('c').refused], [null, null]);
  });

  test('and rejects the login is not waited for', (context) => {
    const { attempts, request } = openServed(context);
    const work = request('a');
    attempts.pop()!(serverError('28P01'), undefined);
    assert.equal(work.refused?.sqlstate, '28P01');
  });

  test('and is not reached by a pooler that takes connections is away, too', (context) => {
    const { connections, attempts, served, pass, request } = openServed(context);
    const refuseNext = (): void => {
      attempts.pop()!(undefined, client());
      const { client: lent, work } = served.pop()!;
      connections.noteRefused(serverError('08P01'));
      connections.giveBack(lent, work, serverError('08P01'));
    };
    request('a');
    refuseNext();
    const waiting = request('b');
    assert.deepEqual([waiting.refused, attempts.length], [null, 0]);
    pass(2000);
    refuseNext();
    assert.equal(request('c').refused?.sqlstate, '08P01');
  });
});

test('an attempt to open a connection that fails after `close` is not reported', () => {
  const { attempts, errors, connections } = open(1);
  void connections.close();
  attempts.pop()!(serverError('53300'), undefined);
  assert.deepEqual([errors, attempts], [[], []]);
});

test('a connection that fails while its user does not read from it is not used again', () => {
  const { attempts, served, connections } = open(1);
  const released: unknown[] = [];
  attempts.pop()!(undefined, { release: (error) => void released.push(error) });
  connections.request(new NotedWork('waiting'));
  const { client: broken, work } = served[0]!;
  const failure = new Error('ECONNRESET');
  connections.noteBroken(broken, failure);
  assert.deepEqual(released, []);
  connections.giveBack(broken, work);
  assert.deepEqual([released, served.length, attempts.length], [[failure], 1, 1]);
  attempts.pop()!(undefined, client());
  connections.giveBack(served[1]!.client, served[1]!.work);
  assert.equal(connections.readStatistics().idle, 1, 'another one is');
});

describe('work that is held back from a spare connection', () => {
  /** Five connections, of which one is spare and idle, and the works that run on the others. */
  function openSpare() {
    const { connections, attempts, served } = open(5);
    for (const attempt of attempts.splice(0)) attempt(undefined, client());
    for (const { client: lent, work } of served.splice(0)) connections.giveBack(lent, work);
    for (const name of ['a', 'b', 'c', 'd']) connections.request(new NotedWork(name, false, [name]));
    return { connections, served, running: served.splice(0) };
  }

  test('gets it once what it was held back for has ended, even if other work gets the connection of that', () => {
    const { connections, served, running } = openSpare();
    for (const name of ['e', 'f']) connections.request(new NotedWork(name, false, ['a', name]));
    assert.equal(served.length, 0);
    connections.giveBack(running[0]!.client, running[0]!.work);
    assert.deepEqual(
      served.map(({ work }) => work.client),
      ['e', 'f'],
    );
  });

  test('because it got stuck there gets it again after a while', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { connections, served } = openSpare();
    const stuck = new NotedWork('e', false, ['e']);
    connections.request(stuck);
    assert.ok(connections.isOnSpare(stuck));
    connections.noteStuck(stuck);
    connections.giveBack(served[0]!.client, stuck);
    connections.request(new NotedWork('f', false, ['e']));
    assert.equal(served.length, 1);
    t.mock.timers.tick(5000);
    assert.equal(served[1]?.work.client, 'f');
  });
});

describe('a connection that others need', () => {
  const released: unknown[] = [];
  const client = (): LentClient => ({ release: (error) => void released.push(error) });

  test('is an idle one, and no other is opened until they can have it', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { attempts, served, connections } = open(2);
    for (const attempt of attempts.splice(0)) attempt(undefined, client());
    connections.giveBack(served[0]!.client, served[0]!.work);
    connections.giveBack(served[1]!.client, served[1]!.work);
    released.length = 0;
    connections.yieldOne();
    assert.deepEqual([released.length, connections.readStatistics().idle], [1, 1]);
    connections.yieldOne();
    assert.equal(released.length, 1, 'the next one only after four seconds');
    connections.request(new NotedWork('a'));
    connections.request(new NotedWork('b'));
    assert.deepEqual([served.length, attempts.length], [3, 0], 'the one that is left serves');
    t.mock.timers.tick(500);
    assert.equal(attempts.length, 1);
  });

  test('is the next that becomes free without work, if none is idle', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { attempts, served, connections } = open(1);
    attempts.pop()!(undefined, client());
    const waiting = new NotedWork('waiting');
    connections.request(waiting);
    released.length = 0;
    connections.yieldOne();
    assert.deepEqual(released, []);
    connections.giveBack(served[0]!.client, served[0]!.work);
    assert.equal(served[1]!.work, waiting, 'what waits is served first');
    connections.giveBack(served[1]!.client, waiting);
    assert.deepEqual([released, attempts.length], [[true], 0]);
    const later = new NotedWork('later');
    connections.request(later);
    t.mock.timers.tick(500);
    attempts.pop()!(undefined, client());
    assert.equal(served[2]!.work, later);
    connections.giveBack(served[2]!.client, later);
    assert.deepEqual([released.length, connections.readStatistics().idle], [1, 1], 'this one is kept');
  });

  test('serves what waits no longer than a moment', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    let now = 0;
    t.mock.method(performance, 'now', () => now);
    const { attempts, served, connections } = open(1);
    attempts.pop()!(undefined, client());
    for (const name of ['first', 'second']) connections.request(new NotedWork(name));
    attempts.splice(0);
    released.length = 0;
    connections.yieldOne();
    now = 99;
    connections.giveBack(served[0]!.client, served[0]!.work);
    assert.equal(served[1]!.work.client, 'first');
    now = 100;
    connections.giveBack(served[1]!.client, served[1]!.work);
    assert.deepEqual([released, served.length, attempts.length], [[true], 2, 0]);
    t.mock.timers.tick(500);
    assert.equal(attempts.length, 1);
  });

  test('is still owed after a pause in which others can have another one, however long it stays in use', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    t.mock.method(performance, 'now', () => 0);
    const { attempts, served, connections } = open(2);
    attempts.shift()!(undefined, client());
    connections.yieldOne();
    attempts.shift()!(serverError('53300'), undefined);
    t.mock.timers.tick(499);
    assert.equal(attempts.length, 0, 'that would take what is owed');
    t.mock.timers.tick(1);
    assert.equal(attempts.length, 1, 'what waits does not wait for what is in use');
    attempts.shift()!(serverError('53300'), undefined);
    released.length = 0;
    connections.giveBack(served[0]!.client, served[0]!.work);
    connections.giveBack(served[1]!.client, served[1]!.work);
    assert.deepEqual([released, served.length, attempts.length], [[true], 2, 0]);
    connections.request(new NotedWork('later'));
    t.mock.timers.tick(500);
    assert.equal(attempts.length, 1);
  });

  test('is not replaced by one whose opening began before', () => {
    const { attempts, served, connections } = open(2);
    attempts.shift()!(undefined, client());
    for (const index of [0, 1]) connections.giveBack(served[index]!.client, served[index]!.work);
    released.length = 0;
    connections.yieldOne();
    assert.deepEqual(released, [true]);
    attempts.shift()!(undefined, client());
    connections.yieldOne();
    assert.deepEqual([released, connections.readStatistics().idle], [[true], 1], 'the last one is kept');
  });

  test('may be an idle one of a shared pool, which is not replaced by another that was open before', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { attempts, served, pool, connections } = open(2, false);
    const [first, second] = [client(), client()];
    attempts.shift()!(undefined, first);
    attempts.shift()!(undefined, second);
    for (const { client: lent, work } of [...served]) connections.giveBack(lent, work);
    pool.idleCount = 2;
    released.length = 0;
    connections.yieldOne();
    attempts.shift()!(undefined, first);
    assert.deepEqual(released, [true]);
    pool.idleCount = 1;
    connections.request(new NotedWork('a'));
    connections.request(new NotedWork('b'));
    assert.equal(attempts.length, 1, 'nothing is opened, but what is idle serves');
    pool.idleCount = 0;
    attempts.shift()!(undefined, second);
    for (const index of [2, 3]) connections.giveBack(second, served[index]!.work);
    pool.idleCount = 1;
    connections.yieldOne();
    assert.deepEqual([released, attempts.length], [[true, undefined], 0], 'the last one is kept');
  });

  test('is given up ever less often while none replaces it, and is never the last one then', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    let now = 0;
    t.mock.method(performance, 'now', () => now);
    const { attempts, served, connections } = open(4);
    for (const attempt of attempts.splice(0)) attempt(undefined, client());
    for (const { client: lent, work } of [...served]) connections.giveBack(lent, work);
    const given: number[] = [];
    for (; now < 1_000_000; now += 1000) {
      const before = connections.readStatistics().idle;
      connections.yieldOne();
      if (connections.readStatistics().idle < before) given.push(now);
    }
    assert.deepEqual(given, [0, 4000, 20_000]);
    t.mock.timers.tick(500);
    connections.request(new NotedWork('a'));
    connections.request(new NotedWork('b'));
    attempts.pop()!(undefined, client());
    for (const { client: lent, work } of served.slice(-2)) connections.giveBack(lent, work);
    for (let second = 0; second < 2; second++, now += 1000) connections.yieldOne();
    assert.equal(connections.readStatistics().idle, 1, 'one has been replaced');
  });
});

describe('repeated work', () => {
  /** Two connections, of which the first has run repeated work: both are idle, and the second was used last. */
  function openHome() {
    const { connections, attempts, served } = open(2);
    for (const attempt of attempts.splice(0)) attempt(undefined, client());
    const [first, second] = served.splice(0) as [(typeof served)[number], (typeof served)[number]];
    connections.giveBack(first.client, first.work);
    const repeated = new NotedWork(null, true);
    connections.request(repeated);
    connections.giveBack(first.client, repeated);
    connections.giveBack(second.client, second.work);
    served.length = 0;
    return { connections, served, home: first.client, other: second.client };
  }

  test('stays on its connection', () => {
    const { connections, served, home } = openHome();
    const repeated = new NotedWork(null, true);
    connections.request(repeated);
    assert.deepEqual(served, [{ client: home, work: repeated }]);
  });

  test('waits for its connection, and gets it before other work', () => {
    const { connections, served, home, other } = openHome();
    for (const name of ['a', 'b', 'waiting']) connections.request(new NotedWork(name));
    const repeated = new NotedWork(null, true);
    connections.request(repeated);
    assert.deepEqual(
      served.map((each) => each.client),
      [other, home],
    );
    connections.giveBack(home, served[1]!.work);
    assert.deepEqual(served[2], { client: home, work: repeated });
    connections.giveBack(home, repeated);
    assert.equal(served[3]!.work.client, 'waiting');
  });

  test('runs on another connection if its own stays in use, and stays there', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { connections, served, other } = openHome();
    for (const name of ['short', 'long']) connections.request(new NotedWork(name));
    const repeated = new NotedWork(null, true);
    connections.request(repeated);
    t.mock.timers.tick(99);
    connections.giveBack(other, served[0]!.work);
    assert.equal(served.length, 2);
    t.mock.timers.tick(1);
    assert.deepEqual(served[2], { client: other, work: repeated });
    connections.giveBack(other, repeated);
    const next = new NotedWork(null, true);
    connections.request(next);
    assert.deepEqual(served[3], { client: other, work: next });
  });

  test('runs on another connection if its own is gone', () => {
    const { connections, served, home, other } = openHome();
    connections.noteBroken(home, new Error('gone'));
    connections.request(new NotedWork(null, true));
    assert.equal(served[0]!.client, other);
  });

  test('that waits for its connection can be withdrawn, and is refused when the connections close', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { connections, served, home } = openHome();
    for (const name of ['a', 'b']) connections.request(new NotedWork(name));
    const [withdrawn, refused] = [new NotedWork(null, true), new NotedWork(null, true)];
    for (const work of [withdrawn, refused]) connections.request(work);
    connections.withdraw(withdrawn);
    void connections.close();
    connections.giveBack(home, served[1]!.work);
    t.mock.timers.tick(1000);
    assert.deepEqual([served.length, withdrawn.refused, refused.refused?.reason], [2, null, 'closed']);
  });
});
