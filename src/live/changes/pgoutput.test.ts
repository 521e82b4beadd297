import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Commit, PgoutputReader } from './pgoutput.ts';

const begin = (xid: number): Buffer => bytes('B', 8 + 8 + 4, (content) => content.writeUInt32BE(xid, 16));
const commit = (): Buffer => bytes('C', 25, () => undefined);
const row = (type: 'I' | 'U' | 'D', table: number): Buffer => bytes(type, 10, (content) => content.writeUInt32BE(table));
const truncate = (...tables: number[]): Buffer =>
  bytes('T', 5 + 4 * tables.length, (content) => {
    content.writeUInt32BE(tables.length);
    for (const [index, table] of tables.entries()) content.writeUInt32BE(table, 5 + 4 * index);
  });
const message = (prefix: string, text: string): Buffer =>
  Buffer.concat([bytes('M', 9, () => undefined), Buffer.from(`${prefix}\0\0\0\0${String.fromCharCode(text.length)}${text}`)]);

function bytes(type: string, length: number, fill: (content: Buffer) => void): Buffer {
  const content = Buffer.alloc(length);
  fill(content);
  return Buffer.concat([Buffer.from(type), content]);
}

/** What a reader makes of messages; null stands for the end of a chunk. */
function read(...messages: (Buffer | null)[]): [xid: number, tables: number[] | null][] {
  const commits: Commit[] = [];
  const reader = new PgoutputReader((each) => void commits.push(each));
  for (const each of messages) {
    if (each === null) reader.flush();
    else reader.read(each, 0, each.length, true);
  }
  return commits.map(({ xid, tables }) => [xid, tables === null ? null : [...tables]]);
}

test('each transaction names its tables once', () => {
  const rows = [row('I', 16_400), row('I', 16_400), row('U', 2 ** 32 - 1), row('D', 16_400), truncate(7, 8), message('rowgraph', '16401')];
  assert.deepEqual(read(begin(5), ...rows, commit(), begin(2 ** 32 - 2), row('D', 9), commit()), [
    [5, [16_400, 2 ** 32 - 1, 7, 8, 16_401]],
    [2 ** 32 - 2, [9]],
  ]);
  assert.deepEqual(read(begin(5), commit(), begin(6), message('other', '5'), commit()), [], 'nothing, and what is of others');
});

test('a table is named with its first row, and not again in the same transaction', () => {
  const messages = [
    begin(5),
    row('I', 1),
    null,
    row('I', 1),
    row('I', 2),
    null,
    null,
    row('I', 1),
    commit(),
    begin(6),
    row('I', 1),
    commit(),
  ];
  assert.deepEqual(read(...messages), [
    [5, [1]],
    [5, [2]],
    [6, [1]],
  ]);
});

test('what cannot be read counts as anything', () => {
  assert.deepEqual(read(begin(5), row('I', 1), message('rowgraph', 'x'), commit()), [[5, null]]);
  const commits: Commit[] = [];
  const reader = new PgoutputReader((each) => void commits.push(each));
  reader.read(begin(5), 0, 21, true);
  reader.read(truncate(1, 2), 0, 9, false);
  reader.read(commit(), 0, 26, true);
  assert.deepEqual(commits, [{ xid: 5, tables: null }]);
});

test('a transaction that takes long to arrive holds up others', (context) => {
  const clock = { now: 0 };
  context.mock.method(performance, 'now', () => clock.now);
  const reader = new PgoutputReader(() => undefined);
  assert.equal(reader.isHeldUp(10_000), false);
  reader.read(begin(5), 0, 21, true);
  assert.deepEqual(
    [400, 600, 700, 1200].map((now) => reader.isHeldUp(now)),
    [false, true, false, true],
  );
  reader.read(commit(), 0, 26, true);
  assert.equal(reader.isHeldUp(10_000), false);
});
