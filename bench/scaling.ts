/**
 * `npm run bench:scaling`: measures rowgraph with 1, 2 and 4 processes on this machine, predicts the same by a queueing model from the CPU
 * time of one process, and says by how much it errs. Then predicts larger machines. Writes scaling-results.md.
 */
import { writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { prepareRequests } from './answers.ts';
import { type BenchmarkDatabase, startDatabase } from './data/start-database.ts';
import { measureSlice, type Slice } from './measure.ts';
import { readCommit } from './report/report.ts';
import { describeRows, figure, median } from './report/table.ts';
import { predictClosed, serversFor, timeAt } from './scaling/queueing.ts';
import { secret } from './servers/caller.ts';
import { buildPackage, ownRoot, startServer } from './servers/start-server.ts';
import type { Workload } from './workloads/workload.ts';
import { workloads } from './workloads/workloads.ts';

const names = ['point', 'page', 'own-rows', 'insert'];
const processCounts = [1, 2, 4];
const clientCounts = [4, 16];
const poolSize = 10;
const rounds = 3;
const lengths = { warmUpSeconds: 1, seconds: 4 };
/** What a part may be busy for: beyond it, queues grow fast. */
const utilization = 0.7;
const rates = [1_000, 5_000, 20_000, 100_000];
const cores = availableParallelism();

/** CPU seconds per request. */
interface Demand {
  readonly rowgraph: number;
  readonly postgres: number;
  readonly load: number;
}

interface Point {
  readonly workload: string;
  readonly processes: number;
  readonly clients: number;
  readonly slices: readonly Slice[];
}

async function measure(database: BenchmarkDatabase, workload: Workload): Promise<Point[]> {
  const surroundings = { databaseUrl: database.authenticatorUrl, superuserUrl: database.superuserUrl, secret, poolSize };
  const points: Point[] = [];
  for (const processes of processCounts) {
    const server = await startServer('rowgraph', { rowgraph: ownRoot }, surroundings, { ROWGRAPH_WORKERS: String(processes) });
    const requests = await prepareRequests(server, workload, secret);
    const options = { postgresId: database.processId, ...lengths };
    // The first slice warms it up.
    await measureSlice(server, workload, requests, { ...options, connections: 16, warmUpSeconds: 0 });
    for (const clients of clientCounts) {
      const slices: Slice[] = [];
      for (let round = 0; round < rounds; round++) {
        if (workload.before) await database.run(workload.before);
        slices.push(await measureSlice(server, workload, requests, { ...options, connections: clients }));
      }
      const wrong = slices.find((slice) => slice.complaint !== null);
      if (wrong !== undefined) throw new Error(`${workload.name}: an answer is wrong: ${wrong.complaint}`);
      points.push({ workload: workload.name, processes, clients, slices });
      process.stderr.write(`${workload.name}, ${processes} processes, ${clients} clients: ${figure(rateOf(slices), 0)} requests/s\n`);
    }
    await server.stop();
  }
  return points;
}

const rateOf = (slices: readonly Slice[]): number => median(slices.map(({ requestsPerSecond }) => requestsPerSecond));

/** From one process under the most clients. */
function demandOf(points: readonly Point[]): Demand {
  const { slices } = points.findLast(({ processes }) => processes === 1)!;
  const perRequest = (read: (slice: Slice) => number): number => median(slices.map(read)) / 1000;
  return {
    rowgraph: perRequest(({ serverCpu }) => serverCpu),
    postgres: perRequest(({ postgresCpu }) => postgresCpu),
    load: perRequest(({ loadCpu }) => loadCpu),
  };
}

/** Everything shares the cores of one machine, and each process uses one of them at most. */
function predictHere({ rowgraph, postgres, load }: Demand, processes: number, clients: number): number {
  const stations = [
    { demand: rowgraph, servers: Math.min(processes, cores) },
    { demand: postgres, servers: cores },
    { demand: load, servers: 1 },
  ];
  return Math.min(predictClosed(clients, stations).requestsPerSecond, cores / (rowgraph + postgres + load));
}

const percent = (part: number): string => `${part < 0 ? '−' : '+'}${figure(Math.abs(part) * 100, 0)} %`;

function describeRuns(points: readonly Point[], demand: Demand): string[][] {
  return points.map(({ workload, processes, clients, slices }) => {
    const [measured, predicted] = [rateOf(slices), predictHere(demand, processes, clients)];
    return [workload, ...[processes, clients].map(String), figure(measured, 0), figure(predicted, 0), percent(predicted / measured - 1)];
  });
}

function describeLarger(workload: string, { rowgraph, postgres }: Demand): string[][] {
  return rates.map((rate) => {
    const [processes, postgresCores] = [serversFor(rowgraph, rate, utilization), serversFor(postgres, rate, utilization)];
    const seconds = timeAt({ demand: rowgraph, servers: processes }, rate) + timeAt({ demand: postgres, servers: postgresCores }, rate);
    return [workload, figure(rate, 0), String(processes), String(postgresCores), figure(seconds * 1000, 2)];
  });
}

buildPackage(ownRoot);
// PostgreSQL and the servers end with this process.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
const database = await startDatabase();
const [runs, demands, larger]: [string[][], string[][], string[][]] = [[], [], []];
for (const workload of workloads.filter(({ name }) => names.includes(name))) {
  const points = await measure(database, workload);
  const demand = demandOf(points);
  runs.push(...describeRuns(points, demand));
  demands.push([workload.name, ...[demand.rowgraph, demand.postgres, demand.load].map((seconds) => figure(seconds * 1e6, 0))]);
  larger.push(...describeLarger(workload.name, demand));
}
await database.stop();
const errors = runs.map((row) => Math.abs(Number(row[4]) / Number(row[3]) - 1));

const page = `# Results of \`npm run bench:scaling\`

This page is written by the benchmark. It ran on ${new Date().toISOString().slice(0, 10)}: rowgraph at ${readCommit()}, Node ${process.versions.node}, PostgreSQL ${database.version}, everything on one machine of
${cores} cores, the load generator included. [Scaling](../docs/scaling.md) says how to use it.

## What a request costs

CPU time in microseconds, of one process with ${clientCounts.at(-1)} clients, medians of ${rounds} runs.

${describeRows(['workload', 'rowgraph', 'PostgreSQL', 'load generator'], demands, 1)}

## Measured and predicted

Requests a second. The prediction knows only the costs above. It errs by ${figure(median(errors) * 100, 0)} % in the median, and by ${figure(Math.max(...errors) * 100, 0)} % at most.

${describeRows(['workload', 'processes', 'clients', 'measured', 'predicted', 'error'], runs, 1)}

## Larger machines, predicted

What a rate needs if each process and each core of PostgreSQL is to be busy for ${utilization * 100} % of the time, on machines of their own with cores like these, and the mean time of a
request there, in milliseconds, without the network. **None of this was run.**

${describeRows(['workload', 'requests/s', 'processes', 'cores of PostgreSQL', 'mean time'], larger, 1)}
`;
await writeFile(new URL('scaling-results.md', import.meta.url), page);
console.log(page);
process.exit(0);
