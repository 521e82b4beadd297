/** Mixed attacks beside ordinary traffic on one process, for minutes: ordinary traffic is not to see one failure, and memory is to stay as it is. */
import { setTimeout as sleep } from 'node:timers/promises';
import { RandomSource } from '../../test/property/random-source.ts';
import { attacks } from './attacks/attacks.ts';
import { runVictim } from './run-victim.ts';
import { openArena, startArenaDatabase } from './start-arena.ts';
import { Tally } from './tally.ts';

const seed = 13;
const atOnce = 3;
const turn = 10_000;

/** Runs attacks in random turns, some at a time, and prints a line for each minute. */
export async function runSiege(minutes: number, root: string): Promise<void> {
  const database = await startArenaDatabase();
  const arena = await openArena(database, root);
  const random = new RandomSource(seed);
  const mixed = attacks.filter(({ name, flags, isOutage }) => name !== 'none' && !flags && !isOutage);
  const subject = 'the-victim';
  const victim = runVictim({ url: arena.url, headers: arena.userHeaders(subject), subject, requestsPerSecond: 25 });
  const tallies = new Map(mixed.map(({ name }) => [name, new Tally()]));
  const end = AbortSignal.timeout(minutes * 60_000);
  const attackers = Array.from({ length: atOnce }, async () => {
    while (!end.aborted) {
      const attack = random.pick(mixed);
      const length = attack.seconds === undefined ? turn : attack.seconds * 1000;
      await attack.run(arena, AbortSignal.any([end, AbortSignal.timeout(length)]), tallies.get(attack.name)!);
    }
  });
  for (let minute = 1; minute <= minutes; minute++) {
    await sleep(60_000);
    const { now, most } = arena.memory();
    console.log(
      `minute ${minute}: ${now.toFixed(0)} MB (at most ${most.toFixed(0)}) ${JSON.stringify(await victim.report())} ${arena.deaths.join()}`,
    );
  }
  await Promise.all(attackers);
  console.log(`behind it: ${JSON.stringify(await victim.stop())}`);
  for (const [name, tally] of tallies) if (tally.sent > 0) console.log(`${name}: ${tally.describe()}`);
  console.log(`longest block ${arena.longestBlock().toFixed(0)} ms, deaths: ${arena.deaths.join() || 'none'}`);
  await arena.close();
  await database.stop();
}
