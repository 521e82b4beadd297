/**
 * `npm run bench:projects`: one server with 1,000 projects, 50 of them busy. Measures start, memory and response times; the same while the
 * database of one project is silent; and memory after each project was used once. Prints what it measures and writes projects.md.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Agent, request as httpRequest } from 'node:http';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../test/support/free-port.ts';
import { startSilentProxy } from '../test/support/silent-proxy.ts';
import { startTestDatabases } from '../test/support/test-databases.ts';
import { until } from '../test/support/until.ts';
import { readMemory } from './measure/process-usage.ts';
import { median } from './measure/summarize-slices.ts';
import { describeRows, figure } from './report/describe-table.ts';
import { readCommit } from './report/write-report.ts';
import { buildPackage, ownRoot } from './servers/build-package.ts';
import { secret, signToken } from './servers/tokens.ts';

const projectCount = 1000;
const busyCount = 50;
const seconds = 5;
/** With a silent database and without, alternately. */
const rounds = 5;
const idleTime = '5s';

const schema = `
  create table thing (id int primary key, name text not null);
  insert into thing select n, 'thing ' || n from generate_series(1, 1000) n`;
const body = JSON.stringify({ query: '{ thingCollection(first: 5) { edges { node { id name } } } }' });
const key = signToken({ role: 'anon' }, secret);
const referenceOf = (index: number): string => `p${String(index).padStart(19, '0')}`;

interface Server {
  readonly port: number;
  readonly child: ChildProcess;
  /** Milliseconds from its start until it listens. */
  readonly started: number;
}

/** Serves the projects, each with the database at its index. */
async function serve(folder: string, urls: readonly string[]): Promise<Server> {
  const file = path.join(folder, `${urls.length}.json`);
  await writeFile(
    file,
    JSON.stringify(
      Object.fromEntries(urls.map((url, index) => [referenceOf(index), { databaseUrl: url, jwtSecret: secret, poolSize: 4 }])),
    ),
  );
  const port = await freePort();
  const settings = {
    projects: file,
    port,
    'log-level': 'error',
    'project-connections': 200,
    'project-idle': idleTime,
    'max-event-loop-delay': '1h',
  };
  const flags = Object.entries(settings).map(([name, value]) => `--${name}=${value}`);
  const start = performance.now();
  const child = spawn(process.execPath, [path.join(ownRoot, 'dist/cli/main.js'), 'serve', ...flags], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  process.once('exit', () => child.kill('SIGKILL'));
  await once(child.stdout!, 'data');
  return { port, child, started: performance.now() - start };
}

async function stop({ child }: Server): Promise<void> {
  child.kill('SIGTERM');
  await once(child, 'exit');
}

const agent = new Agent({ keepAlive: true });

/** Milliseconds until the whole response to a project's request has arrived. Throws if it is not the expected one. */
function ask({ port }: Server, reference: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const start = performance.now();
    const headers = { host: `${reference}.example.com`, apikey: key, 'content-type': 'application/json' };
    const request = httpRequest({ port, host: '127.0.0.1', path: '/graphql/v1', method: 'POST', headers, agent });
    request.on('error', reject);
    request.on('response', async (response) => {
      let text = '';
      for await (const chunk of response) text += chunk;
      if (text.includes('thing 5')) resolve(performance.now() - start);
      else reject(new Error(`An answer is wrong: ${text.slice(0, 300)}`));
    });
    request.end(body);
  });
}

/** Waits until no project is open. */
async function untilIdle({ port }: Server): Promise<void> {
  await until(async () => {
    await sleep(200);
    return /rowgraph_projects\{state="open"\} 0/.test(await (await fetch(`http://127.0.0.1:${port}/metrics`)).text());
  });
}

/** Each project sends its next request as soon as it has an answer. Returns the sorted times, in milliseconds. */
async function load(server: Server, references: readonly string[]): Promise<readonly number[]> {
  const times: number[] = [];
  const end = performance.now() + seconds * 1000;
  await Promise.all(
    references.map(async (reference) => {
      while (performance.now() < end) times.push(await ask(server, reference));
    }),
  );
  return times.sort((one, other) => one - other);
}

const rows: (readonly [string, string])[] = [];
const note = (name: string, value: number, digits = 0): void => {
  rows.push([name, figure(value, digits)]);
  console.log(`${name}: ${figure(value, digits)}`);
};

const percentile = (times: readonly number[], share: number): number => times[Math.floor((times.length * share) / 100)]!;

