/** Servers under one workload for some seconds: their results, and the resources that they used. */
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

/** What is asked of a server. */
export interface ServerLoad {
  readonly server: RunningServer;
  readonly requests: readonly PreparedRequest[];
  /** The processes of PostgreSQL that work for the server; those that they start count too. Empty if unknown. */
  readonly postgresIds: readonly number[];
}

export interface SliceOptions {
  readonly start: number;
  readonly connections: number;
  /** How long each server is under load before its requests count. */
  readonly warmUpSeconds: number;
  /** How long each server is under load in all while its requests count. */
  readonly seconds: number;
  /** How long it is under load until it is the next one's turn. */
  readonly turnSeconds: number;
}

/** Measures a slice of each server, in turns. What a server or its processes of PostgreSQL do in other servers' turns counts too. */
export async function measureSlices(
  loads: readonly ServerLoad[],
  workload: Workload,
  { start, connections, warmUpSeconds, seconds, turnSeconds }: SliceOptions,
): Promise<Slice[]> {
  const roots: Record<string, readonly number[]> = { bench: [process.pid] };
  for (const [index, { server, postgresIds }] of loads.entries()) {
    roots[`server ${index}`] = [server.processId];
    roots[`postgres ${index}`] = postgresIds;
  }
  const jobs = loads.map(({ server, requests }) => ({ url: server.url, requests, masked: workload.changing !== undefined, connections }));
  let before = readCpu(roots);
  let began = performance.now();
  const results = await runLoad({ jobs, warmUpSeconds, seconds, turnSeconds }, () => {
    before = readCpu(roots);
    began = performance.now();
  });
  const elapsed = (performance.now() - began) / 1000;
  const after = readCpu(roots);
  const used = (name: string): number => (after[name] ?? 0) - (before[name] ?? 0);
  // The process tree of this process contains the servers and the load generator, and also PostgreSQL, which runs under a guard.
  const others = used('machine') - used('bench');
  return loads.map(({ server, postgresIds }, index) => {
    const result = results[index]!;
    const perThousand = (name: string): number => (hasUsage ? (used(`${name} ${index}`) / result.requests) * 1000 : Number.NaN);
    return {
      workload: workload.name,
      server: server.name,
      start,
      requestsPerSecond: result.requests / result.seconds,
      p50: result.p50,
      p99: result.p99,
      serverCpu: perThousand('server'),
      postgresCpu: postgresIds.length === 0 ? Number.NaN : perThousand('postgres'),
      memory: hasUsage ? readMemory(server.processId) : Number.NaN,
      otherCores: hasUsage ? Math.max(0, others / elapsed) : Number.NaN,
      wrong: result.wrong,
      complaint: result.complaint,
    };
  });
}
