/**
 * `npm run bench`: compares rowgraph, a bare handler and PostGraphile over a PostgreSQL of its own. Compares the servers' answers, then
 * measures in interleaved rounds, and prints a table; with `--publish`, writes it to results.md and the README.
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { compareAnswers, prepareRequests, RefusedError } from './answers.ts';
import { type BenchmarkDatabase, startDatabase } from './data/start-database.ts';
import type { PreparedRequest } from './load/load.ts';
import { measureSlice, type Slice } from './measure.ts';
import { describeTable, publish, readCommit } from './report/report.ts';
import { secret } from './servers/caller.ts';
import { installPeers, peerVersion } from './servers/install-peers.ts';
import { buildPackage, comparedServers, ownRoot, type RunningServer, type ServerName, startServer } from './servers/start-server.ts';
import { documentFor, type Workload } from './workloads/workload.ts';
import { workloads } from './workloads/workloads.ts';

const poolSize = 10;
const connections = 16;

const usage = `npm run bench -- [options]

  --servers NAMES    some of ${comparedServers.join(',')}
  --workloads NAMES  some of ${workloads.map(({ name }) => name).join(',')}
  --seconds NUMBER   how long a server is under a workload in a round (default: 2)
  --rounds NUMBER    how many rounds; medians are reported (default: 5)
  --warm-up NUMBER   seconds of each workload for each server ahead of the first round (default: 4)
  --before FOLDER    measure another checkout of rowgraph too, whose packages are installed
  --check            compare the answers of the servers, measure nothing
  --publish          write bench/results.md and the figures of the README
  --help             this text

Workloads that the other checkout refuses are left out for it.`;

const { values: options } = parseArgs({
  options: {
    servers: { type: 'string', default: comparedServers.join() },
    workloads: { type: 'string', default: workloads.map(({ name }) => name).join() },
    seconds: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '5' },
    'warm-up': { type: 'string', default: '4' },
    before: { type: 'string' },
    check: { type: 'boolean', default: false },
    publish: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

function choose<Thing>(names: string, things: readonly Thing[], nameOf: (thing: Thing) => string): Thing[] {
  const wanted = new Set(names.split(','));
  for (const name of wanted) if (!things.some((thing) => nameOf(thing) === name)) throw new Error(`There is no ${name}\n\n${usage}`);
  return things.filter((thing) => wanted.has(nameOf(thing)));
}

function positive(name: 'seconds' | 'rounds' | 'warm-up'): number {
  const number = Number(options[name]);
  if (!(number > 0)) throw new Error(`--${name} takes a number above 0, not ${options[name]}`);
  return number;
}

/** The requests of each workload, for each server that can answer them. */
type Prepared = ReadonlyMap<Workload, ReadonlyMap<RunningServer, readonly PreparedRequest[]>>;

async function startServers(
  { superuserUrl, authenticatorUrl }: BenchmarkDatabase,
  wanted: readonly ServerName[],
): Promise<RunningServer[]> {
  const obstacle = wanted.includes('postgraphile') ? installPeers() : null;
  if (obstacle !== null) console.log(`PostGraphile cannot be installed here and is left out (${obstacle}).`);
  const roots = { rowgraph: ownRoot, ...(options.before !== undefined && { before: options.before }) };
  const servers: RunningServer[] = [];
  for (const name of wanted) {
    if (name === 'postgraphile' && obstacle !== null) continue;
    servers.push(await startServer(name, roots, { databaseUrl: authenticatorUrl, superuserUrl, secret, poolSize }));
  }
  return servers;
}

