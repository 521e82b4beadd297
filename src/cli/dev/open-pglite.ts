/**
 * Opens PGlite on a folder that has data, or from the snapshot of a new database. The snapshot is made at most once and kept in the cache
 * folder.
 */
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { constants, zstdCompress, zstdDecompress } from 'node:zlib';
import { type Extensions, PGlite, type PGliteOptions } from '@electric-sql/pglite';
import { pgliteExtension } from '../../extension/pglite-extension.ts';
import type { Progress } from '../output/terminal.ts';

export interface DatabaseTarget {
  /** Null keeps everything in memory. */
  readonly folder: string | null;
  readonly cacheFolder: string;
  readonly extensions: Extensions;
  readonly progress: Progress;
}

/** As on Supabase; PostgreSQL skips schemas that do not exist. */
const searchPath = '"$user", public, extensions';

/** Opens the database in the target's folder. */
export function openExisting(target: DatabaseTarget): Promise<PGlite> {
  return target.progress.step('Opening the embedded database', () => PGlite.create(targetOf(target)));
}

/** A new database, filled by `fill`. */
export async function openAndFill(target: DatabaseTarget, fill: (pglite: PGlite) => Promise<void>): Promise<PGlite> {
  const pglite = await openEmpty(target);
  try {
    await fill(pglite);
    return pglite;
  } catch (error) {
    // Left open, it would keep the process from ending.
    await pglite.close();
    throw error;
  }
}

/** The same, but cached: the next start with the same `name` has it at once. */
export async function openFilledOnce(target: DatabaseTarget, name: string, fill: (pglite: PGlite) => Promise<void>): Promise<PGlite> {
  const kept = await openKept(target, name);
  if (kept !== null) return kept;
  return openAndFill(target, async (pglite) => {
    await fill(pglite);
    await keep(pglite, target, name);
  });
}

/** A new, empty database. */
async function openEmpty(target: DatabaseTarget): Promise<PGlite> {
  const kept = await openKept(target, 'empty');
  if (kept !== null) return kept;
  const initialise = (): Promise<PGlite> => PGlite.create(targetOf(target));
  const pglite = await target.progress.step('Initializing the embedded database (first start only)', initialise, { isLong: true });
  await keep(pglite, target, 'empty');
  return pglite;
}

async function openKept(target: DatabaseTarget, name: string): Promise<PGlite | null> {
  const snapshot = await readSnapshot(target.cacheFolder, name);
  if (snapshot === null) return null;
  try {
    return await target.progress.step('Starting the embedded database', () =>
      PGlite.create({ ...targetOf(target), loadDataDir: snapshot }),
    );
  } catch {
    // The cached snapshot is unusable: make a new one.
    if (target.folder !== null) await rm(target.folder, { recursive: true, force: true });
    return null;
  }
}

/** Reads the snapshot now; compressing and writing it continues in the background. */
async function keep(pglite: PGlite, { cacheFolder }: DatabaseTarget, name: string): Promise<void> {
  await pglite.exec('checkpoint');
  void saveSnapshot(cacheFolder, name, await pglite.dumpDataDir('none'));
}

function targetOf({ folder, extensions }: DatabaseTarget): PGliteOptions {
  // PGlite's default of 160 MB of buffers would be cleared at each start, and a small database uses little of it.
  const startParams = [...PGlite.defaultStartParams, '-c', 'shared_buffers=32MB', '-c', `search_path=${searchPath}`];
  return { extensions: { ...extensions, rowgraph: pgliteExtension }, startParams, ...(folder === null ? {} : { dataDir: folder }) };
}

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
