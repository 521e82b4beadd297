/**
 * Restarts this process with settings of V8 and of the C library that keep a server small; they can only be given when Node starts. Process
 * id, standard streams and command line do not change (execve of POSIX).
 *
 * Relies on `process.execve`, which Node calls experimental (`test/contracts/node.test.ts`); without it, or if it fails, Node runs with its own settings.
 */
import type { Environment } from './config.ts';

/**
 * In MB. By default V8 lets each half of its young generation grow to 32 MB, which takes memory but makes no server faster: objects as
 * short-lived as a request are gone long before, and a larger space fits the CPU's caches less well (docs/deployment.md has figures).
 */
const semiSpace = 8;
/**
 * How far the old generation may grow beyond the objects that survived its latest collection, in percent of them; 300 by default on a
 * machine with much memory.
 */
const growingPercent = 100;
/** The number of arenas in which glibc manages memory; its default is eight per core. Other C libraries ignore this. */
const arenas = { MALLOC_ARENA_MAX: '2' };
const chosen = /--max[-_]semi[-_]space[-_]size/;

/** Restarts Node, unless that was already done or is unsupported here. `compileCache` is the folder of Node's compile cache. */
export function restartSmall(environment: Environment, compileCache: string): void {
  const hasChosen = chosen.test([environment.NODE_OPTIONS, ...process.execArgv].join(' '));
  // The channel to a parent process would be lost.
  if (hasChosen || process.connected || process.execve === undefined || process.platform === 'win32') return;
  const flags = [`--max-semi-space-size=${semiSpace}`, `--heap-growing-percent=${growingPercent}`];
  const command = [process.execPath, ...flags, ...process.execArgv, ...process.argv.slice(1)];
  // If the whole program is in this cache, the type stripper is never loaded.
  try {
    process.execve(process.execPath, command, { NODE_COMPILE_CACHE: compileCache, ...arenas, ...environment });
  } catch {
    // Node's permission model does not allow it (`--permission` without `--allow-child-process`).
  }
}
