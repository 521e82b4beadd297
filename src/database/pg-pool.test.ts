/** A pool whose server refuses connections: what waits for them, what is refused, and how often it is asked. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { DatabaseError } from '../errors/database-error.ts';
import { Distribution, secondBounds } from '../statistics.ts';
import type { Connector } from './connector.ts';
import { Pace } from './pace.ts';
import { PgPool } from './pg-pool.ts';
import { PgRun } from './pg-run.ts';

const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
const serverError = (code: string): Error => Object.assign(new Error(code), { severity: 'FATAL', code });

/** A pool whose attempts to open a connection a test answers, with a clock that it moves. */
function start(context: TestContext) {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  context.mock.method(Math, 'random', () => 0.5);
  const clock = { now: 0 };
  context.mock.method(performance, 'now', () => clock.now);
  const attempts: ((error: unknown, connection: null) => void)[] = [];
  const connector: Connector = {
    size: 5,
    isOwn: true,
    idleCount: 0,
    isWanted: false,
    open: (onOpened) => void attempts.push(onOpened),
    close() {},
    openClient: () => assert.fail(),
    createReplicationClient: () => assert.fail(),
    wrap: () => assert.fail(),
    leave: async () => {},
  };
  const pace = new Pace();
  const failures: number[] = [];
  const seconds = new Distribution(secondBounds);
  const pool = new PgPool(
    () => connector,
    {
      bounds: { length: 100, bytes: 1000, timeoutMillis: 60_000 },
      budget: null,
      pace,
      onError: (_, left) => void failures.push(left),
    },
    { pace, batchSeconds: seconds, batchBytes: seconds, isReplaceable: false, queueAgain() {}, onResend() {} },
  );
  const outcomes: string[] = [];
  const ask = (count = 1): void => {
    for (let index = 0; index < count; index++) {
      const batch = { session: null, statements: [], template: {} };
      const reject = ({ message }: DatabaseError): void => void outcomes.push(message);
      pool.add(new PgRun({ kind: 'batch', batch }, null, pace, { resolve() {}, reject }));
    }
    pool.dispatch();
  };
  const refuse = (error: unknown): void => attempts.shift()!(error, null);
  const pass = (millis: number): void => {
    clock.now += millis;
    context.mock.timers.tick(millis);
  };
  return { pool, attempts, failures, outcomes, ask, refuse, pass, waiting: () => pool.readStatistics().waiting };
}

test('a connection is opened for each run, up to the size of the pool', (context) => {
  const { ask, attempts } = start(context);
  ask(3);
  assert.equal(attempts.length, 3);
  ask(10);
  assert.equal(attempts.length, 5);
});

for (const sqlstate of ['53300', '57P01', '57P03'])
  test(`a server that refuses connections with ${sqlstate} is waited for, and asked for one at a time, after a pause`, (context) => {
    const { ask, refuse, pass, attempts, outcomes, failures, waiting } = start(context);
    ask(4);
    for (let count = 0; count < 4; count++) refuse(serverError(sqlstate));
    assert.deepEqual([attempts.length, failures, outcomes, waiting()], [0, [0, 0, 0, 0], [], 4]);
    for (let round = 0; round < 20; round++) {
      pass(149);
      assert.equal(attempts.length, 0);
      pass(1);
      assert.equal(attempts.length, 1);
      refuse(serverError(sqlstate));
    }
    assert.deepEqual([outcomes, waiting()], [[], 4]);
  });

test('a server that was never there is not waited for: each run is told why, and later ones at once', (context) => {
  const { ask, refuse, pass, attempts, outcomes, waiting } = start(context);
  ask(3);
  for (let count = 0; count < 3; count++) refuse(refused);
  assert.deepEqual([outcomes, waiting()], [Array(3).fill(refused.message), 0]);
  ask();
  assert.deepEqual([outcomes.length, attempts.length], [4, 0]);
  pass(150);
  ask();
  assert.deepEqual([outcomes.length, attempts.length], [4, 1], 'an attempt is due again');
  ask();
  assert.equal(outcomes.length, 5, 'while it is under way, others are refused');
});

test('an attempt that fails after the pool was closed is not reported', async (context) => {
  const { pool, ask, refuse, failures, outcomes } = start(context);
  ask();
  await pool.close();
  refuse(refused);
  assert.deepEqual([failures, outcomes], [[], ['The database is closed']]);
});
