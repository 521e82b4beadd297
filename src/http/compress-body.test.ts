import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { type ContentEncoding, compressBody } from './compress-body.ts';

const decompressors = { zstd: zstdDecompressSync, br: brotliDecompressSync, gzip: gunzipSync } satisfies Record<ContentEncoding, unknown>;

describe('compressBody', () => {
  for (const [encoding, decompress] of Object.entries(decompressors)) {
    // The second is compressed piece by piece.
    for (const count of [3, 60]) {
      it(`gives back by ${encoding} what ${count} pieces hold`, async () => {
        const chunks = Array.from({ length: count }, (_, index) => Buffer.from(`piece ${index} of a body, é🦀;`.repeat(1000)));
        const whole = Buffer.concat(chunks);
        const compressed = await compressBody({ chunks, length: whole.length }, encoding as ContentEncoding);
        const bytes = Buffer.concat(compressed.chunks);
        assert.equal(bytes.length, compressed.length);
        assert.ok(bytes.length < whole.length / 3);
        assert.ok(decompress(bytes).equals(whole));
      });
    }
  }

  it('rejects where it cannot compress', async () => {
    const chunks = [Buffer.alloc(2_000_000)];
    chunks[Symbol.iterator] = () => {
      throw new Error('broken');
    };
    await assert.rejects(compressBody({ chunks, length: 2_000_000 }, 'gzip'), /broken/);
  });
});
