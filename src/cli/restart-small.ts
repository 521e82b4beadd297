/**
 * Starts this process over with the settings of V8 and of the C library that keep a server small; they can only be given when Node starts. Process
 * id, standard streams and command line stay what they are (execve of POSIX).
 *
 * Leans on `process.execve`, which Node calls experimental (`test/contracts/node.test.ts`); a Node without it runs with its own settings.
 */
import type { Environment } from './config.ts';

/**
 * In MB. V8 lets its youngest generation grow to 32 MB twice, which is memory and makes no server faster: what lives as shortly as a request is gone
 * long before, and less of it stays in the caches of the CPU (docs/deployment.md has figures).
 */
const semiSpace = 8;
/** In how many places glibc keeps what threads have freed; left to itself in eight for each core. Others than glibc do not look at it. */
const arenas = { MALLOC_ARENA_MAX: '2' };
const chosen = /--max[-_]semi[-_]space[-_]size/;

/** Restarts Node, unless that was already done or is unsupported here. `compileCache` is the folder of Node's compile cache. */
export function restartSmall(environment: Environment, compileCache: string): void {
  const hasChosen = chosen.test([environment.NODE_OPTIONS, ...process.execArgv].join(' '));
  // The channel to a parent process would be lost.
  if (hasChosen || process.connected || process.execve === undefined || process.platform === 'win32') return;
  const command = [process.execPath, `--max-semi-space-size=${semiSpace}`, ...process.execArgv, ...process.argv.slice(1)];
  // Where all of the program is in this cache, what strips types from it is never loaded.
  process.execve(process.execPath, command, { NODE_COMPILE_CACHE: compileCache, ...arenas, ...environment });
}
