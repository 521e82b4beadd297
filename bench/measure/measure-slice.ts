/** One server under one workload for some seconds: its results, and the resources that it used. */
import type { PreparedRequest } from '../load/job.ts';
import { runLoad } from '../load/run-load.ts';
import type { RunningServer, ServerName } from '../servers/start-server.ts';
import type { Workload } from '../workloads/workload.ts';
import { hasUsage, readCpu, readMemory } from './process-usage.ts';

export interface Slice {
  readonly workload: string;
  readonly server: ServerName;
  /** How often the servers had been started before, in this run of the benchmark. */
  readonly start: number;
  readonly requestsPerSecond: number;
  /** In milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** CPU seconds per 1,000 requests; NaN if unknown. */
  readonly serverCpu: number;
  readonly postgresCpu: number;
  /** Resident memory of the server after the slice, in MB. */
  readonly memory: number;
  /** Cores that everything else on the machine used meanwhile. */
  readonly otherCores: number;
  readonly wrong: number;
  readonly complaint: string | null;
}

export interface SliceOptions {
  readonly start: number;
  readonly seconds: number;
  readonly connections: number;
  /** The processes of PostgreSQL that work for the server; those that they start count too. Empty if unknown. */
  readonly postgresIds: readonly number[];
}

/** Measures a slice. */
export async function measureSlice(
  server: RunningServer,
  workload: Workload,
  requests: readonly PreparedRequest[],
  { start, seconds, connections, postgresIds }: SliceOptions,
): Promise<Slice> {
  const roots = { server: [server.processId], postgres: postgresIds, bench: [process.pid] };
  const before = readCpu(roots);
  const began = performance.now();
  const result = await runLoad({ url: server.url, requests, masked: workload.changing !== undefined, connections, seconds });
  const elapsed = (performance.now() - began) / 1000;
  const after = readCpu(roots);
  const perThousand = (used: number): number => (hasUsage ? (used / result.requests) * 1000 : Number.NaN);
  // The process tree of this process contains the servers and the load generator, and also PostgreSQL, which runs under a guard.
  const others = after.machine - before.machine - (after.bench - before.bench);
  return {
    workload: workload.name,
    server: server.name,
    start,
    requestsPerSecond: result.requests / result.seconds,
    p50: result.p50,
    p99: result.p99,
    serverCpu: perThousand(after.server - before.server),
    postgresCpu: postgresIds.length === 0 ? Number.NaN : perThousand(after.postgres - before.postgres),
    memory: hasUsage ? readMemory(server.processId) : Number.NaN,
    otherCores: hasUsage ? Math.max(0, others / elapsed) : Number.NaN,
    wrong: result.wrong,
    complaint: result.complaint,
  };
}
