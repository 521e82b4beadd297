/**
 * Loaded into a server under attack (`--import`). Writes to the file that ABUSE_USE names how many MB V8's heap and the buffers of the
 * process had in use when they had fewest, which is after a garbage collection. Starts over when the file is removed.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { getHeapStatistics } from 'node:v8';

const file = process.env.ABUSE_USE;
let least = Infinity;

function note(): void {
  if (file === undefined) return;
  if (!existsSync(file)) least = Infinity;
  const { used_heap_size, external_memory } = getHeapStatistics();
  const used = (used_heap_size + external_memory) / 2 ** 20;
  if (used >= least) return;
  least = used;
  writeFileSync(file, String(least));
}

setInterval(note, 200).unref();
