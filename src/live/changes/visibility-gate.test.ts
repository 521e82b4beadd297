import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isVisible, parseSnapshot, VisibilityGate } from './visibility-gate.ts';

test('a transaction is visible in a snapshot that began after its end', () => {
  const snapshot = parseSnapshot('10:20:12,15');
  const visible = [9, 10, 12, 13, 15, 19, 20, 21].filter((xid) => isVisible(xid, snapshot));
  assert.deepEqual(visible, [9, 10, 13, 19]);
  assert.deepEqual(
    [9, 10].map((xid) => isVisible(xid, parseSnapshot('10:10:'))),
    [true, false],
  );
});

test('an id of 32 bits is the one nearest to the snapshot', () => {
  const epoch = 3n << 32n;
  // Just before and after the ids of 32 bits begin again.
  const snapshot = parseSnapshot(`${epoch - 5n}:${epoch + 5n}:${epoch - 5n},${epoch + 1n}`);
  const last = 2 ** 32;
  assert.deepEqual(
    [last - 6, last - 5, last - 1, 0, 1, 2, 5].map((xid) => isVisible(xid, snapshot)),
    [true, false, true, true, false, true, false],
  );
});

test('commits come out when they are visible, together, and none is asked for again', async () => {
  const snapshots = ['5:8:6', '5:8:6', '9:9:'];
  const released: (readonly number[] | null)[] = [];
  const { promise: done, resolve } = Promise.withResolvers<void>();
  const gate = new VisibilityGate(
    async () => snapshots.shift() ?? assert.fail(),
    (tables) => {
      released.push(tables === null ? null : [...tables].sort());
      if (released.length === 2) resolve();
    },
    (error) => assert.fail(String(error)),
  );
  gate.add({ xid: 5, tables: new Set([1]) });
  gate.add({ xid: 7, tables: new Set([1, 2]) });
  gate.add({ xid: 6, tables: new Set([3]) });
  await done;
  assert.deepEqual(released, [[1, 2], [3]]);
  assert.deepEqual(snapshots, []);
  gate.close();
});

test('commits that follow soon are asked for together', async () => {
  const snapshots = ['6:6:', '9:9:'];
  const released: (readonly number[])[] = [];
  const { promise: done, resolve } = Promise.withResolvers<void>();
  const gate: VisibilityGate = new VisibilityGate(
    async () => snapshots.shift() ?? assert.fail(),
    (tables) => {
      released.push([...(tables ?? [])].sort());
      if (released.length === 2) return resolve();
      gate.add({ xid: 6, tables: new Set([2]) });
      setImmediate(() => gate.add({ xid: 7, tables: new Set([3]) }));
    },
    (error) => assert.fail(String(error)),
  );
  gate.add({ xid: 5, tables: new Set([1]) });
  await done;
  assert.deepEqual(released, [[1], [2, 3]]);
  gate.close();
});

test('a gate that cannot ask says so, and releases nothing', async () => {
  const { promise: failed, resolve } = Promise.withResolvers<unknown>();
  const gate = new VisibilityGate(
    () => Promise.reject(new Error('lost')),
    () => assert.fail(),
    resolve,
  );
  gate.add({ xid: 5, tables: null });
  assert.equal(String(await failed), 'Error: lost');
});
