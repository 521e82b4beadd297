import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ReplyReader, type ReplySink } from './reply-reader.ts';

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

/** Notes what it gets, and hands on notifications. */
const sinkInto = (heard: unknown[], admits = (_length: number): boolean => true): ReplySink<string> => ({
  admits,
  admitsError: (length) => {
    if (length <= 100_000) return true;
    heard.push(`an error of ${length} bytes`);
    return false;
  },
  wantsRow: () => true,
  value: (bytes, start, end) => bytes.toString('utf8', start, end),
  row: (values) => heard.push(values),
  complete: () => heard.push('complete'),
  other: (bytes) => bytes[0] !== 0x41 && heard.push(bytes.toString('latin1')) > 0,
});

function readIn(chunks: readonly Buffer[], admits?: (length: number) => boolean): unknown[] {
  const heard: unknown[] = [];
  const reader = new ReplyReader<string>({ pass: () => assert.fail(), destroy: assert.ifError });
  reader.sink = sinkInto(heard, admits);
  for (const chunk of chunks) reader.read(chunk);
  return heard;
}

const expected = [['ä"€😀', null, ''], 'complete', 'N\0\0\0\rSNOTICE\0\0', ['x'.repeat(1000)], 'complete', 'Z\0\0\0\x05I'];

test('rows are read, what is not about rows is handed on', () => {
  assert.deepEqual(readIn([reply]), expected);
});

test('long notices are skipped, and long errors if they are not wanted', () => {
  const long = Buffer.concat([
    message('N', Buffer.alloc(70_000)),
    message('E', Buffer.alloc(70_000, 'e')),
    message('E', Buffer.alloc(200_000)),
    message('Z', Buffer.from('I')),
  ]);
  for (const size of [7, 65_536, long.length]) {
    const chunks = Array.from({ length: Math.ceil(long.length / size) }, (_, index) => long.subarray(index * size, (index + 1) * size));
    const heard = readIn(chunks).map((what) => String(what).replace(/e{70000}$/, '…'));
    assert.deepEqual(heard, [
      `${message('E', Buffer.alloc(70_000)).toString('latin1', 0, 5)}…`,
      'an error of 200005 bytes',
      'Z\0\0\0\x05I',
    ]);
  }
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

const notification = message('A', Buffer.from(`\0\0\0\x07some_channel\0${'x'.repeat(200)}\0`));

/** Whether bytes end where a message does. */
function areComplete(bytes: Buffer): boolean {
  let end = 0;
  while (end < bytes.length) end += 1 + bytes.readUInt32BE(end + 1);
  return end === bytes.length;
}

test('messages that belong to no reply are passed on complete, even if a reply is awaited from their middle on, or up to it', () => {
  const early = Buffer.concat([reply, notification.subarray(0, 100)]);
  const late = Buffer.concat([notification.subarray(100), reply, notification, notification.subarray(0, 3)]);
  for (let size = 1; size <= late.length; size += size < 40 ? 1 : 97) {
    const passed: Buffer[] = [];
    const heard: unknown[] = [];
    const reader = new ReplyReader<string>({ pass: (messages) => passed.push(Buffer.from(messages)), destroy: assert.ifError });
    const sink = sinkInto(heard);
    const readAll = (bytes: Buffer): void => {
      for (let start = 0; start < bytes.length; start += size) reader.read(bytes.subarray(start, start + size));
    };
    readAll(early);
    reader.sink = {
      ...sink,
      other: (bytes) => {
        if (bytes[0] === 0x5a) reader.sink = null;
        return sink.other(bytes);
      },
    };
    readAll(late);
    readAll(notification.subarray(3));
    assert.deepEqual(heard, expected, `chunks of ${size} bytes`);
    assert.ok(passed.every(areComplete));
    assert.deepEqual(Buffer.concat(passed), Buffer.concat([reply, notification, notification, notification]));
  }
});

test('bytes that are no message end the connection', () => {
  const tooShort = Buffer.from('C\0\0\0\x03');
  const neverLong = Buffer.from('C\0\x01\0\0');
  const neverSoLong = Buffer.from('Dtext');
  for (const bytes of [tooShort, neverLong, neverSoLong, Buffer.concat([notification, neverLong]), notification.subarray(10)]) {
    for (const isAwaited of [true, false]) {
      for (const cut of [bytes.length, bytes.length - 1]) {
        const errors: Error[] = [];
        const reader = new ReplyReader<string>({ pass: () => {}, destroy: (error) => errors.push(error) });
        if (isAwaited) reader.sink = sinkInto([]);
        reader.read(bytes.subarray(0, cut));
        if (errors.length === 0) reader.read(bytes.subarray(cut));
        assert.match(errors.join(), /^LostMessages: PostgreSQL sent something that is no message/);
      }
    }
  }
});
