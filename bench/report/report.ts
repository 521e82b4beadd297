/** The results of a run as a table for the terminal, as `bench/results.md`, and as the figures in the README. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { databaseSettings } from '../data/start-database.ts';
import type { Slice } from '../measure.ts';
import type { ServerName } from '../servers/start-server.ts';
import type { Workload } from '../workloads/workload.ts';
import { describeRows, figure, median } from './table.ts';

export interface Run {
  readonly workloads: readonly Workload[];
  readonly seconds: number;
  readonly rounds: number;
  readonly warmUp: number;
  readonly connections: number;
  readonly poolSize: number;
  /** Versions of what was measured, and the commit. */
  readonly versions: string;
}

/** A row for each workload and server: medians of the rounds. */
export function describeTable(slices: readonly Slice[]): string {
  const others = (['bare', 'before'] as const).filter((name) => slices.some(({ server }) => server === name));
  const groups = [...Map.groupBy(slices, ({ workload, server }) => `${workload} ${server}`).values()];
  const rows = groups.map((group) => {
    const { workload, server } = group[0]!;
    const middle = (read: (slice: Slice) => number, digits: number): string => figure(median(group.map(read)), digits);
    return [
      workload,
      server,
      middle(({ requestsPerSecond }) => requestsPerSecond, 0),
      ...others.map((other) => figure(ratioOf(slices, workload, [server, other]), 2)),
      middle(({ p50 }) => p50, 1),
      middle(({ p99 }) => p99, 1),
      middle(({ serverCpu }) => serverCpu, 3),
      middle(({ postgresCpu }) => postgresCpu, 3),
      middle(({ memory }) => memory, 0),
      String(group.reduce((sum, { wrong }) => sum + wrong, 0)),
    ];
  });
  const heads = ['p50 ms', 'p99 ms', 'server CPU s', 'PostgreSQL CPU s', 'memory MB', 'wrong'];
  return describeRows(['workload', 'server', 'req/s', ...others.map((name) => `of ${name}`), ...heads], rows);
}

/**
 * The requests per second of one server, divided by those of another: the median over the rounds, within each of which they are measured
 * one after the other.
 */
function ratioOf(slices: readonly Slice[], workload: string, servers: readonly [ServerName, ServerName]): number {
  const [ones, others] = servers.map((name) => slices.filter((slice) => slice.workload === workload && slice.server === name));
  return median(ones!.map((slice, round) => slice.requestsPerSecond / (others?.[round]?.requestsPerSecond ?? Number.NaN)));
}

const resultsFile = new URL('../results.md', import.meta.url);
const readmeFile = new URL('../../README.md', import.meta.url);
const start = '<!-- figures of bench/results.md -->';
const end = '<!-- end of figures -->';

/** Writes `results.md` and the figures of the README. */
export function publish(slices: readonly Slice[], run: Run): void {
  const results = writeResults(slices, run);
  writeFileSync(resultsFile, results);
  writeFileSync(readmeFile, withFigures(readFileSync(readmeFile, 'utf8'), results));
}

function writeResults(slices: readonly Slice[], run: Run): string {
  const cores = cpus();
  return `# Results of \`npm run bench\`

Written by \`npm run bench -- --publish\` on ${new Date().toISOString().slice(0, 10)}: ${run.versions}.
${cores.length} cores (${cores[0]?.model.trim()}) and ${figure(totalmem() / 2 ** 30, 0)} GB of memory for PostgreSQL, the server and the load together. The ratios within a run say more than its
absolute figures: the servers share whatever disturbs them.

\`bare\` is a \`node:http\` handler that knows the documents by heart and sends hand-written SQL with the same role set-up through \`pg\` in one
batch. PostGraphile has its Amber preset and the plugins for short names, filters, orders by relations and aggregates.

Medians of ${run.rounds} rounds. \`of bare\`: requests per second divided by those of \`bare\` in the same round. CPU seconds are for 1,000 requests. Each of
${run.connections} connections sends its next request when its answer is in.

${describeTable(slices)}

## What is asked

${describeRows(
  ['workload', 'what'],
  run.workloads.map(({ name, title }) => [name, title]),
)}

Each server gets the same 64 requests in turn, as \`anon\` or with the tokens of 64 listeners. Before anything is measured, the values of all
answers are compared between the servers. Under load each answer is compared with the one seen before, byte for byte, in inserts but for ids
and times; \`wrong\` counts the others.

## How to repeat it

    npm ci
    npm run bench

Slices of ${run.seconds} s; the servers take turns in every round, and have been under each workload for ${run.warmUp} s ahead of the first. Each server is
one process (rowgraph as the built package) with a pool of ${run.poolSize} connections, in production mode. PostgreSQL runs on the same machine with
${Object.entries(databaseSettings)
  .map(([name, value]) => `\`${name} = ${value}\``)
  .join(', ')},
over about 600,000 rows that [seed.sql](data/seed.sql) makes.
`;
}

/** The README with its figures replaced by those of the results. Throws if either text lacks what is looked for. */
export function withFigures(readme: string, results: string): string {
  const from = readme.indexOf(start);
  const to = readme.indexOf(end);
  if (from < 0 || to < from) throw new Error(`README.md lacks ${start} and ${end}, between which the figures stand`);
  return `${readme.slice(0, from)}${start}\n${describeFigures(results)}\n${readme.slice(to)}`;
}

/** The workload that says most in one line: relations over several tables. */
const shown = 'nested';

function describeFigures(results: string): string {
  const [day, versions] = find(results, /on (\d{4}-\d\d-\d\d): (.+)\.$/m);
  const [machine] = find(results, /^(\d+ cores .+?) for PostgreSQL/m);
  const [rounds] = find(results, /^Medians of (\d+) rounds/m);
  const [question] = find(results.slice(results.indexOf('## What is asked')), new RegExp(`^\\| ${shown} +\\| (.+?) *\\|$`, 'm'));
  const [own, bare, other] = (['rowgraph', 'bare', 'postgraphile'] as const).map((server) =>
    Number(find(results, new RegExp(`^\\| ${shown} +\\| ${server} +\\| +(\\d+) \\|`, 'm'))[0]).toLocaleString('en-US'),
  );
  return `**${own} requests a second** through one process for ${question}. A server that sends hand-written SQL for this and does nothing else makes ${bare}, PostGraphile ${other}.

Medians of ${rounds} rounds on ${day}: ${versions}; ${machine} for PostgreSQL, the server and the load together. [All figures](bench/results.md).
`;
}

function find(text: string, pattern: RegExp): string[] {
  const [, ...groups] = pattern.exec(text) ?? [];
  if (groups.length === 0) throw new Error(`bench/results.md has nothing like ${pattern}`);
  return groups.map((group) => group ?? '');
}

const sources = fileURLToPath(new URL('../../src', import.meta.url));

/** The commit, and whether `src` differs from it. */
export function readCommit(): string {
  const git = (...words: string[]): string => execFileSync('git', words, { encoding: 'utf8', cwd: sources }).trim();
  try {
    return `commit ${git('log', '-1', '--format=%h')}${git('status', '--porcelain', '.') === '' ? '' : ', with changes that are not committed'}`;
  } catch {
    return 'outside a repository';
  }
}
