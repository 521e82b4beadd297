/**
 * Mixed attacks on one process for minutes, during ordinary traffic. The ordinary traffic must not see a single failure, and memory must
 * not grow.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { RandomSource } from '../../test/property/random-source.ts';
import { describeRows, figure } from '../report/describe-table.ts';
import { readCommit } from '../report/write-report.ts';
import { attacks } from './attacks/attacks.ts';
import type { MemoryFigures } from './memory-watch.ts';
import { runVictim } from './run-victim.ts';
import { type Arena, openArena, startArenaDatabase } from './start-arena.ts';
import { Tally } from './tally.ts';
import type { VictimReport } from './victim.ts';

const seed = 13;
const atOnce = 3;
const turn = 10_000;

interface Minute {
  readonly memory: MemoryFigures;
  /** In MB, when it was least. */
  readonly inUse: number;
  readonly seen: VictimReport;
  /** Of the event loop, in milliseconds. */
  readonly longestBlock: number;
}

/** Runs attacks in random order, several at a time; prints a line per minute, and resolves to a page. */
export async function runSiege(minutes: number, root: string): Promise<string> {
  const database = await startArenaDatabase();
  const arena = await openArena(database, root);
  const subject = 'the-victim';
  const victim = runVictim({ url: arena.url, headers: arena.userHeaders(subject), subject, requestsPerSecond: 25 });
  const end = AbortSignal.timeout(minutes * 60_000);
  arena.forgetFigures();
  const attacking = attackInTurns(arena, end);
  const passed: Minute[] = [];
  for (let minute = 1; minute <= minutes; minute++) {
    await sleep(60_000);
    passed.push({ ...noteMinute(arena), seen: await victim.report() });
    arena.forgetFigures();
    console.log(`minute ${rowOf(passed.at(-1)!, minute).join(' | ')} ${arena.deaths.join()}`);
  }
  const tallies = await attacking;
  passed.push({ ...noteMinute(arena), seen: await victim.stop() });
  const page = describeSiege(passed, tallies, arena);
  await arena.close();
  await database.stop();
  return page;
}

function noteMinute(arena: Arena): Omit<Minute, 'seen'> {
  return { memory: arena.memory(), inUse: arena.leastInUse(), longestBlock: arena.longestBlock() };
}

async function attackInTurns(arena: Arena, end: AbortSignal): Promise<ReadonlyMap<string, Tally>> {
  const random = new RandomSource(seed);
  const mixed = attacks.filter(({ name, flags, isOutage }) => name !== 'none' && !flags && !isOutage);
  const tallies = new Map(mixed.map(({ name }) => [name, new Tally()]));
  const attackers = Array.from({ length: atOnce }, async () => {
    while (!end.aborted) {
      const attack = random.pick(mixed);
      const length = attack.seconds === undefined ? turn : attack.seconds * 1000;
      const tally = tallies.get(attack.name)!;
      await attack.run(arena, AbortSignal.any([end, AbortSignal.timeout(length)]), tally).catch((error) => tally.count(String(error)));
    }
  });
  await Promise.all(attackers);
  return tallies;
}

const heads = ['minute', 'in use MB', 'memory MB', 'at most', 'sent', 'right', 'failed', 'p50 ms', 'p99 ms', 'longest block ms'];

function rowOf({ memory, inUse, seen, longestBlock }: Minute, minute: number | string): string[] {
  const failed = Object.entries(seen.others).map(([outcome, count]) => `${count} ${outcome}`);
  if (seen.wrong > 0) failed.push(`${seen.wrong} WRONG`);
  const counts = [String(seen.sent), String(seen.ok), failed.join(', ') || '0'];
  return [
    String(minute),
    figure(inUse, 0),
    figure(memory.least, 0),
    figure(memory.most, 0),
    ...counts,
    figure(seen.p50, 1),
    figure(seen.p99, 0),
    figure(longestBlock, 0),
  ];
}

function describeSiege(passed: readonly Minute[], tallies: ReadonlyMap<string, Tally>, arena: Arena): string {
  const rows = passed.map((minute, index) => rowOf(minute, index + 1 < passed.length ? index + 1 : 'the end'));
  const sum = (read: (seen: VictimReport) => number): number => passed.reduce((total, { seen }) => total + read(seen), 0);
  const attackers = [...tallies].filter(([, { sent }]) => sent > 0).map(([name, tally]) => [name, tally.describe()]);
  return `# Results of \`npm run bench:abuse -- --minutes ${passed.length - 1}\`

This page is written by the script. It ran on ${new Date().toISOString().slice(0, 10)}, ${readCommit()}: ${atOnce} attacks at a time, in turns of ${turn / 1000} s, on one process with
the default settings, beside an ordinary user who sends 25 requests a second from another address. Of ${sum(({ sent }) => sent)} requests of the user ${sum(({ ok }) => ok)}
had the right answer. The process ended ${arena.deaths.length} times. "In use" is what V8's heap and the buffers had in use when they had least in that minute,
which is after a garbage collection. "Memory" is what the process had from the system (RSS) when it had least in that minute; "at most", its
peak since the start. The longest block is that of the event loop.

${describeRows(heads, rows, 1)}

## The attacks

${describeRows(['attack', 'what the attackers got'], attackers)}
`;
}
