import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Setup } from './coverage.ts';

type Table = [id: number, kind: string, isPublished: boolean, trigger: string | null, isSubscribed: boolean];

function setup(tables: readonly Table[], inherits: readonly [child: number, parent: number][] = [], followed = true): Setup {
  const functions = [...new Set(tables.flatMap(([, , , trigger]) => trigger ?? []))];
  const published = tables.filter(([, , isPublished]) => isPublished).length;
  return new Setup({ methods: { publication: true, published, functions }, followed, tables, others: [90, 91], inherits });
}

const coveredBy = (all: Setup, method: 'wal' | 'messages' | 'table' | 'notify', ids: readonly number[]): number[] =>
  ids.filter((id) => all.coverageOf(method).covers(id));

test('a table is covered if it is published or has the trigger of the method', () => {
  const all = setup([
    [1, 'r', true, null, false],
    [2, 'r', false, 'emit_change', false],
    [3, 'r', false, 'record_change', false],
    [4, 'r', false, null, false],
    [5, 'm', false, null, false],
    [6, 'f', false, null, false],
    // What logical replication writes fires no triggers of statements, but is in the log.
    [7, 'r', false, 'emit_change', true],
    [8, 'r', true, null, true],
  ]);
  assert.deepEqual(coveredBy(all, 'wal', [1, 2, 3, 4, 5, 6, 7, 8, 90, 99]), [1, 2, 5, 8, 90]);
  assert.deepEqual(coveredBy(all, 'table', [1, 2, 3, 4, 5]), [3, 5]);
  assert.deepEqual(all.methods, ['wal', 'table']);
  assert.deepEqual(coveredBy(setup([[5, 'm', false, null, false]], [], false), 'wal', [5]), []);
});

test('a parent is covered if all its descendants are, and a child with a trigger if its parents have one', () => {
  const inherits: [number, number][] = [
    [2, 1],
    [3, 1],
    [4, 3],
  ];
  const tables = (leaf: Table, root: Table = [1, 'p', false, null, false]): Table[] => [
    root,
    [2, 'r', true, null, false],
    [3, 'p', false, null, false],
    leaf,
  ];
  assert.deepEqual(coveredBy(setup(tables([4, 'r', true, null, false]), inherits), 'wal', [1, 2, 3, 4]), [1, 2, 3, 4]);
  assert.deepEqual(coveredBy(setup(tables([4, 'r', false, null, false]), inherits), 'wal', [1, 2, 3, 4]), [2]);
  // A statement on table 1 or 3 does not fire the trigger of table 4.
  assert.deepEqual(coveredBy(setup(tables([4, 'r', false, 'emit_change', false]), inherits), 'wal', [1, 2, 3, 4]), [2]);
  const triggered = setup(
    [
      [1, 'p', false, 'emit_change', false],
      [2, 'r', true, null, false],
      [3, 'p', false, 'emit_change', false],
      [4, 'r', false, 'emit_change', false],
    ],
    inherits,
  );
  assert.deepEqual(coveredBy(triggered, 'wal', [1, 2, 3, 4]), [1, 2, 3, 4]);
  assert.deepEqual([...triggered.coverageOf('wal').relativesOf(new Set([3]))].sort(), [1, 3, 4]);
});
