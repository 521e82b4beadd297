/**
 * `npm run bench:live`: what live queries promise, measured on a PostgreSQL with fsync. Whole in some twelve minutes, `--quick` in two,
 * `--only checker,latency` in parts. `--write` writes bench/live-results.md.
 */
import { writeFile } from 'node:fs/promises';
import { availableParallelism, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import type { TestDatabases } from '../test/support/test-databases.ts';
import { type CheckedRun, checkMode } from './live/checker.ts';
import { itemsSql } from './live/items.ts';
import { measureBare, measureLatency } from './live/latency.ts';
import { measureSockets } from './live/sockets.ts';
import { createDatabase, startServer } from './live/start-server.ts';
import { measureWriters } from './live/writers.ts';
import { readCommit } from './report/report.ts';
import { describeRows, figure } from './report/table.ts';

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
});
const { quick } = values;

/** A figure, what it should be, and whether it is. */
interface Finding {
  readonly what: string;
  readonly target: string;
  readonly measured: string;
  readonly isMet: boolean;
}

interface Section {
  readonly findings: readonly Finding[];
  readonly table?: string;
}

const ms = (number: number): string => `${figure(number, number < 10 ? 1 : 0)} ms`;

async function check(databases: TestDatabases): Promise<Section> {
  const writes = quick ? 1000 : 20_000;
  const runs: CheckedRun[] = [];
  for (const mode of ['wal', 'messages', 'table', 'poll', 'notify'] as const)
    for (const withFaults of [false, true]) {
      const run = await checkMode(databases, mode, writes, withFaults);
      console.log(JSON.stringify(run));
      runs.push(run);
    }
  const sum = (read: (run: CheckedRun) => number): number => runs.reduce((total, run) => total + read(run), 0);
  const [late, wrong] = [sum((run) => run.differAfterSecond), sum((run) => run.differAtLast)];
  const rows = runs.map((run) => [
    run.mode,
    run.faults.join(', ') || 'none',
    figure(run.seconds, 0),
    String(run.evaluations),
    String(run.answers),
    String(run.differAfterSecond),
    run.differAfterSecond === 0 ? '–' : figure(run.rightAfter / 1000, 1),
    String(run.differAtLast),
  ]);
  const heads = ['mode', 'ended meanwhile', 'writing, s', 'evaluations', 'answers', 'differ after 1 s', 'right after, s', 'differ at last'];
  const measured = `${late} differ after 1 s, ${wrong} at last`;
  const what = `${writes.toLocaleString('en-US')} random writes over 200 cohorts, ${runs.length} runs: last answers`;
  return {
    findings: [{ what, target: '0 differ after 1 s', measured, isMet: late === 0 && wrong === 0 }],
    table: describeRows(heads, rows),
  };
}

async function measureLatencies(databases: TestDatabases): Promise<Section> {
  const database = await createDatabase(databases, itemsSql, 'wal');
  const findings: Finding[] = [];
  const add = (what: string, target: string, measured: string, isMet: boolean): void => {
    findings.push({ what, target, measured, isMet });
    console.log(`${what}: ${measured} (${target})`);
  };
  const rested = await measureLatency(database, 1, quick ? 60 : 300, 120);
  add('1 cohort, at rest before each commit: p50', '≤ 5 ms', ms(rested.p50), rested.p50 <= 5);
  add('the same: p99', '≤ 25 ms', ms(rested.p99), rested.p99 <= 25);
  const busy = await measureLatency(database, 1, quick ? 60 : 300, 10);
  add('1 cohort, a commit soon after each answer: p99', '≤ 25 ms', ms(busy.p99), busy.p99 <= 25);
  const hundred = await measureLatency(database, 100, quick ? 20 : 150, 100);
  add('100 cohorts, each changed by each commit: p99', '≤ 80 ms', ms(hundred.p99), hundred.p99 <= 80);
  const thousand = await measureLatency(database, 1000, quick ? 5 : 102, 100);
  add(`1,000 cohorts, each changed by each commit: p50`, '–', ms(thousand.p50), true);
  add('the same: p99', '≤ 500 ms', ms(thousand.p99), thousand.p99 <= 500);
  const foreign = rested.foreign + busy.foreign + hundred.foreign + thousand.foreign;
  const evaluations = thousand.evaluations.toLocaleString('en-US');
  add(`${evaluations} evaluations for 1,000 callers of two roles: rows of others`, '0', String(foreign), foreign === 0);
  for (const connections of [2, 8]) {
    const bare = await measureBare(database, 1000, connections);
    add(`the same rows for 1,000 callers from PostgreSQL alone, ${connections} connections`, 'for comparison', ms(bare), true);
  }
  return { findings };
}

