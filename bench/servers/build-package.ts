/** Builds rowgraph as it is published: this is what users run, without the memory and the start-up time of type stripping. */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** The folder of this checkout. */
export const ownRoot = fileURLToPath(new URL('../..', import.meta.url));

/** Rebuilds `dist/` of a checkout. */
export function buildPackage(root: string): void {
  execFileSync('npm', ['run', 'build'], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
}
