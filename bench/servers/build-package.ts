/** Builds rowgraph as it is published: what users run, without the memory and the start that stripping types takes. */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Where this checkout is. */
export const ownRoot = fileURLToPath(new URL('../..', import.meta.url));

/** Makes `dist/` of a checkout anew. */
export function buildPackage(root: string): void {
  execFileSync('npm', ['run', 'build'], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
}