async function measureManySockets(databases: TestDatabases): Promise<Section> {
  const sockets = quick ? 2000 : 10_000;
  const database = await createDatabase(databases, itemsSql, 'wal');
  const many = await measureSockets(database, { sockets, cohorts: 1000, silentSeconds: quick ? 10 : 60, commits: quick ? 3 : 10 });
  console.log(JSON.stringify(many));
  const one = await measureSockets(database, { sockets, cohorts: 1, silentSeconds: 1, commits: quick ? 3 : 10 });
  console.log(JSON.stringify(one));
  const count = many.sockets.toLocaleString('en-US');
  const rows: [string, string, string, boolean][] = [
    [`${count} sockets in ${many.cohorts} cohorts: memory above idle`, '≤ 250 MB', `${figure(many.memory, 0)} MB`, many.memory <= 250],
    [`evaluations in ${many.silentSeconds} s of silence`, '0', String(many.evaluationsInSilence), many.evaluationsInSilence === 0],
    ['a commit that changes all of them: to the last socket, median', '–', ms(many.last), true],
    ['the same: the event loop blocked', '≤ 50 ms', ms(many.longestBlock), many.longestBlock <= 50],
    [`${count} sockets in 1 cohort, ${one.bytes} bytes: to the last socket, median`, '≤ 1000 ms', ms(one.last), one.last <= 1000],
    ['the same: the longest', '≤ 1000 ms', ms(one.longestLast), one.longestLast <= 1000],
    ['the same: the event loop blocked', '≤ 50 ms', ms(one.longestBlock), one.longestBlock <= 50],
    ['the same: memory above idle', '–', `${figure(one.memory, 0)} MB`, true],
  ];
  return { findings: rows.map(([what, target, measured, isMet]) => ({ what, target, measured, isMet })) };
}

async function measureAllWriters(databases: TestDatabases): Promise<Section> {
  const findings: Finding[] = [];
  const plain = await createDatabase(databases, itemsSql, 'poll');
  for (const mode of ['wal', 'messages', 'table', 'notify'] as const) {
    const live = await createDatabase(databases, itemsSql, mode);
    for (const clients of [8, 32]) {
      const size = quick ? { seconds: 2, rounds: 1 } : { seconds: 4, rounds: 3 };
      const { without, withLive, ratio, readerRatio } = await measureWriters(plain, live, mode, { clients, ...size });
      const target = mode === 'notify' ? 'for comparison' : '≥ 0.85';
      const bound = readerRatio === null ? '' : `; beside a reader alone ${figure(readerRatio, 2)}`;
      const measured = `${figure(withLive, 0)} of ${figure(without, 0)}: ${figure(ratio, 2)}${bound}`;
      findings.push({
        what: `inserts/s of ${clients} clients beside it, ${mode}`,
        target,
        measured,
        isMet: mode === 'notify' || ratio >= 0.85,
      });
      console.log(`${mode}, ${clients} clients: ${measured}`);
    }
  }
  return { findings };
}

const parts = { latency: measureLatencies, sockets: measureManySockets, writers: measureAllWriters, checker: check };

