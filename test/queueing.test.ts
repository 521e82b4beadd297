/** The queueing model behind docs/scaling.md, where the theory has an exact answer. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { predictClosed, serversFor, timeAt } from '../bench/scaling/queueing.ts';

const near = (actual: number, expected: number): void => assert.ok(Math.abs(actual / expected - 1) < 1e-9, `${actual}, not ${expected}`);

test('one client never waits', () => {
  const { requestsPerSecond, seconds } = predictClosed(1, [
    { demand: 0.001, servers: 1 },
    { demand: 0.003, servers: 4 },
  ]);
  near(seconds, 0.004);
  near(requestsPerSecond, 250);
});

test('many clients keep the slowest station busy', () => {
  const stations = [
    { demand: 0.001, servers: 1 },
    { demand: 0.003, servers: 2 },
  ];
  const { requestsPerSecond, seconds } = predictClosed(1000, stations);
  assert.ok(requestsPerSecond <= 2 / 0.003 && requestsPerSecond > 660, `${requestsPerSecond}`);
  near(requestsPerSecond * seconds, 1000);
  // Two equal stations with one server each: clients / (clients + 1) of what they can do.
  const equal = [
    { demand: 0.01, servers: 1 },
    { demand: 0.01, servers: 1 },
  ];
  near(predictClosed(9, equal).requestsPerSecond, 90);
});

test('random arrivals wait as queueing theory has it', () => {
  near(timeAt({ demand: 0.01, servers: 1 }, 50), 0.02);
  // Erlang's C of two servers that are half busy is a third.
  near(timeAt({ demand: 0.01, servers: 2 }, 100), 0.01 + (1 / 3) * (0.01 / 1));
  assert.equal(timeAt({ demand: 0.01, servers: 1 }, 100), Number.POSITIVE_INFINITY);
  assert.equal(serversFor(0.001, 1000, 0.6), 2);
});
