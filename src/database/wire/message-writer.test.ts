import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MessageWriter } from './encode-batch.ts';

/** The same messages, each made of its own pieces. */
function expectedOf(texts: readonly (string | null)[]): Buffer {
  const pieces = texts.map((text) => {
    const bytes = Buffer.from(text ?? '');
    const fields = Buffer.alloc(10);
    fields.writeInt32BE(text === null ? -1 : bytes.length, 0);
    fields.writeUInt16BE(texts.length, 4);
    fields.writeInt32BE(texts.length - 70_000, 6);
    const body = Buffer.concat([bytes, Buffer.from([0]), fields.subarray(0, 4), bytes, fields.subarray(4)]);
    const head = Buffer.from('B\0\0\0\0');
    head.writeInt32BE(body.length + 4, 1);
    return Buffer.concat([head, body]);
  });
  return Buffer.concat(pieces);
}

function encode(writer: MessageWriter, texts: readonly (string | null)[], fails = false): Buffer {
  return writer.encode(() => {
    for (const text of texts) {
      writer.begin(0x42);
      writer.terminated(text ?? '');
      writer.value(text);
      writer.int16(texts.length);
      writer.int32(texts.length - 70_000);
      writer.end();
    }
    if (fails) throw new Error('no such value');
  });
}

test('messages of any length and text are written as the protocol says, and stay as they are while others are written', () => {
  const writer = new MessageWriter();
  const characters = ['x', '7', '"', '\u007f', '\u0080', 'é', '€', '😀', '\ud800'];
  const lengths = [0, 1, 31, 32, 33, 500, 5_000, 70_000];
  const written: { readonly bytes: Buffer; readonly expected: Buffer }[] = [];
  for (let round = 0; round < 300; round++) {
    const texts = Array.from({ length: round % 7 }, (_, index) => {
      const length = lengths[(round * 5 + index * 3) % (round % 50 === 0 ? 8 : 6)]!;
      const character = characters[(round + index) % characters.length]!;
      return index % 5 === 4 ? null : 'x'.repeat(Math.max(0, length - 1)) + (length > 0 ? character : '');
    });
    if (round % 9 === 0) assert.throws(() => encode(writer, texts, true), /no such value/);
    written.push({ bytes: encode(writer, texts), expected: expectedOf(texts) });
  }
  for (const { bytes, expected } of written) assert.ok(bytes.equals(expected));
});

test('a long batch keeps no more memory than its own bytes', () => {
  const writer = new MessageWriter();
  const long = encode(writer, ['x'.repeat(1_000_000)]);
  assert.equal(long.buffer.byteLength, long.length);
  assert.equal(encode(writer, ['x']).buffer.byteLength, 64 * 1024);
});