function noteLoad(name: string, runs: readonly (readonly number[])[]): void {
  note(`${name}: requests/s`, median(runs.map(({ length }) => length / seconds)));
  for (const share of [50, 99]) note(`${name}: p${share}, ms`, median(runs.map((times) => percentile(times, share))), 1);
}

/** How other projects are affected by one whose database has fallen silent; a different one in each round. */
async function compareSilence(server: Server, busy: readonly string[]): Promise<void> {
  const others = busy.slice(rounds);
  const before: (readonly number[])[] = [];
  const silent: (readonly number[])[] = [];
  for (const [index, proxy] of proxies.entries()) {
    before.push(await load(server, others));
    // Open it first: otherwise its requests would wait only for the connection.
    await ask(server, busy[index]!);
    proxy.fallSilent();
    const lost = Array.from({ length: 50 }, () => ask(server, busy[index]!).catch(() => 0));
    silent.push(await load(server, others));
    agent.destroy();
    await Promise.all(lost);
  }
  noteLoad(`${others.length} busy`, before);
  noteLoad(`${others.length} busy, 50 requests wait for a silent database`, silent);
}

const [loadBefore = 0] = loadavg();
buildPackage(ownRoot);
const folder = await mkdtemp(path.join(tmpdir(), 'rowgraph-bench-projects-'));
const databases = await startTestDatabases({ settings: { max_connections: '400' } });
const proxies = await Promise.all(Array.from({ length: rounds }, () => startSilentProxy(databases.port)));
try {
  const urls: string[] = [];
  for (let index = 0; index < busyCount; index += 1) urls.push((await databases.create(schema)).url);
  for (const [index, { port }] of proxies.entries()) urls[index] = urls[index]!.replace(`:${databases.port}/`, `:${port}/`);
  const plain = urls.slice(rounds);
  const all = Array.from({ length: projectCount }, (_, index) => urls[index] ?? plain[index % plain.length]!);
  const busy = urls.map((_, index) => referenceOf(index));

  const one = await serve(folder, all.slice(0, 1));
  await sleep(1000);
  const memoryOfOne = readMemory(one.child.pid!);
  note('1 project: start, ms', one.started);
  note('1 project: memory, MB', memoryOfOne);
  await stop(one);

  const server = await serve(folder, all);
  const memory = (): number => readMemory(server.child.pid!);
  await sleep(1000);
  note(`${projectCount} projects: start, ms`, server.started);
  note(`${projectCount} projects, none used: memory, MB`, memory());
  note(`${projectCount} projects, none used: memory of each, KB`, ((memory() - memoryOfOne) * 1024) / projectCount, 1);
  const first = (await Promise.all(busy.map((reference) => ask(server, reference)))).sort((x, y) => x - y);
  note(`first request of ${busyCount} projects at once: slowest, ms`, first.at(-1)!);
  await load(server, busy);
  noteLoad(`${busyCount} busy`, [await load(server, busy)]);
  note(`${busyCount} busy: memory, MB`, memory());
  await compareSilence(server, busy);
  for (const round of ['once', 'twice']) {
    for (let index = busyCount; index < projectCount; index += 10)
      await Promise.all(Array.from({ length: 10 }, (_, each) => ask(server, referenceOf(index + each))));
    note(`each project used ${round}: memory, MB`, memory());
    await untilIdle(server);
    note(`all idle again: memory, MB`, memory());
  }
  await stop(server);
} finally {
  for (const proxy of proxies) await proxy.stop();
  await databases.close();
  await rm(folder, { recursive: true, force: true });
}

await writeFile(
  new URL('projects.md', import.meta.url),
  `# Results of \`npm run bench:projects\`

This page is written by the benchmark. It ran on ${new Date().toISOString().slice(0, 10)}: rowgraph at ${readCommit()}, Node ${process.versions.node},
one process with ${projectCount} projects in one file, ${busyCount} databases on one PostgreSQL server. Load is one request at a time for each busy project, a page of 5 rows, for
${seconds} s; the figures with and without a silent database are medians of ${rounds} rounds in turns. The load comes from one process that has a good part of the CPU itself, and everything runs on one machine of ${availableParallelism()} cores, whose load average was ${figure(loadBefore, 0)}
before the run and ${figure(loadavg()[0]!, 0)} behind it, its own load included. Only figures of the same run can be compared.

${describeRows(['what', 'figure'], rows, 1)}
`,
);
