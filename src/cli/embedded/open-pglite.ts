/** Opens PGlite on a folder that has data, or with the snapshot of a new database, made at most once and kept in the cache folder. */
import { rm } from 'node:fs/promises';
import { type Extensions, PGlite, type PGliteOptions } from '@electric-sql/pglite';
import { pgliteExtension } from '../../extension/pglite-extension.ts';
import type { Progress } from '../progress.ts';
import { readSnapshot, saveSnapshot } from './database-snapshots.ts';

export interface DatabasePlace {
  /** Null keeps everything in memory. */
  readonly folder: string | null;
  readonly cacheFolder: string;
  readonly extensions: Extensions;
  readonly progress: Progress;
}

/** As on Supabase; a schema that does not exist is passed over. */
const searchPath = '"$user", public, extensions';

/** What is in the place's folder. */
export function openExisting(place: DatabasePlace): Promise<PGlite> {
  return place.progress.step('Opening the embedded database', () => PGlite.create(targetOf(place)));
}

/** A new database with what `fill` puts into it. */
export async function openAndFill(place: DatabasePlace, fill: (pglite: PGlite) => Promise<void>): Promise<PGlite> {
  const pglite = await openEmpty(place);
  try {
    await fill(pglite);
    return pglite;
  } catch (error) {
    // Left open, it would keep the process from ending.
    await pglite.close();
    throw error;
  }
}

/** The same, but kept: under the same `name`, the next start has it at once. */
export async function openFilledOnce(place: DatabasePlace, name: string, fill: (pglite: PGlite) => Promise<void>): Promise<PGlite> {
  const kept = await openKept(place, name);
  if (kept !== null) return kept;
  return openAndFill(place, async (pglite) => {
    await fill(pglite);
    await keep(pglite, place, name);
  });
}

/** A new database with nothing in it. */
async function openEmpty(place: DatabasePlace): Promise<PGlite> {
  const kept = await openKept(place, 'empty');
  if (kept !== null) return kept;
  const initialise = (): Promise<PGlite> => PGlite.create(targetOf(place));
  const pglite = await place.progress.step('Initializing the embedded database (first start only)', initialise, { isLong: true });
  await keep(pglite, place, 'empty');
  return pglite;
}

async function openKept(place: DatabasePlace, name: string): Promise<PGlite | null> {
  const snapshot = await readSnapshot(place.cacheFolder, name);
  if (snapshot === null) return null;
  try {
    return await place.progress.step('Starting the embedded database', () => PGlite.create({ ...targetOf(place), loadDataDir: snapshot }));
  } catch {
    // The cached snapshot is unusable: make a new one.
    if (place.folder !== null) await rm(place.folder, { recursive: true, force: true });
    return null;
  }
}

/** Reads the snapshot now; compressing and writing it goes on beside what comes next. */
async function keep(pglite: PGlite, { cacheFolder }: DatabasePlace, name: string): Promise<void> {
  await pglite.exec('checkpoint');
  void saveSnapshot(cacheFolder, name, await pglite.dumpDataDir('none'));
}

function targetOf({ folder, extensions }: DatabasePlace): PGliteOptions {
  // PGlite's own 160 MB of buffers are cleared at each start, which is most of what a small database would use them for.
  const startParams = [...PGlite.defaultStartParams, '-c', 'shared_buffers=32MB', '-c', `search_path=${searchPath}`];
  return { extensions: { ...extensions, rowgraph: pgliteExtension }, startParams, ...(folder === null ? {} : { dataDir: folder }) };
}
