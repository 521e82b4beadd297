/**
 * Creates fresh in-memory PGlite databases for tests in a quarter of a second each: the initialised state, which takes 3 s, is created once
 * per version and kept in the temporary folder between runs. Time zone UTC, locale C, encoding UTF8, as on the test server.
 */
import { readFile, rename, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { type Extensions, PGlite } from '@electric-sql/pglite';
import { citext } from '@electric-sql/pglite/contrib/citext';
import { hstore } from '@electric-sql/pglite/contrib/hstore';
import { ltree } from '@electric-sql/pglite/contrib/ltree';
import { pg_trgm } from '@electric-sql/pglite/contrib/pg_trgm';
import { vector } from '@electric-sql/pglite-pgvector';

// Keeps V8 from optimizing PostgreSQL's hot functions, which is half of the work of a start: tests end before that would pay.
setFlagsFromString('--wasm-tiering-budget=1000000000');

let initialised: Promise<Blob> | undefined;

/** Opens an empty database with the extensions citext, hstore, ltree and vector available, and more if asked. The caller closes it. */
export async function startPglite(more: Extensions = {}): Promise<PGlite> {
  // PostgreSQL clears its buffers when it starts, which takes a quarter of the time with the default of 128 MB.
  const startParams = [...PGlite.defaultStartParams, '-c', 'shared_buffers=16MB'];
  return PGlite.create({
    loadDataDir: await initialisedState(),
    extensions: { citext, hstore, ltree, pg_trgm, vector, ...more },
    startParams,
  });
}

/** A data folder as PGlite initialises it, as a tar archive. */
export function initialisedState(): Promise<Blob> {
  initialised ??= readOrMakeState();
  return initialised;
}

async function readOrMakeState(): Promise<Blob> {
  const packageFile = new URL('../package.json', import.meta.resolve('@electric-sql/pglite'));
  const { version } = JSON.parse(await readFile(packageFile, 'utf8')) as { version: string };
  const file = path.join(tmpdir(), `rowgraph-pglite-${process.getuid?.() ?? 'user'}-${version}-small.tar`);
  try {
    return new Blob([await readFile(file)]);
  } catch {
    const state = await makeState();
    // A rename is atomic, so no other process ever reads a partial file.
    const part = `${file}.${process.pid}`;
    await writeFile(part, Buffer.from(await state.arrayBuffer()));
    await rename(part, file);
    return state;
  }
}

async function makeState(): Promise<Blob> {
  const database = await PGlite.create();
  // Two thirds of all files belong to template databases that nobody connects to.
  await database.exec('update pg_database set datistemplate = false');
  for (const template of ['template0', 'template1']) await database.exec(`drop database ${template}`);
  await database.exec('checkpoint');
  const state = await database.dumpDataDir('none');
  await database.close();
  return state;
}
