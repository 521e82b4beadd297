/**
 * Snapshots of a database, kept in the user's cache folder: of an empty one, which takes PGlite three seconds to initialise and half a
 * second to load, and of the one with the example. Each is a single compressed file with a checksum, and there is one set per version of
 * PGlite.
 */
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { constants, zstdCompress, zstdDecompress } from 'node:zlib';

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

/** A snapshot as a tar archive; null if there is no intact one. */
export async function readSnapshot(cacheFolder: string, name: string): Promise<Blob | null> {
  try {
    const compressed = await readFile(await snapshotFile(cacheFolder, name));
    // With the default chunks of 16 kB, Node takes four times as long.
    return new Archive(await decompress(compressed, { chunkSize: 1024 * 1024 }));
  } catch {
    return null;
  }
}

/** Stores a snapshot. If the cache folder is not writable, this does not fail: the next start only takes longer. */
export async function saveSnapshot(cacheFolder: string, name: string, snapshot: Blob): Promise<void> {
  const file = await snapshotFile(cacheFolder, name);
  const part = `${file}.${process.pid}`;
  try {
    const archive = Buffer.from(await snapshot.arrayBuffer());
    const compressed = await compress(archive, { params: { [constants.ZSTD_c_checksumFlag]: 1 } });
    await mkdir(cacheFolder, { recursive: true });
    await writeFile(part, compressed);
    // A rename is atomic, so no other process ever reads a partial file.
    await rename(part, file);
  } catch {
    await rm(part, { force: true }).catch(() => undefined);
  }
}

/** A blob that is read without copying it piece by piece, which would take a tenth of a second for these forty megabytes. */
class Archive extends Blob {
  readonly #bytes: Buffer;

  constructor(bytes: Buffer) {
    super([]);
    this.#bytes = bytes;
  }

  override async arrayBuffer(): Promise<ArrayBuffer> {
    const { buffer, byteOffset, byteLength } = this.#bytes;
    return buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer;
  }
}

async function snapshotFile(cacheFolder: string, name: string): Promise<string> {
  const packageFile = new URL('../package.json', import.meta.resolve('@electric-sql/pglite'));
  const { version } = JSON.parse(await readFile(packageFile, 'utf8')) as { version: string };
  return join(cacheFolder, `pglite-${version}-${name}.tar.zst`);
}
