/**
 * Whether the last answer of each subscription is right: random writes, while connections, PostgreSQL and the process that reads the changes
 * end, and then a fresh query for each.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { createRowgraph, type Rowgraph } from '../../src/index.ts';
import type { LiveMode } from '../../src/live/changes/change-feed.ts';
import { LastAnswer } from '../../test/live/answers.ts';
import type { TestDatabases } from '../../test/support/test-databases.ts';
import { createDatabase, superuserUrl } from './start-server.ts';
import { type Asked, cohorts, Dice, randomWrite, worldSql } from './world.ts';

export interface CheckedRun {
  readonly mode: LiveMode;
  /** What was ended meanwhile. */
  readonly faults: readonly string[];
  readonly writes: number;
  readonly seconds: number;
  readonly evaluations: number;
  /** Answers that clients have got. */
  readonly answers: number;
  /** How many last answers differed from a fresh query a second after the last write, and after a minute. */
  readonly differAfterSecond: number;
  readonly differAtLast: number;
  /** When the last one was right, in milliseconds after the last write; NaN if never. */
  readonly rightAfter: number;
  /** In which modes the feed was, one after the other. */
  readonly modes: readonly string[];
}

interface Follower {
  readonly asked: Asked;
  readonly last: LastAnswer;
}

const writers = 8;
const longestWait = 60_000;

/** Writes and compares in one mode. `withFaults`: whatever can end ends meanwhile. */
export async function checkMode(databases: TestDatabases, mode: LiveMode, writes: number, withFaults: boolean): Promise<CheckedRun> {
  const database = await createDatabase(databases, worldSql, mode);
  const url = superuserUrl(database);
  const modes: string[] = [];
  // These two read for themselves.
  const leader = withFaults && mode !== 'poll' && mode !== 'notify' ? await startLeader(database.url) : null;
  const graph = await createRowgraph({
    database: database.url,
    live: mode,
    observe: (event) => void (event.kind === 'live-mode' && modes.push(`${event.mode} (${event.part})`)),
  });
  try {
    const followers = cohorts.map((asked) => ({
      asked,
      last: new LastAnswer(graph, `subscription ${asked.selection}`, asked.caller, { client: asked.selection }),
    }));
    await untilAll(followers, ({ last }) => last.count > 0);
    for (const { last, asked } of followers) if (last.text.includes('"errors"')) throw new Error(`${asked.selection}: ${last.text}`);
    const began = performance.now();
    const plan = withFaults ? planFaults(databases, url, mode, leader) : [];
    const faults: string[] = [];
    await writeRandomly(url, writes, async (share) => {
      if (plan[0] === undefined || share < plan[0].at) return;
      const [fault] = plan.splice(0, 1);
      faults.push(fault!.name);
      await fault!.run();
    });
    const ended = performance.now();
    await sleep(1000);
    const differAfterSecond = (await findWrong(graph, followers)).length;
    let wrong: readonly Follower[] = followers;
    let rightAfter = Number.NaN;
    while (wrong.length > 0 && performance.now() - ended < longestWait) {
      const asked = performance.now() - ended;
      wrong = await findWrong(graph, wrong);
      if (wrong.length === 0) rightAfter = asked;
      else await sleep(250);
    }
    for (const { asked, last } of wrong.slice(0, 5)) console.error(`wrong in ${mode}: ${asked.selection} ${last.text.slice(0, 300)}`);
    const evaluations = graph.readStatistics().live?.evaluations ?? 0;
    const answers = followers.reduce((sum, { last }) => sum + last.count, 0);
    return {
      mode,
      faults,
      writes,
      seconds: (ended - began) / 1000,
      evaluations,
      answers,
      differAfterSecond,
      differAtLast: wrong.length,
      rightAfter: differAfterSecond === 0 ? 1000 : rightAfter,
      modes,
    };
  } finally {
    leader?.kill('SIGKILL');
    await graph.close();
  }
}

