import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ReplyReader } from './reply-reader.ts';

const message = (type: string, body: Buffer): Buffer => {
  const header = Buffer.alloc(5);
  header.write(type);
  header.writeUInt32BE(4 + body.length, 1);
  return Buffer.concat([header, body]);
};

const dataRow = (...values: (string | null)[]): Buffer => {
  const count = Buffer.alloc(2);
  count.writeUInt16BE(values.length);
  const fields = values.map((value) => {
    const length = Buffer.alloc(4);
    length.writeInt32BE(value === null ? -1 : Buffer.byteLength(value));
    return Buffer.concat([length, Buffer.from(value ?? '')]);
  });
  return message('D', Buffer.concat([count, ...fields]));
};

const reply = Buffer.concat([
  message('1', Buffer.alloc(0)),
  message('2', Buffer.alloc(0)),
  dataRow('ä"€😀', null, ''),
  message('C', Buffer.from('SELECT 1\0')),
  message('N', Buffer.from('SNOTICE\0\0')),
  dataRow('x'.repeat(1000)),
  message('C', Buffer.from('SELECT 1\0')),
  message('Z', Buffer.from('I')),
]);

function readIn(chunks: readonly Buffer[], admits = (_length: number): boolean => true): unknown[] {
  const heard: unknown[] = [];
  const reader = new ReplyReader({
    admits,
    wantsRow: () => true,
    value: (bytes, start, end) => bytes.toString('utf8', start, end),
    row: (values) => heard.push(values),
    complete: () => heard.push('complete'),
    other: (bytes) => heard.push(bytes.toString('latin1')),
  });
  for (const chunk of chunks) reader.read(chunk);
  return heard;
}

const expected = [['ä"€😀', null, ''], 'complete', 'N\0\0\0\rSNOTICE\0\0', ['x'.repeat(1000)], 'complete', 'Z\0\0\0\x05I'];

test('rows are read, what is not about rows is handed on', () => {
  assert.deepEqual(readIn([reply]), expected);
});

test('messages may be cut anywhere', () => {
  for (let size = 1; size < reply.length; size += size < 40 ? 1 : 97) {
    const chunks = [];
    for (let start = 0; start < reply.length; start += size) chunks.push(reply.subarray(start, start + size));
    assert.deepEqual(readIn(chunks), expected, `chunks of ${size} bytes`);
  }
});

test('rows that are not admitted are passed over, wherever they are cut', () => {
  const others = expected.filter((heard) => !Array.isArray(heard) || heard[0] !== 'x'.repeat(1000));
  for (let size = 1; size <= reply.length; size += size < 40 ? 1 : 97) {
    const chunks = [];
    for (let start = 0; start < reply.length; start += size) chunks.push(reply.subarray(start, start + size));
    assert.deepEqual(
      readIn(chunks, (length) => length < 1000),
      others,
      `chunks of ${size} bytes`,
    );
  }
});
