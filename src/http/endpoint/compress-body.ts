/**
 * Compresses large responses for clients that accept it, on Node's thread pool. Keys are sent in headers that browsers never add by
 * themselves, so compressed lengths reveal no secret to other sites (BREACH).
 */
import { Readable, type Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { brotliCompress, constants, createBrotliCompress, createGzip, createZstdCompress, gzip, zstdCompress } from 'node:zlib';
import type { Deadline } from '../../budget/deadline.ts';
import type { ResponseBody } from '../../engine/run/response.ts';
import { parsePreferences } from './preferences.ts';

/**
 * In bytes. Measured on a page of rows (Node 24, one core): each call costs 0.2 ms of CPU whatever its input, twice as much as everything
 * else that this server does for a request. A response under 14 KB fits into TCP's first window anyway.
 */
export const compressionThreshold = 8 * 1024;

const compressBrotli = promisify(brotliCompress);
const compressGzip = promisify(gzip);
const compressZstd = promisify(zstdCompress);

/**
 * Each at its fastest level. For 1 MB of rows: zstd takes 5 ms of CPU, brotli 6 ms and gzip 12 ms, down to 25, 27 and 31 % of the size.
 * Their default levels save another 2 to 6 points for 1.2 (zstd), 3 (gzip) and over 100 times (brotli) the CPU.
 */
const levels = {
  br: { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } },
  gzip: { level: 1 },
  zstd: { params: { [constants.ZSTD_c_compressionLevel]: 1 } },
};

interface Compressor {
  /** Compresses the whole body at once, which costs least. */
  readonly whole: (body: Uint8Array) => Promise<Buffer>;
  /** Compresses piece by piece. */
  readonly stream: () => Transform;
}

/**
 * Of several that a client prefers equally, it gets the first. zstd is last: programs set the header as browsers do, though the `fetch` of
 * Node 20 and 22 does not decode zstd.
 */
const encodings = {
  br: { whole: (body) => compressBrotli(body, levels.br), stream: () => createBrotliCompress(levels.br) },
  gzip: { whole: (body) => compressGzip(body, levels.gzip), stream: () => createGzip(levels.gzip) },
  zstd: { whole: (body) => compressZstd(body, levels.zstd), stream: () => createZstdCompress(levels.zstd) },
} satisfies Record<string, Compressor>;

/** In bytes. A larger body is compressed as a stream, so that it is not copied into one buffer. */
const longestWhole = 1024 * 1024;

export type ContentEncoding = keyof typeof encodings;

/** The encodings in which a response may be sent. */
export interface AcceptedEncodings {
  /** The encoding that the client prefers; the first of several that it prefers equally; null if none is acceptable. */
  readonly best: ContentEncoding | null;
  /** Whether a response may be sent unencoded. */
  readonly allowsIdentity: boolean;
}

const names = Object.keys(encodings) as ContentEncoding[];

/** The encodings that the client accepts (RFC 9110, section 12.5.3). `best` is null and `allowsIdentity` false if it rejects all. */
export function negotiateEncoding(acceptEncoding: string): AcceptedEncodings {
  const preferences = parsePreferences(acceptEncoding);
  const qualityOf = (name: string): number | undefined =>
    (preferences.find(({ value }) => value === name) ?? preferences.find(({ value }) => value === '*'))?.quality;
  const best = Math.max(...names.map((name) => qualityOf(name) ?? 0));
  return {
    best: best === 0 ? null : (names.find((name) => qualityOf(name) === best) ?? null),
    // An unencoded response is unacceptable only if rejected by name or by `*`.
    allowsIdentity: qualityOf('identity') !== 0,
  };
}

/** The body in an encoding; null if the deadline stops the request first. */
export async function compressBody(
  { chunks, length }: ResponseBody,
  encoding: ContentEncoding,
  deadline: Deadline | null,
): Promise<ResponseBody | null> {
  const { whole, stream }: Compressor = encodings[encoding];
  if (length > longestWhole) return compressPieces(chunks, stream(), deadline);
  const compressed = await whole(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks));
  return { chunks: [compressed], length: compressed.length };
}

async function compressPieces(chunks: ResponseBody['chunks'], stream: Transform, deadline: Deadline | null): Promise<ResponseBody | null> {
  const compressed: Buffer[] = [];
  const compressing = pipeline(Readable.from(chunks), stream, async (pieces: AsyncIterable<Buffer>) => {
    for await (const piece of pieces) compressed.push(piece);
  });
  deadline?.onStop(() => stream.destroy());
  try {
    await compressing;
  } catch (error) {
    if (deadline === null || deadline.stopped === null) throw error;
    return null;
  } finally {
    deadline?.onStop(null);
  }
  return { chunks: compressed, length: compressed.reduce((total, piece) => total + piece.length, 0) };
}
