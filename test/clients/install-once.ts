/** Installs the packages of this folder, unless its lock has not changed since they were installed. */
import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

const folder = import.meta.dirname;

export async function installOnce(): Promise<void> {
  const wanted = statSync(path.join(folder, 'package-lock.json')).mtimeMs;
  const installed = statSync(path.join(folder, 'node_modules/.package-lock.json'), { throwIfNoEntry: false })?.mtimeMs;
  if (installed !== undefined && installed >= wanted) return;
  console.log('Installing the clients …');
  // `npm ci` refuses a lock that lacks packages of other platforms.
  await promisify(execFile)('npm', ['install', '--no-save'], { cwd: folder });
}