function toPage(sections: readonly Section[], loads: readonly number[]): string {
  const rows = sections
    .flatMap(({ findings }) => findings)
    .map((each) => [each.what, each.target, each.measured, each.isMet ? '' : 'missed']);
  const tables = sections.flatMap(({ table }) => table ?? []);
  const others = Math.round(Math.min(...loads));
  return `# Results of \`npm run bench:live\`

This page is written by the benchmark. It ran on ${new Date().toISOString().slice(0, 10)}: rowgraph at ${readCommit()}, Node ${process.versions.node}, PostgreSQL on the
same machine with fsync on, ${availableParallelism()} cores for the server, PostgreSQL and all clients. The load average was ${others} to ${Math.round(Math.max(...loads))}: ${others > 2 ? 'other programs used the machine as well, and an idle one is faster' : 'nothing else ran'}.
${quick ? '\nThis was a quick run, with fewer writes, commits and sockets.\n' : ''}
A commit is when the writer's connection says so, an answer when the client has it. Subscriptions are in the process of the benchmark,
except those of sockets, whose server has a process of its own. All answers are computed under row level security, each for its caller.

${describeRows(['what', 'target', 'measured', ''], rows, 4)}

**What bounds what.** Each cohort is a transaction of its own with the caller's role and claims, on a quarter of the pool (two connections of
ten), so that requests do not wait: the rows "from PostgreSQL alone" say what the same transactions take without rowgraph. A cohort whose
last evaluation began less than \`--live-interval\` (50 ms) ago waits for the rest of it, so a commit soon after an answer takes up to that
long. A client that polled every second would hear of a commit after half a second in the middle, and ask 1,000 cohorts' worth of
transactions each second while nothing changes, which is a core's work for as long as the row says.

**What writers pay.** "A reader alone" takes the replication stream and does nothing with it: what is missing beside it is PostgreSQL's
decoding. For each transaction the WAL sender sends three messages, each with a system call of its own, and asks for a reply as often
(counted with strace: 4,363 \`sendto\` and 4,417 \`recvfrom\` for 1,454 commits), whatever reads them. All clients share two cores with the
server, so each microsecond is one that a writer lacks. Writers that leave a core some rest lose nothing: with 8 clients at 5,000 inserts/s,
medians and 99th percentiles of an insert are the same with live queries and without (0.4 and 3 to 8 ms), and a core is used by

| beside 5,000 inserts/s (2026-11-28)   | WAL sender | reader | its queries | together | for each insert |
|---------------------------------------|-----------:|-------:|------------:|---------:|----------------:|
| \`pg_recvlogical\` to /dev/null        |       15 % |   13 % |           – |     28 % |           56 µs |
| rowgraph with 101 cohorts, now        |        8 % |   10 % |         3 % |     21 % |           42 µs |
| the same at b92c7779                  |       19 % |   41 % |        12 % |     72 % |          144 µs |

Since then the stream is read in bursts, at most every 5 ms, which wakes nobody for single commits, and what is visible is asked for as
rarely; a third of the reader's time had been an \`AbortController\` for each commit.

**For context**, not to compare: Hasura [published](https://github.com/hasura/graphql-engine/blob/master/architecture/live-queries.md) in 2019, of servers that poll every second, 10,000
live queries on one server with 2 cores at a load of 73 %, and a million on many, with a PostgreSQL of 16 cores at 28 %.

${
  tables.length === 0
    ? ''
    : `## The checker

Each run writes inserts, updates, deletes, truncates, cascades, upserts, merges, rows of partitions, of a table without a key and of an
unlogged one, with 8 connections, while 200 subscriptions are open: policies with subqueries and with security definer functions, views,
relations three deep, aggregates, partitions, functions with dynamic SQL. "Differ" counts the subscriptions whose last answer is not what
the query gives then.

${tables.join('\n\n')}
`
}`;
}

// PostgreSQL and the servers end with this process.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
const chosen = Object.entries(parts).filter(([name]) => values.only === undefined || values.only.split(',').includes(name));
const loads = [loadavg()[0] ?? 0];
const databases = await startServer();
const sections: Section[] = [];
try {
  for (const [name, run] of chosen) {
    console.log(`\n${name}`);
    sections.push(await run(databases));
    loads.push(loadavg()[0] ?? 0);
  }
} finally {
  await databases.close();
}
const page = toPage(sections, loads);
console.log(`\n${page}`);
if (values.write) await writeFile(new URL('live-results.md', import.meta.url), page);
