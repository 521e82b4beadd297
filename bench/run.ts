/**
 * `npm run bench`: compares rowgraph, a bare handler and PostGraphile over the benchmark's own PostgreSQL. Compares the servers' answers,
 * then measures in interleaved rounds, prints a table, and writes results.md and the figures of the README.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { compareAnswers } from './answers/compare-answers.ts';
import { prepareRequests, RefusedError } from './answers/prepare-requests.ts';
import { type BenchmarkDatabase, startDatabase } from './data/start-database.ts';
import type { PreparedRequest } from './load/job.ts';
import { measureSlices, type ServerLoad, type Slice } from './measure/measure-slice.ts';
import { type BenchmarkOptions, readOptions } from './options.ts';
import { describeTable } from './report/describe-table.ts';
import { writeReadmeFigures } from './report/readme-figures.ts';
import { readCommit, writeLimitsReport, writeReport } from './report/write-report.ts';
import { buildPackage, ownRoot } from './servers/build-package.ts';
import { installPeers } from './servers/install-peers.ts';
import { type RunningServer, type ServerName, startServer } from './servers/start-server.ts';
import { secret } from './servers/tokens.ts';
import { documentFor, type Workload } from './workloads/workload.ts';

const poolSize = 10;
const connections = 16;

/** The prepared requests of each server, for a workload. */
type Prepared = Map<RunningServer, readonly PreparedRequest[]>;

/** A list that begins with another element. What is first always pays for something: a load generator that is still cold, for example. */
function rotate<Element>(list: readonly Element[], by: number): Element[] {
  const first = by % Math.max(1, list.length);
  return [...list.slice(first), ...list.slice(0, first)];
}

async function startServers(
  { servers: names, copies, before, dialect }: BenchmarkOptions,
  { superuserUrl, authenticatorUrl }: BenchmarkDatabase,
  start: number,
): Promise<RunningServer[]> {
  const roots: Partial<Record<ServerName, string>> = { rowgraph: ownRoot, ...(before !== null && { before }) };
  const obstacle = names.includes('postgraphile') ? installPeers() : null;
  if (obstacle !== null) console.log(`PostGraphile cannot be installed here and is left out (${obstacle}).`);
  const servers: RunningServer[] = [];
  const available = rotate(
    names.filter((name) => name !== 'postgraphile' || obstacle === null),
    start,
  );
  for (let copy = 0; copy < copies; copy++) {
    for (const name of available) {
      const flags = name === 'rowgraph' && dialect !== null ? [`--dialect=${dialect}`] : [];
      servers.push(await startServer(name, roots, { databaseUrl: authenticatorUrl, superuserUrl, secret, poolSize }, { flags }));
    }
  }
  return servers;
}

/** Sends every request to every server once, and compares the answers. */
async function prepareAll(servers: readonly RunningServer[], workloads: readonly Workload[]): Promise<Map<Workload, Prepared>> {
  const all = new Map<Workload, Prepared>();
  for (const workload of workloads) {
    const prepared: Prepared = new Map();
    for (const server of servers) {
      if (documentFor(server.name, workload) === null) continue;
      const requests = await prepareUnlessNew(server, workload);
      if (requests) prepared.set(server, requests);
    }
    if (prepared.size === 0) continue;
    const values = compareAnswers(workload, new Map([...prepared].map(([{ name }, requests]) => [name, requests])));
    console.log(
      `${workload.name}: ${workload.incomparable ? 'not compared' : `${values.toFixed(0)} values an answer, the same from all servers`}`,
    );
    all.set(workload, prepared);
  }
  return all;
}

/** The requests of a workload for a server; null if an older checkout rejects a feature that it does not have yet. */
async function prepareUnlessNew(server: RunningServer, workload: Workload): Promise<readonly PreparedRequest[] | null> {
  try {
    return await prepareRequests(server, workload, secret);
  } catch (error) {
    if (server.name !== 'before' || !(error instanceof RefusedError)) throw error;
    console.log(`${workload.name} is left out for before: ${error.message}`);
    return null;
  }
}

