/** The package as it would be published. */
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { root } from '../run-checks.ts';

const run = promisify(execFile);

/** Of `npm run test:product`, which packs it once for all: nothing builds it anew meanwhile. */
export const packed = process.env.PACKED_ROWGRAPH;

/** Builds the package and packs it into a folder. Out: the file. */
export async function packPackage(folder: string): Promise<string> {
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], { cwd: root, maxBuffer: 10 * 1024 ** 2 });
  // What the build prints comes first.
  const [{ filename } = { filename: '' }] = JSON.parse(stdout.slice(stdout.indexOf('[\n'))) as { filename: string }[];
  return path.join(folder, filename);
}
