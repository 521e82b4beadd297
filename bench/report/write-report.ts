/** `bench/results.md` and `bench/limits.md`: the tables, with what is needed to judge and repeat them. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { databaseSettings } from '../data/start-database.ts';
import type { Slice } from '../measure/measure-slice.ts';
import { median, ratioOf } from '../measure/summarize-slices.ts';
import { peerVersion } from '../servers/install-peers.ts';
import { limitServers, type ServerName } from '../servers/start-server.ts';
import type { Workload } from '../workloads/workload.ts';
import { workloads } from '../workloads/workloads.ts';
import { cpuOf, describeRows, describeSummaries, describeTable, figure, ratioFigure, tableTitles } from './describe-table.ts';

export interface ReportFacts {
  readonly servers: readonly ServerName[];
  readonly workloads: readonly Workload[];
  readonly seconds: number;
  readonly rounds: number;
  readonly warmUp: number;
  readonly copies: number;
  readonly restarts: number;
  readonly turnSeconds: number | null;
  readonly connections: number;
  readonly poolSize: number;
  readonly postgres: string;
  /** The result of `readCommit` when the servers started. */
  readonly commit: string;
}

const sourceFolder = fileURLToPath(new URL('../../src', import.meta.url));

/** `results.md`. */
export function writeReport(slices: readonly Slice[], facts: ReportFacts): string {
  return `# Results of \`npm run bench\`

This page is written by the benchmark. ${describeRun(facts, describePeers(facts))}

${describeMachine(slices)}

## rowgraph against the others

Requests per second and p99 of rowgraph, divided by those of the other server in the same round: the medians of the rounds. \`bare\` is a \`node:http\` handler that knows
the documents by heart and sends hand-written SQL with the same role set-up through \`pg\` in one batch: the limit of the platform.
A dash: the other server has nothing to compare with; PostGraphile is asked for what it has with the plugins below.

${describeRatios(slices)}

## All figures

Medians of ${facts.rounds} rounds. CPU seconds are for 1,000 requests; memory is what the server's process holds behind its slice.
\`of bare\`: requests per second divided by those of \`bare\` in the same round; \`CPU of bare\`: the same for the CPU time of a request, of server and PostgreSQL. Each of ${facts.connections} connections sends its next request when its answer is in.

${describeTable(slices)}

## What is asked

${describeRows(
  ['workload', 'what'],
  facts.workloads.map(({ name, title }) => [name, title]),
)}

Each server gets the same 64 requests in turn, as \`anon\` or with the tokens of 64 listeners. Before anything is measured, the values of all answers are compared
between the servers (not those of introspection: the schemas differ). Under load each answer is compared with the one seen before, byte for
byte, in inserts but for ids and times; \`wrong\` counts the others.

## How to repeat it

    npm ci
    npm run bench -- --seconds ${facts.seconds} --rounds ${facts.rounds} --warm-up ${facts.warmUp}

Slices of ${facts.seconds} s, each behind a short one; the servers take turns in every round, and have been under each workload for ${facts.warmUp} s ahead of the first. Each server is one process
(rowgraph as the built package) with a pool of ${facts.poolSize} connections, in production mode. PostGraphile has its Amber preset and the plugins for short names, filters and
aggregates. PostgreSQL runs on the same machine with the settings
${Object.entries(databaseSettings)
  .map(([name, value]) => `\`${name} = ${value}\``)
  .join(', ')}, over about 600,000 rows that
[seed.sql](data/seed.sql) makes.
`;
}

/** `limits.md`. `earlier` is the page that it replaces: workloads that were not measured now keep their rows. */
export function writeLimitsReport(slices: readonly Slice[], facts: ReportFacts & { readonly earlier: string }): string {
  const kept = keptRows(facts);
  const measured = facts.workloads.map(({ name }) => {
    const ratio = (read: (slice: Slice) => number): string => ratioFigure(ratioOf(slices, name, ['mounted', 'unlimited'], read));
    return [
      name,
      ratio(({ requestsPerSecond }) => requestsPerSecond),
      ratio(({ p99 }) => p99),
      ratio(({ serverCpu }) => serverCpu),
      ratio(({ postgresCpu }) => postgresCpu),
      ratio(cpuOf),
      String(facts.restarts),
      /[0-9a-f]{7,}/.exec(facts.commit)?.[0] ?? '–',
    ];
  });
  return `# What limits and deadlines cost