/** Sends every request to every server once, and compares the answers. */
async function prepareAll(servers: readonly RunningServer[], chosen: readonly Workload[]): Promise<Prepared> {
  const all = new Map<Workload, Map<RunningServer, readonly PreparedRequest[]>>();
  for (const workload of chosen) {
    const prepared = new Map<RunningServer, readonly PreparedRequest[]>();
    for (const server of servers) {
      if (documentFor(server.name, workload) === null) continue;
      try {
        prepared.set(server, await prepareRequests(server, workload, secret));
      } catch (error) {
        if (server.name !== 'before' || !(error instanceof RefusedError)) throw error;
        console.log(`${workload.name} is left out for before: ${error.message}`);
      }
    }
    const values = compareAnswers(workload, new Map([...prepared].map(([{ name }, requests]) => [name, requests])));
    console.log(`${workload.name}: ${values.toFixed(0)} values an answer, the same from all servers`);
    all.set(workload, prepared);
  }
  return all;
}

async function measureAll(all: Prepared, database: BenchmarkDatabase): Promise<Slice[]> {
  const [rounds, seconds, warmUp] = [positive('rounds'), positive('seconds'), positive('warm-up')];
  const slices: Slice[] = [];
  for (let round = 0; round <= rounds; round++) {
    // Round 0 warms the servers up.
    const length = round === 0 ? { warmUpSeconds: 0, seconds: warmUp } : { warmUpSeconds: 0.5, seconds };
    for (const [workload, prepared] of all) {
      // Every other round in reverse order, so that none always runs after the same one.
      for (const [server, requests] of round % 2 === 0 ? prepared : [...prepared].toReversed()) {
        if (workload.before) await database.run(workload.before);
        const slice = await measureSlice(server, workload, requests, { connections, postgresId: database.processId, ...length });
        if (slice.complaint !== null) console.log(`${workload.name}, ${slice.server}: ${slice.wrong} wrong answers: ${slice.complaint}`);
        if (round > 0) slices.push(slice);
      }
    }
    console.log(round === 0 ? 'the servers are warmed up' : `round ${round} of ${rounds} is measured`);
  }
  return slices;
}

/** Versions of rowgraph, its driver, and what it is compared with. */
function describeVersions(database: BenchmarkDatabase, commit: string, servers: readonly RunningServer[]): string {
  const versionOf = (file: string): string =>
    (JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8')) as { version: string }).version;
  return [
    `rowgraph ${versionOf('../package.json')} (${commit})`,
    `pg ${versionOf('../node_modules/pg/package.json')}`,
    ...(servers.some(({ name }) => name === 'postgraphile') ? [`PostGraphile ${peerVersion('postgraphile')}`] : []),
    `Node ${process.versions.node}`,
    `PostgreSQL ${database.version}`,
  ].join(', ');
}

async function runBenchmark(): Promise<void> {
  const wanted = choose(options.workloads, workloads, ({ name }) => name);
  const names: ServerName[] = choose(options.servers, comparedServers, (name) => name);
  const commit = readCommit();
  buildPackage(ownRoot);
  if (options.before !== undefined) buildPackage(options.before);
  console.log('Starting PostgreSQL and loading the data …');
  const database = await startDatabase();
  const chosen = wanted.filter(({ extension }) => extension === undefined || database.hasVectors);
  if (chosen.length < wanted.length)
    console.log('Workloads with vectors are left out: PostgreSQL has no pgvector (see docs/performance.md).');
  const servers: RunningServer[] = [];
  try {
    servers.push(...(await startServers(database, options.before === undefined ? names : [...names, 'before'])));
    const all = await prepareAll(servers, chosen);
    if (options.check) return;
    const slices = await measureAll(all, database);
    console.log(`\n${describeTable(slices)}`);
    const lengths = { seconds: positive('seconds'), rounds: positive('rounds'), warmUp: positive('warm-up') };
    const versions = describeVersions(database, commit, servers);
    if (options.publish) publish(slices, { ...lengths, workloads: chosen, connections, poolSize, versions });
    if (slices.some(({ wrong }) => wrong > 0)) process.exitCode = 1;
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
    await database.stop();
  }
}

// The servers (see start-server.ts) and PostgreSQL end with this process.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
if (options.help) console.log(usage);
else await runBenchmark();
