/**
 * Inserts per second with live queries, without, and beside a reader of the replication stream that does nothing else, one after the other.
 * Run as a program, it is the writers.
 */
import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { openSessionsAt } from '../../src/database/sessions.ts';
import { publicationName } from '../../src/extension/install-live.ts';
import { createRowgraph } from '../../src/index.ts';
import type { LiveMode } from '../../src/live/changes/change-feed.ts';
import type { TestDatabase } from '../../test/support/test-databases.ts';
import { median } from '../report/table.ts';
import { callerOf, itemSelection } from './items.ts';
import { superuserUrl } from './start-server.ts';

export interface WriterFigures {
  readonly mode: LiveMode;
  readonly clients: number;
  /** Inserts per second: medians of the rounds. */
  readonly without: number;
  readonly withLive: number;
  /** The medians of the ratios of the rounds; null for a mode without a replication stream. */
  readonly ratio: number;
  readonly readerRatio: number | null;
}

const program = import.meta.filename;

/** Writers in a process of their own. Resolves to inserts per second. */
async function write(url: string, clients: number, seconds: number): Promise<number> {
  const { stdout } = await promisify(execFile)(process.execPath, [program, url, String(clients), String(seconds)]);
  return Number(stdout) / seconds;
}

/** Inserts into a table without live queries, and into one that a subscription depends on, beside 100 others. */
export async function measureWriters(
  plain: TestDatabase,
  live: TestDatabase,
  mode: LiveMode,
  { clients, seconds, rounds }: { clients: number; seconds: number; rounds: number },
): Promise<WriterFigures> {
  const [without, besideReader, withLive]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < rounds; round += 1) {
    without.push(await write(superuserUrl(plain), clients, seconds));
    if (mode === 'wal' || mode === 'messages') {
      const reader = await openSessionsAt(live.url).replicate(publicationName, new AbortController().signal, idle);
      besideReader.push(await write(superuserUrl(live), clients, seconds));
      reader.close();
    }
    const graph = await createRowgraph({ database: live.url, live: mode });
    try {
      const asked = [{ query: `subscription { entryCollection(last: 5) { edges { node { id } } } }`, caller: { role: 'service_role' } }];
      for (let owner = 0; owner < 100; owner += 1) asked.push({ query: `subscription ${itemSelection}`, caller: callerOf(owner) });
      for (const { query, caller } of asked) void drain(graph.subscribe({ query }, caller, { client: JSON.stringify(caller) }));
      await sleep(2000);
      withLive.push(await write(superuserUrl(live), clients, seconds));
    } finally {
      await graph.close();
    }
  }
  const ratioOf = (rates: readonly number[]): number => median(rates.map((rate, index) => rate / (without[index] ?? Number.NaN)));
  const readerRatio = besideReader.length === 0 ? null : ratioOf(besideReader);
  return { mode, clients, without: median(without), withLive: median(withLive), ratio: ratioOf(withLive), readerRatio };
}

const nothing = (): void => {};
const idle = { message: nothing, drained: nothing, stirred: nothing, ended: nothing };

async function drain(answers: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of answers);
}

async function insertRows(url: string, clients: number, seconds: number): Promise<number> {
  const end = performance.now() + seconds * 1000;
  let count = 0;
  await Promise.all(
    Array.from({ length: clients }, async () => {
      const client = new Client(url);
      await client.connect();
      for (; performance.now() < end; count += 1)
        await client.query({ name: 'i', text: 'insert into entry (body) values ($1)', values: ['x'] });
      await client.end();
    }),
  );
  return count;
}

if (process.argv[1] === program) {
  const [url = '', clients, seconds] = process.argv.slice(2);
  process.stdout.write(String(await insertRows(url, Number(clients), Number(seconds))));
}
