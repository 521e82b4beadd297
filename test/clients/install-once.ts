/** Installs the packages of this folder, unless its lock has not changed since they were installed. */
import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import path from 'node:path';

const folder = import.meta.dirname;

export function installOnce(): void {
  const wanted = statSync(path.join(folder, 'package-lock.json')).mtimeMs;
  const installed = statSync(path.join(folder, 'node_modules/.package-lock.json'), { throwIfNoEntry: false })?.mtimeMs;
  if (installed !== undefined && installed >= wanted) return;
  // `npm ci` refuses a lock that lacks packages of other platforms.
  execFileSync('npm', ['install', '--no-save'], { cwd: folder, stdio: 'inherit' });
}
