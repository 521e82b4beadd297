/** Measures one attack on one checkout: what the attacker achieves, what a victim sees, and the server's memory and event loop. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Attack } from './attack.ts';
import { runVictim } from './run-victim.ts';
import { type Arena, type ArenaDatabase, openArena } from './start-arena.ts';
import { Tally } from './tally.ts';
import type { VictimReport } from './victim.ts';

export interface Measured {
  readonly attack: Attack;
  readonly isBefore: boolean;
  readonly attacker: string;
  readonly victim: VictimReport;
  readonly deaths: readonly string[];
  /** In MB. */
  readonly memory: number;
  readonly longestBlock: number;
  /** Whether the server answers after the attack. */
  readonly isWell: boolean;
  readonly defects: number;
}

export interface Measuring {
  readonly database: ArenaDatabase;
  readonly root: string;
  readonly seconds: number;
  readonly isBefore: boolean;
}

const victimRate = 25;

/** Attacks a server that is started for it. */
export async function measureAttack(attack: Attack, { database, root, seconds, isBefore }: Measuring): Promise<Measured> {
  const arena = await openArena(database, root, attack.flags);
  const subject = 'the-victim';
  const job = { url: arena.url, headers: arena.userHeaders(subject), subject, requestsPerSecond: victimRate };
  const victim = runVictim(job);
  await sleep(1000);
  arena.forgetBlocks();
  await sleep(500);
  // Discard what the victim saw before the attack.
  await victim.report();
  const tally = new Tally();
  const until = AbortSignal.timeout((attack.seconds ?? seconds) * 1000);
  await attack.run(arena, until, tally);
  const seen = await victim.stop();
  let isWell = await answers(arena);
  // A server that has died is restarted.
  for (let attempt = 0; attempt < 10 && !isWell && arena.deaths.length > 0; attempt++) {
    await sleep(500);
    isWell = await answers(arena);
  }
  const measured = {
    attack,
    isBefore,
    attacker: tally.describe(),
    victim: seen,
    deaths: [...arena.deaths],
    memory: arena.memory(),
    longestBlock: arena.longestBlock(),
    isWell,
    defects: arena.log().split('"msg":"defect').length - 1,
  };
  await arena.close();
  return measured;
}

async function answers({ url, anon }: Arena): Promise<boolean> {
  const body = JSON.stringify({ query: '{ accountByPk(id: 1) { id } }' });
  const headers = { ...anon, 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(10_000) }).catch(() => null);
  return response !== null && (await response.text()).includes('"id":1');
}
