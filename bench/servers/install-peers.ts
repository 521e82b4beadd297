/**
 * Installs the packages of the other servers outside the project's own, when they are first needed, so that nobody else has to wait for
 * them.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const peersFolder: string = fileURLToPath(new URL('../.work/peers', import.meta.url));
const wanted = fileURLToPath(new URL('../peers/package.json', import.meta.url));

/** Null if the packages are installed, otherwise why they are not. */
export function installPeers(): string | null {
  const copy = `${peersFolder}/package.json`;
  const marker = `${peersFolder}/node_modules/postgraphile`;
  if (existsSync(marker) && readFileSync(copy, 'utf8') === readFileSync(wanted, 'utf8')) return null;
  console.log('Installing the peers of the benchmark, once …');
  mkdirSync(peersFolder, { recursive: true });
  copyFileSync(wanted, copy);
  const { status, stderr, error } = spawnSync('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: peersFolder,
    encoding: 'utf8',
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  return status === 0 ? null : (error?.message ?? stderr.trim().split('\n')[0] ?? 'npm install failed');
}

/** The version of an installed package. */
export function peerVersion(name: string): string {
  return (JSON.parse(readFileSync(`${peersFolder}/node_modules/${name}/package.json`, 'utf8')) as { version: string }).version;
}
