/**
 * Loaded into a server under attack (`--import`). Writes the longest turn of its event loop, in milliseconds, to the file that ABUSE_BLOCKS
 * names; starts over when the file is removed. A turn counts with the CPU time of the main thread if that is less than its duration, so
 * that other programs on the machine do not count.
 */
import { existsSync, writeFileSync } from 'node:fs';
import process from 'node:process';

const file = process.env.ABUSE_BLOCKS;
const interval = 5;
let longest = 0;
let last = performance.now();
let lastUse = process.threadCpuUsage();

function note(): void {
  const now = performance.now();
  const use = process.threadCpuUsage(lastUse);
  const block = Math.min(now - last, (use.user + use.system) / 1000);
  if (block > longest && file !== undefined) {
    longest = block;
    writeFileSync(file, String(longest));
  }
  last = performance.now();
  lastUse = process.threadCpuUsage();
}

function lookForReset(): void {
  if (file !== undefined && !existsSync(file)) longest = 0;
}

setInterval(note, interval).unref();
setInterval(lookForReset, 200).unref();
