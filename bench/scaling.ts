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

const names = ['point', 'page', 'insert'];
/** What the model knows: one process with this many clients. */
const known = [1, 4, 16];
/** What it predicts: each process has as many clients as one of the known. */
const predicted = [
  { processes: 2, clients: 8 },
  { processes: 2, clients: 32 },
  { processes: 4, clients: 16 },
  { processes: 4, clients: 64 },
];
const poolSize = 10;
const rounds = 2;
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

/** What one process shows: its costs by the number of its clients, and how long nobody works for a request. */
interface Costs {
  readonly demands: ReadonlyMap<number, Demand>;
  readonly pause: number;
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
  for (const processes of [1, ...new Set(predicted.map((each) => each.processes))]) {
    const server = await startServer('rowgraph', { rowgraph: ownRoot }, surroundings, { ROWGRAPH_WORKERS: String(processes) });
    const requests = await prepareRequests(server, workload, secret);
    const options = { postgresId: database.processId, ...lengths };
    // The first slice warms it up.
    await measureSlice(server, workload, requests, { ...options, connections: 16, warmUpSeconds: 0 });
    const counts = processes === 1 ? known : predicted.filter((each) => each.processes === processes).map(({ clients }) => clients);
    for (const clients of counts) {
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

function costsOf(points: readonly Point[]): Costs {
  const alone = points.filter(({ processes }) => processes === 1);
  const demands = new Map(alone.map(({ clients, slices }) => [clients, demandOf(slices)]));
  const { rowgraph, postgres, load } = demands.get(1)!;
  return { demands, pause: Math.max(0, 1 / rateOf(alone[0]!.slices) - rowgraph - postgres - load) };
}

function demandOf(slices: readonly Slice[]): Demand {
  const perRequest = (read: (slice: Slice) => number): number => median(slices.map(read)) / 1000;
  return {
    rowgraph: perRequest(({ serverCpu }) => serverCpu),
    postgres: perRequest(({ postgresCpu }) => postgresCpu),
    load: perRequest(({ loadCpu }) => loadCpu),
  };
}

/** Everything shares the cores of one machine, and each process uses one of them at most. */
function predictHere({ demands, pause }: Costs, processes: number, clients: number): number {
  const { rowgraph, postgres, load } = demands.get(clients / processes)!;
  const stations = [
    { demand: rowgraph, servers: Math.min(processes, cores) },
    { demand: postgres, servers: cores },
    { demand: load, servers: 1 },
  ];
  return Math.min(predictClosed(clients, stations, pause).requestsPerSecond, cores / (rowgraph + postgres + load));
}

const percent = (part: number): string => `${part < 0 ? '−' : '+'}${figure(Math.abs(part) * 100, 0)} %`;

function describeRuns(points: readonly Point[], costs: Costs): string[][] {
  return points.map(({ workload, processes, clients, slices }) => {
    const [measured, expected] = [rateOf(slices), predictHere(costs, processes, clients)];
    return [workload, ...[processes, clients].map(String), figure(measured, 0), figure(expected, 0), percent(expected / measured - 1)];
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
  const costs = costsOf(points);
  runs.push(...describeRuns(points, costs));
  for (const [clients, { rowgraph, postgres, load }] of costs.demands)
    demands.push([workload.name, String(clients), ...[rowgraph, postgres, load].map((seconds) => figure(seconds * 1e6, 0))]);
  // A process of a larger installation has a few clients at a time.
  larger.push(...describeLarger(workload.name, costs.demands.get(4)!));
}
await database.stop();
const errorOf = (row: readonly string[]): number => Math.abs(Number(row[4]) / Number(row[3]) - 1);
const errors = runs.filter(([, processes]) => processes !== '1').map(errorOf);

const page = `# Results of \`npm run bench:scaling\`

This page is written by the benchmark. It ran on ${new Date().toISOString().slice(0, 10)}: rowgraph at ${readCommit()}, Node ${process.versions.node}, PostgreSQL ${database.version}, everything on one machine of
${cores} cores, the load generator included. [Scaling](../docs/scaling.md) says how to use it.

## What a request costs

CPU time in microseconds, of one process, medians of ${rounds} runs. A busy process sends several queries to PostgreSQL with one write, so each costs less.

${describeRows(['workload', 'clients', 'rowgraph', 'PostgreSQL', 'load generator'], demands, 1)}

## Measured and predicted

Requests a second. The model knows the costs above, of a process with as many clients, and how long a single request takes besides. Of several processes, which it has not seen, it errs by
${figure(median(errors) * 100, 0)} % in the median, and by ${figure(Math.max(...errors) * 100, 0)} % at most.

${describeRows(['workload', 'processes', 'clients', 'measured', 'predicted', 'error'], runs, 1)}

## Larger machines, predicted

What a rate needs if each process and each core of PostgreSQL is to be busy for ${utilization * 100} % of the time, on machines of their own with cores like these, at the costs with
four clients a process, and the mean time of a request there, in milliseconds, without the network. **None of this was run.**

${describeRows(['workload', 'requests/s', 'processes', 'cores of PostgreSQL', 'mean time'], larger, 1)}
`;
await writeFile(new URL('scaling-results.md', import.meta.url), page);
console.log(page);
process.exit(0);
