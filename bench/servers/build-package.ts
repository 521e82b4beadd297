/** Builds rowgraph as it is published: what users run, without the memory and the start that stripping types takes. */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Makes `dist/` anew. */
export function buildPackage(): void {
  execFileSync('npm', ['run', 'build'], { cwd: fileURLToPath(new URL('../..', import.meta.url)), stdio: ['ignore', 'ignore', 'inherit'] });
}
