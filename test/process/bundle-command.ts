/**
 * Bundles the command `rowgraph`, so that the hundreds of processes that tests start load a few files instead of a thousand, in a third of the time. The
 * sources are what `npm start` runs, and `test/package` runs what is published: the bundle is only for `npm test`.
 */
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type OutputFile, type Plugin } from 'esbuild';

const root = path.join(import.meta.dirname, '../..');
/** Where the packages that are not bundled are found. */
const folder = path.join(root, 'dist/test-command');

/** What the sources read beside themselves, they go on reading from where they are. */
const ownPlaces: Plugin = {
  name: 'own places',
  setup({ onLoad }) {
    onLoad({ filter: /\/src\/.*\.ts$/ }, async ({ path: file }) => {
      const text = await readFile(file, 'utf8');
      return { contents: text.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(file).href)), loader: 'ts' };
    });
  },
};

/** Makes the bundle of the sources as they are now. Out: the file to run. */
export async function bundleCommand(): Promise<string> {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: ['src/cli/main.ts'],
    outdir: folder,
    write: false,
    bundle: true,
    // What a command does not need is not loaded.
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node22',
    plugins: [ownPlaces],
    // They load files of theirs by name.
    external: ['@electric-sql/*', '@opentelemetry/*', 'pino', 'esbuild', 'pg-native'],
    banner: { js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);" },
    logLevel: 'error',
  });
  await writeAll(outputFiles);
  return path.join(folder, 'main.js');
}

/** Chunks are named after what is in them, so that a run that is under way keeps its own until it ends. */
async function writeAll(files: readonly OutputFile[]): Promise<void> {
  await mkdir(folder, { recursive: true });
  const written = new Set(await readdir(folder));
  const fresh = files.filter(({ path: file }) => !written.has(path.basename(file)) || path.basename(file) === 'main.js');
  for (const { path: file, contents } of fresh) {
    const part = `${file}.${process.pid}`;
    await writeFile(part, contents);
    await rename(part, file);
  }
}
