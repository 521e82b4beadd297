import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CopyReader } from './copy-reader.ts';

function message(type: string, content: Buffer | string): Buffer {
  const body = Buffer.from(content);
  const header = Buffer.alloc(5);
  header.write(type);
  header.writeUInt32BE(body.length + 4, 1);
  return Buffer.concat([header, body]);
}

/** What a reader makes of bytes that come in chunks of this size. */
function readIn(bytes: Buffer, size: number): string[] {
  const read: string[] = [];
  const reader = new CopyReader({
    started: () => void read.push('started'),
    data: (from, start, end, isWhole) =>
      void read.push(`${from.toString('latin1', start, Math.min(end, start + 5))} ${end - start} ${isWhole}`),
    failed: (fields) => void read.push(`failed ${fields.get('C')} ${fields.get('M')}`),
    done: () => void read.push('done'),
  });
  // Each chunk is overwritten once it was read, as the buffer of a socket is.
  for (let start = 0; start < bytes.length; start += size) {
    const chunk = Buffer.from(bytes.subarray(start, start + size));
    reader.read(chunk);
    chunk.fill(0);
  }
  return read;
}

test('messages are the same however they are cut', () => {
  const bytes = Buffer.concat([
    message('S', 'name\0value\0'),
    message('W', '\0\0\0'),
    message('d', 'first'),
    message('d', ''),
    message('d', 'x'.repeat(50_000)),
    message('N', 'M'.repeat(20_000)),
    message('d', 'last'),
    message('E', 'SERROR\0C57P01\0Mended\0\0'),
    message('c', ''),
  ]);
  const whole = readIn(bytes, bytes.length);
  assert.deepEqual(whole, ['started', 'first 5 true', ' 0 true', 'xxxxx 16379 false', 'last 4 true', 'failed 57P01 ended', 'done']);
  for (const size of [1, 2, 3, 5, 7, 64, 1000, 16_383, 16_384, 16_385, 50_000])
    assert.deepEqual(readIn(bytes, size), whole, `chunks of ${size}`);
});
