import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { Deadline } from '../../budget/deadline.ts';
import { type ContentEncoding, compressBody } from './compress-body.ts';

const decompressors = { zstd: zstdDecompressSync, br: brotliDecompressSync, gzip: gunzipSync } satisfies Record<ContentEncoding, unknown>;

describe('compressBody', () => {
  for (const [encoding, decompress] of Object.entries(decompressors)) {
    // The larger one is compressed as a stream.
    for (const count of [3, 60]) {
      it(`compresses ${count} pieces by ${encoding} without loss`, async () => {
        const chunks = Array.from({ length: count }, (_, index) => Buffer.from(`piece ${index} of a body, é🦀;`.repeat(1000)));
        const whole = Buffer.concat(chunks);
        const compressed = await compressBody({ chunks, length: whole.length }, encoding as ContentEncoding, null);
        assert.ok(compressed !== null);
        const bytes = Buffer.concat(compressed.chunks);
        assert.equal(bytes.length, compressed.length);
        assert.ok(bytes.length < whole.length / 3);
        assert.ok(decompress(bytes).equals(whole));
      });
    }
  }

  it('rejects if it cannot compress', async () => {
    const chunks = [Buffer.alloc(2_000_000)];
    chunks[Symbol.iterator] = () => {
      throw new Error('broken');
    };
    await assert.rejects(compressBody({ chunks, length: 2_000_000 }, 'gzip', null), /broken/);
  });

  for (const reason of ['expired', 'abandoned'] as const) {
    it(`stops if the request is ${reason}`, async () => {
      const deadline = new Deadline(60_000);
      const chunks = Array.from({ length: 30 }, () => Buffer.alloc(1_000_000, 'words '));
      const compressed = compressBody({ chunks, length: 30_000_000 }, 'gzip', deadline);
      deadline.stop(reason);
      assert.equal(await compressed, null);
    });
  }
});
