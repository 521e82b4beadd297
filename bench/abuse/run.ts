/**
 * `npm run bench:abuse`: attacks a `rowgraph serve` while an ordinary user sends requests, and reports what both see. Prints a line per
 * attack; with `--before`, updates abuse.md.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { readCommit } from '../report/report.ts';
import { attacks } from './attacks/attacks.ts';
import { type Measured, measureAttack } from './measure-attack.ts';
import { describeMeasured, writeAbuseReport } from './report.ts';
import { startArenaDatabase } from './start-arena.ts';

const usage = `npm run bench:abuse -- [options]

  --attacks NAMES   some of ${attacks.map(({ name }) => name).join(', ')}
  --before FOLDER   attack the program of this checkout, too, and put both into bench/abuse.md
  --seconds NUMBER  length of an attack, where it has none of its own (default: 15)
  --help            this text`;

const { values: options } = parseArgs({
  options: {
    attacks: { type: 'string' },
    before: { type: 'string' },
    seconds: { type: 'string', default: '15' },
    help: { type: 'boolean', default: false },
  },
});

const here = fileURLToPath(new URL('../..', import.meta.url));

async function compare(): Promise<void> {
  const names = options.attacks?.split(',');
  const unknown = names?.find((name) => !attacks.some((attack) => attack.name === name));
  if (unknown !== undefined) throw new Error(`There is no attack ${unknown}\n\n${usage}`);
  const roots = options.before === undefined ? [here] : [options.before, here];
  const commit = readCommit();
  const all: Measured[] = [];
  for (const attack of attacks.filter(({ name }) => names?.includes(name) ?? true)) {
    for (const root of roots) {
      // Each attack has its own database, so that none finds what another has left behind.
      const database = await startArenaDatabase();
      const measured = await measureAttack(attack, { database, root, seconds: Number(options.seconds), isBefore: root !== here });
      await database.stop();
      all.push(measured);
      console.log(describeMeasured(measured));
    }
  }
  if (roots.length === 1) return;
  const page = new URL('../abuse.md', import.meta.url);
  const earlier = existsSync(page) ? readFileSync(page, 'utf8') : '';
  writeFileSync(page, writeAbuseReport(all, { commit, seconds: Number(options.seconds), earlier }));
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
if (options.help) console.log(usage);
else await compare();
