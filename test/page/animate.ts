/** Joins PNG images of one size into an animated one (https://www.w3.org/TR/png-3/#apng-frame-based-animation). */
import { crc32 } from 'node:zlib';

const signature = Buffer.from('89504e470d0a1a0a', 'hex');

interface Chunk {
  readonly type: string;
  readonly data: Buffer;
}

/** The animation, which repeats for ever. `seconds`: how long each image is shown. */
export function animate(images: readonly Buffer[], seconds: number): Buffer {
  const frames = images.map(readChunks);
  const header = frames[0]!.find(({ type }) => type === 'IHDR')!;
  const size = header.data.subarray(0, 8);
  let sequence = 0;
  const number = (value: number): Buffer => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(value);
    return bytes;
  };
  const control = (): Chunk => {
    const delay = Buffer.alloc(4);
    delay.writeUInt16BE(Math.round(seconds * 100), 0);
    delay.writeUInt16BE(100, 2);
    // Its place is the upper left corner, and it replaces the image before.
    return { type: 'fcTL', data: Buffer.concat([number(sequence++), size, number(0), number(0), delay, Buffer.from([0, 0])]) };
  };
  const parts = frames.flatMap((chunks, index) => {
    const pixels = chunks.filter(({ type }) => type === 'IDAT').map(({ data }) => data);
    const first = control();
    if (index === 0) return [first, ...pixels.map((data): Chunk => ({ type: 'IDAT', data }))];
    return [first, ...pixels.map((data): Chunk => ({ type: 'fdAT', data: Buffer.concat([number(sequence++), data]) }))];
  });
  const count: Chunk = { type: 'acTL', data: Buffer.concat([number(frames.length), number(0)]) };
  return Buffer.concat([signature, ...[header, count, ...parts, { type: 'IEND', data: Buffer.alloc(0) }].map(writeChunk)]);
}

function readChunks(image: Buffer): Chunk[] {
  const chunks: Chunk[] = [];
  for (let at = signature.length; at < image.length; ) {
    const length = image.readUInt32BE(at);
    chunks.push({ type: image.toString('latin1', at + 4, at + 8), data: image.subarray(at + 8, at + 8 + length) });
    at += length + 12;
  }
  return chunks;
}

function writeChunk({ type, data }: Chunk): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  checksum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, checksum]);
}
