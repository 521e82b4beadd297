/** A server under one workload for some seconds: its results, and the resources that it used, from Linux's /proc (NaN elsewhere). */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { type PreparedRequest, runLoad } from './load/load.ts';
import type { RunningServer, ServerName } from './servers/start-server.ts';
import type { Workload } from './workloads/workload.ts';

export interface Slice {
  readonly workload: string;
  readonly server: ServerName;
  readonly requestsPerSecond: number;
  /** In milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** CPU seconds per 1,000 requests. */
  readonly serverCpu: number;
  readonly postgresCpu: number;
  readonly loadCpu: number;
  /** Resident memory of the server after the slice, in MB. */
  readonly memory: number;
  readonly wrong: number;
  readonly complaint: string | null;
}

export interface SliceOptions {
  readonly connections: number;
  /** How long the server is under load before its requests count. */
  readonly warmUpSeconds: number;
  readonly seconds: number;
  /** The process of PostgreSQL; those that it starts count too. */
  readonly postgresId: number;
}

/** Measures a slice of a server. */
export async function measureSlice(
  server: RunningServer,
  workload: Workload,
  requests: readonly PreparedRequest[],
  { connections, warmUpSeconds, seconds, postgresId }: SliceOptions,
): Promise<Slice> {
  const cpu = (): number[] => [server.processId, postgresId].map(readCpu);
  let before = cpu();
  const result = await runLoad(
    { url: server.url, requests, masked: workload.changing !== undefined, connections, warmUpSeconds, seconds },
    () => {
      before = cpu();
    },
  );
  const [serverCpu = Number.NaN, postgresCpu = Number.NaN] = cpu().map((used, index) => ((used - before[index]!) / result.requests) * 1000);
  return {
    workload: workload.name,
    server: server.name,
    requestsPerSecond: result.requests / result.seconds,
    p50: result.p50,
    p99: result.p99,
    serverCpu,
    postgresCpu,
    loadCpu: (result.cpu / result.requests) * 1000,
    memory: readMemory(server.processId),
    wrong: result.wrong,
    complaint: result.complaint,
  };
}

const hasUsage = existsSync('/proc/self/stat');
const ticksPerSecond = hasUsage ? Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' })) : 1;

/** CPU seconds of a process and its children, also of those that have ended. */
function readCpu(root: number): number {
  if (!hasUsage) return Number.NaN;
  // The name of the program, in parentheses, may contain anything; the numbers come after it: user, system, and the same of children.
  const ticksOf = (id: number): string[] => {
    const text = read(`/proc/${id}/stat`);
    return text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 15);
  };
  return treeOf(root).reduce((sum, id) => sum + ticksOf(id).reduce((ticks, each) => ticks + Number(each), 0), 0) / ticksPerSecond;
}

/** Resident memory of a process and its children, in MB. */
export function readMemory(root: number): number {
  if (!hasUsage) return Number.NaN;
  const memoryOf = (id: number): number => Number(/^VmRSS:\s+(\d+)/m.exec(read(`/proc/${id}/status`))?.[1] ?? 0);
  return treeOf(root).reduce((sum, id) => sum + memoryOf(id), 0) / 1024;
}

function treeOf(root: number): number[] {
  const ids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const parents = new Map(ids.map((id) => [Number(id), Number(/^PPid:\s+(\d+)/m.exec(read(`/proc/${id}/status`))?.[1])]));
  const tree = [root];
  for (const member of tree) for (const [id, parent] of parents) if (parent === member) tree.push(id);
  return tree;
}

/** Empty if the process has ended meanwhile. */
function read(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
