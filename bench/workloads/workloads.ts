/** All workloads, in the order of the report. */
import { additions } from './additions.ts';
import { reads } from './reads.ts';
import type { Workload } from './workload.ts';
import { writes } from './writes.ts';

export const workloads: readonly Workload[] = [...reads, ...additions, ...writes];