async function measureAll(
  all: Map<Workload, Prepared>,
  database: BenchmarkDatabase,
  options: BenchmarkOptions,
  start: number,
): Promise<Slice[]> {
  const slices: Slice[] = [];
  const { turnSeconds, seconds } = options;
  /** Measures servers under a workload: in turns within the slice, or a single server. */
  const measure = async (
    workload: Workload,
    servers: readonly [RunningServer, readonly PreparedRequest[]][],
    { warmUpSeconds, seconds }: { readonly warmUpSeconds: number; readonly seconds: number },
  ) => {
    if (workload.before) await database.run(workload.before);
    const loads: ServerLoad[] = [];
    for (const [server, requests] of servers) {
      const postgresIds = turnSeconds === null ? database.processIds : await database.backendsOf(server.applicationName);
      loads.push({ server, requests, postgresIds });
    }
    return measureSlices(loads, workload, { start, connections, warmUpSeconds, seconds, turnSeconds: turnSeconds ?? seconds });
  };
  /** Which servers share a slice. The servers of each start and each round are in another order. */
  const groupsOf = (prepared: Prepared, round: number) => {
    const servers = rotate([...prepared], round);
    return turnSeconds === null ? servers.map((each) => [each]) : [servers];
  };
  for (const [workload, prepared] of all) {
    for (const servers of groupsOf(prepared, 0)) await measure(workload, servers, { warmUpSeconds: 0, seconds: options.warmUp });
  }
  console.log('the servers are warmed up');
  for (let round = 0; round < options.rounds; round++) {
    for (const [workload, prepared] of all) {
      for (const servers of groupsOf(prepared, round)) {
        for (const slice of await measure(workload, servers, { warmUpSeconds: Math.min(1, seconds / 4), seconds })) {
          if (slice.complaint !== null) console.log(`${workload.name}, ${slice.server}: ${slice.wrong} wrong answers: ${slice.complaint}`);
          slices.push(slice);
        }
      }
    }
    console.log(`round ${round + 1} of ${options.rounds} is measured`);
  }
  return slices;
}

async function runBenchmark(options: BenchmarkOptions): Promise<void> {
  const commit = readCommit();
  buildPackage(ownRoot);
  if (options.before !== null) buildPackage(options.before);
  console.log('Starting PostgreSQL and loading the data …');
  const database = await startDatabase();
  const slices: Slice[] = [];
  const names = new Set<ServerName>();
  let servers: RunningServer[] = [];
  const stopServers = (): Promise<unknown> => Promise.all(servers.map((server) => server.stop()));
  try {
    for (let start = 0; start < options.restarts; start++) {
      servers = await startServers(options, database, start);
      for (const { name } of servers) names.add(name);
      const all = await prepareAll(servers, options.workloads);
      if (options.check) return;
      slices.push(...(await measureAll(all, database, options, start)));
      if (options.restarts > 1) console.log(`start ${start + 1} of ${options.restarts} is measured`);
      await stopServers();
      servers = [];
    }
    console.log(`\n${describeTable(slices)}`);
    const facts = {
      ...options,
      commit,
      poolSize,
      connections,
      postgres: database.version,
      servers: [...names],
    };
    if (options.page === 'limits') {
      const page = new URL('limits.md', import.meta.url);
      await writeFile(page, writeLimitsReport(slices, { ...facts, earlier: await readFile(page, 'utf8') }));
    }
    if (options.page === 'results') {
      await writeFile(new URL('results.md', import.meta.url), writeReport(slices, facts));
      await writeReadmeFigures();
    }
    if (slices.some(({ wrong }) => wrong > 0)) process.exitCode = 1;
  } finally {
    await stopServers();
    await database.stop();
  }
}

// The servers (see start-server.ts) and PostgreSQL end with this process.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
await runBenchmark(readOptions());