/** The subscriptions whose last answer is not what a query gives now. */
async function findWrong(graph: Rowgraph, followers: readonly Follower[]): Promise<readonly Follower[]> {
  const fresh = await Promise.all(followers.map(({ asked }) => graph.execute({ query: `query ${asked.selection}` }, asked.caller)));
  return followers.filter(({ last }, index) => JSON.stringify(fresh[index]) !== last.text);
}

async function untilAll(followers: readonly Follower[], isDone: (follower: Follower) => boolean): Promise<void> {
  const deadline = performance.now() + longestWait;
  while (!followers.every(isDone)) {
    if (performance.now() > deadline) throw new Error('Some subscriptions have no answer');
    await sleep(20);
  }
}

interface Fault {
  readonly name: string;
  /** After which share of the writes. */
  readonly at: number;
  run(): Promise<void>;
}

function planFaults(databases: TestDatabases, url: string, mode: LiveMode, leader: ChildProcess | null): Fault[] {
  const runOnce = async (sql: string): Promise<void> => {
    const client = new Client(url);
    await client.connect();
    await client.query(sql);
    await client.end();
  };
  const endStream = 'select pg_terminate_backend(pid) from pg_stat_replication';
  const endAll = `select pg_terminate_backend(pid) from pg_stat_activity where usename = 'authenticator' and backend_type = 'client backend'`;
  const connection: Fault = {
    name: mode === 'wal' || mode === 'messages' ? 'replication connection' : 'connections',
    at: 0.2,
    run: () => runOnce(mode === 'wal' || mode === 'messages' ? endStream : endAll),
  };
  const restart: Fault = { name: 'PostgreSQL', at: 0.45, run: () => databases.restart() };
  const reader: Fault = { name: 'reading process', at: 0.7, run: async () => void leader?.kill('SIGKILL') };
  const again: Fault = { ...connection, name: `${connection.name} at the last write`, at: 0.999 };
  return [connection, restart, ...(leader === null ? [] : [reader]), again];
}

/** Another process, which reads the changes; the one under test follows it. */
async function startLeader(url: string): Promise<ChildProcess> {
  const program = fileURLToPath(new URL('../../test/live/changes/feed-process.ts', import.meta.url));
  const child = spawn(process.execPath, [program, url], { stdio: ['ignore', 'pipe', 'inherit'] });
  process.once('exit', () => child.kill('SIGKILL'));
  child.stdout.setEncoding('utf8');
  for (let text = ''; !text.includes('leading'); ) text += String((await once(child.stdout, 'data'))[0]);
  child.stdout.resume();
  return child;
}

/** `onProgress` is called with the share of the writes that are done, after each. */
async function writeRandomly(url: string, count: number, onProgress: (share: number) => Promise<void>): Promise<void> {
  let done = 0;
  const progress = async (): Promise<void> => {
    done += 1;
    await onProgress(done / count);
  };
  await Promise.all(
    Array.from({ length: writers }, (_, index) => writeAll(url, new Dice(index + 1), Math.ceil(count / writers), progress)),
  );
}

async function writeAll(url: string, dice: Dice, count: number, progress: () => Promise<void>): Promise<void> {
  let client: Client | null = null;
  for (let index = 0; index < count; index += 1) {
    const sql = randomWrite(dice);
    for (;;) {
      try {
        client ??= await connect(url);
        await client.query(sql);
        break;
      } catch (error) {
        const { code = '' } = error as { code?: string };
        // Deadlocks, and rows of teams that are gone.
        if (/^(40|23)/.test(code)) {
          await client?.query('rollback').catch(() => undefined);
          break;
        }
        if (code !== '' && !/^(57P|08|E)/.test(code)) throw error;
        client = null;
        await sleep(20);
      }
    }
    await progress();
  }
  await client?.end();
}

async function connect(url: string): Promise<Client> {
  const client = new Client(url);
  client.on('error', () => undefined);
  await client.connect();
  return client;
}
