/** `bench/abuse.md`: the table of all attacks, with what is needed to repeat them. */
import { cpus } from 'node:os';
import { describeRows, figure } from '../report/table.ts';
import { attacks } from './attacks/attacks.ts';
import type { Measured } from './measure-attack.ts';

/** A line for the terminal. */
export function describeMeasured(measured: Measured): string {
  return `${measured.attack.name} ${rowOf(measured).slice(1).join(' | ')}${measured.defects > 0 ? ` | ${measured.defects} DEFECTS` : ''}`;
}

const heads = [
  'attack',
  'code',
  'what the attacker gets',
  'p50 ms',
  'p99 ms',
  'sent',
  'not answered',
  'memory MB',
  'longest block ms',
  'the server',
];

function rowOf({ attack, isBefore, attacker, victim, deaths, memory, longestBlock, isWell }: Measured): string[] {
  const others = Object.entries(victim.others).map(([outcome, count]) => `${count} ${outcome}`);
  if (victim.wrong > 0) others.push(`${victim.wrong} WRONG`);
  const state = isWell ? 'serves' : 'does not answer';
  return [
    attack.title,
    isBefore ? 'before' : 'now',
    attacker,
    figure(victim.p50, 1),
    figure(victim.p99, 0),
    String(victim.sent),
    others.join(', ') || '0',
    figure(memory, 0),
    figure(longestBlock, 0),
    deaths.length === 0 ? state : `died ${deaths.length} times, ${state}`,
  ];
}

/** The rows of an earlier page, without those of attacks that were measured again or exist no more. */
function keptRows(earlier: string, rows: readonly string[][]): string[][] {
  const measured = new Set(rows.map(([title, code]) => `${title} ${code}`));
  const known = new Set(attacks.map(({ title }) => title));
  const lines = earlier.split('\n').filter((line) => /^\| .* \| (before|now) /.test(line));
  const kept = lines.map((line) =>
    line
      .slice(2, -2)
      .split(' | ')
      .map((cell) => cell.trim()),
  );
  return kept.filter(([title = '', code]) => known.has(title) && !measured.has(`${title} ${code}`));
}

/** The facts about a run. */
export interface RunFacts {
  readonly commit: string;
  readonly seconds: number;
  /** The page that this one replaces, or ''. Attacks that were not measured now keep their rows. */
  readonly earlier: string;
}

/** The page, with the attacks in their usual order. */
export function writeAbuseReport(all: readonly Measured[], { commit, seconds, earlier }: RunFacts): string {
  const measured = all.map(rowOf);
  const order = attacks.map(({ title }) => title);
  const place = ([title = '', code]: readonly string[]): number => 2 * order.indexOf(title) + (code === 'now' ? 1 : 0);
  const rows = [...keptRows(earlier, measured), ...measured].sort((one, other) => place(one) - place(other));
  return `# Results of \`npm run bench:abuse\`

This page is written by the script. An attack lasts ${seconds} s where its title does not say otherwise. Its latest run was on ${new Date().toISOString().slice(0, 10)}: ${commit}, Node ${process.versions.node}, ${cpus().length} cores for
the attackers, the victim, PostgreSQL and the server together; what it did not measure is from earlier runs. "Before" is the checkout that \`--before\` names.

Each attack has a server of its own with the default settings, started anew a second after it dies, and a victim: a user with a token of its own, from another
address, who sends 25 requests a second (reads and inserts) whatever becomes of the ones before. Latencies count from when a request was due. The
longest block is that of the event loop, in processor time of its thread where other programs were in the way.

${describeRows(heads, rows, 3)}

## How to repeat it

    npm run bench:abuse -- --before FOLDER --seconds ${seconds}

With \`--attacks\` the rows of some attacks are measured anew, and the others stay.

`;
}