This page is written by \`npm run bench:limits\`. ${describeRun(facts)}

${describeMachine(slices)} Workloads with another commit than this one were measured in earlier runs.

\`mounted\` is rowgraph in a \`node:http\` server with its default [limits](../docs/limits.md) and deadlines; \`unlimited\` is the same server with none: no
request is over a limit or has a deadline, and PostgreSQL gets no \`statement_timeout\`.

## With limits and deadlines, divided by without

Medians of ${facts.rounds} rounds of the ratios within a round, for ${facts.copies} ${facts.copies === 1 ? 'process' : 'processes'} of each server${
    facts.restarts > 1 ? `, started ${facts.restarts} times in changing order: the mean, and its standard error` : ''
  }.${
    facts.turnSeconds === null
      ? ''
      : ` The servers took turns of ${facts.turnSeconds} s, so that what disturbed the machine disturbed both.`
  }

${describeRows(['workload', 'req/s', 'p99', 'server CPU', 'PostgreSQL CPU', 'CPU of both', 'starts', 'commit'], inOrder([...kept.ratios, ...measured]), 1)}

## All figures

CPU seconds are for 1,000 requests. Each of ${facts.connections} connections sends its next request when its answer is in. What the workloads ask is in
[results.md](results.md).

${describeRows(tableTitles(slices), inOrder([...kept.figures, ...describeSummaries(slices)]))}

## How to repeat it

    npm ci
    npm run bench:limits -- --seconds ${facts.seconds} --rounds ${facts.rounds} --warm-up ${facts.warmUp} --copies ${facts.copies} --restarts ${facts.restarts}${facts.turnSeconds === null ? '' : ` --turn ${facts.turnSeconds}`}
`;
}

/** The rows of both tables of an earlier `limits.md` whose workloads were not measured now. */
function keptRows({ earlier, workloads: measured }: ReportFacts & { readonly earlier: string }): Record<'ratios' | 'figures', string[][]> {
  const lines = earlier.split('\n').filter((line) => workloads.some(({ name }) => line.startsWith(`| ${name} `)));
  const rows = lines.map((line) =>
    line
      .slice(2, -2)
      .split(' | ')
      .map((cell) => cell.trim()),
  );
  const kept = rows.filter(([name]) => !measured.some((workload) => workload.name === name));
  const isFigure = ([, second = '']: readonly string[]): boolean => limitServers.some((name) => name === second);
  return { ratios: kept.filter((row) => !isFigure(row)), figures: kept.filter(isFigure) };
}

/** Rows in the usual order of their workloads. */
function inOrder(rows: readonly string[][]): string[][] {
  const place = ([name]: readonly string[]): number => workloads.findIndex((workload) => workload.name === name);
  return rows.toSorted((one, other) => place(one) - place(other));
}

/** The state of the sources: the commit, and whether `src` differs from it. */
export function readCommit(): string {
  const git = (...words: string[]): string => execFileSync('git', words, { encoding: 'utf8', cwd: sourceFolder }).trim();
  try {
    return `commit ${git('log', '-1', '--format=%h')}${git('status', '--porcelain', '.') === '' ? '' : ', with changes that are not committed'}`;
  } catch {
    return 'outside a repository';
  }
}

/** `peers`: what else was measured, with a comma behind it. */
function describeRun({ postgres, commit }: ReportFacts, peers = ''): string {
  const own = (name: string): string => (JSON.parse(readFileSync(new URL(name, import.meta.url), 'utf8')) as { version: string }).version;
  return [
    `It ran on ${new Date().toISOString().slice(0, 10)}: rowgraph ${own('../../package.json')} (${commit}),`,
    `pg ${own('../../node_modules/pg/package.json')}, ${peers}Node ${process.versions.node}, PostgreSQL ${postgres}.`,
  ].join('\n');
}

function describePeers({ servers }: ReportFacts): string {
  return servers.includes('postgraphile')
    ? `PostGraphile ${peerVersion('postgraphile')}, `
    : 'without PostGraphile, which could not be installed, ';
}

function describeMachine(slices: readonly Slice[]): string {
  const others = slices.map(({ otherCores }) => otherCores);
  const noise = Number.isFinite(others[0] ?? Number.NaN)
    ? `Other programs used ${figure(median(others), 2)} cores meanwhile (median of the slices; at most ${figure(Math.max(...others), 2)}).`
    : 'What other programs used meanwhile is not known.';
  const cores = cpus();
  return `${cores.length} cores (${cores[0]?.model.trim()}), ${figure(totalmem() / 2 ** 30, 0)} GB of memory, for PostgreSQL, the server and the load together.
${noise}
Ratios within a run say more than its absolute figures: the servers share whatever disturbs them.`;
}

function describeRatios(slices: readonly Slice[]): string {
  const rows = [...new Set(slices.map(({ workload }) => workload))].map((workload) => {
    const ratios = (['bare', 'postgraphile'] as const).flatMap((other) => [
      ratioOf(slices, workload, ['rowgraph', other], ({ requestsPerSecond }) => requestsPerSecond),
      ratioOf(slices, workload, ['rowgraph', other], ({ p99 }) => p99),
    ]);
    return [workload, ...ratios.map(ratioFigure)];
  });
  return describeRows(['workload', 'req/s to bare', 'p99 to bare', 'req/s to PostGraphile', 'p99 to PostGraphile'], rows, 1);
}
