/** The options of `npm run bench`. */
import { parseArgs } from 'node:util';
import { comparedServers, limitServers, type ServerName, serverNames } from './servers/start-server.ts';
import type { Workload } from './workloads/workload.ts';
import { workloads } from './workloads/workloads.ts';

export interface BenchmarkOptions {
  readonly servers: readonly ServerName[];
  readonly workloads: readonly Workload[];
  readonly seconds: number;
  readonly rounds: number;
  /** How many processes of each server to start: two processes of one program differ by up to 8 %. */
  readonly copies: number;
  /** How often to start the servers and measure them: what is special about a process lasts as long as the process does. */
  readonly restarts: number;
  /** Seconds that each server spends under each workload before the first round: V8 keeps optimizing code for the first 40,000 requests. */
  readonly warmUp: number;
  /** How long a server is under load until it is the next one's turn; null if it keeps the whole slice. */
  readonly turnSeconds: number | null;
  readonly check: boolean;
  /** The folder of another checkout of rowgraph, with its packages installed; null for no comparison. */
  readonly before: string | null;
  /** The `dialect` setting for rowgraph only; null for its default. */
  readonly dialect: string | null;
  /** The page that the results are written to; null if not everything that it shows is measured. */
  readonly page: 'results' | 'limits' | null;
}

const usage = `npm run bench -- [options]

  --servers NAMES     some of ${serverNames.join(',')}
  --workloads NAMES   some of ${workloads.map(({ name }) => name).join(',')}
  --seconds NUMBER    length of a slice: a server under a workload in a round (default: 2)
  --rounds NUMBER     how often each slice comes; medians are reported (default: 7)
  --warm-up NUMBER    seconds of each workload for each server ahead of the first round (default: 5)
  --copies NUMBER     processes of each server, which take turns; two of one program differ by up to 8 % (default: 1)
  --restarts NUMBER   how often to start the servers and run all rounds; means and standard errors are reported (default: 1)
  --turn SECONDS      servers take turns of this length within a slice: for small differences, on a machine that is not quiet
  --before FOLDER     measure another checkout of rowgraph too, whose packages are installed
  --dialect NAME      rowgraph's dialect, and not that of --before: pg_graphql for a schema without additions
  --check             compare the answers of the servers, measure nothing
  --help              this text

With --before, the column "of before" says what the changes since then gain or cost.
Workloads that the other checkout refuses are left out for it.
The servers mounted and unlimited, which are not measured by default, are rowgraph with and without limits and deadlines.
Without --before and --dialect, a run writes a page: of ${comparedServers.join(', ')} with all workloads, without --copies, --restarts and --turn, bench/results.md;
of ${limitServers.join(' and ')}, bench/limits.md, in which workloads that were not measured keep their rows.`;

/** The options of this process; prints the usage and exits if asked to. */
export function readOptions(): BenchmarkOptions {
  const { values } = parseArgs({
    options: {
      servers: { type: 'string', default: comparedServers.join() },
      workloads: { type: 'string', default: workloads.map(({ name }) => name).join() },
      seconds: { type: 'string', default: '2' },
      rounds: { type: 'string', default: '7' },
      'warm-up': { type: 'string', default: '5' },
      copies: { type: 'string', default: '1' },
      restarts: { type: 'string', default: '1' },
      before: { type: 'string' },
      dialect: { type: 'string' },
      turn: { type: 'string' },
      check: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(usage);
    process.exit(0);
  }
  const servers: ServerName[] = choose(values.servers, serverNames, (name) => name);
  const chosen = choose(values.workloads, workloads, ({ name }) => name);
  return {
    servers: values.before === undefined ? servers : [...servers, 'before'],
    workloads: chosen,
    seconds: positive('seconds', values.seconds),
    rounds: positive('rounds', values.rounds),
    copies: positive('copies', values.copies),
    restarts: positive('restarts', values.restarts),
    warmUp: positive('warm-up', values['warm-up']),
    turnSeconds: values.turn === undefined ? null : positive('turn', values.turn),
    check: values.check,
    before: values.before ?? null,
    dialect: values.dialect ?? null,
    page:
      values.before === undefined && values.dialect === undefined
        ? choosePage(
            servers,
            chosen.length === workloads.length && values.copies === '1' && values.restarts === '1' && values.turn === undefined,
          )
        : null,
  };
}

function choosePage(servers: readonly ServerName[], isPlain: boolean): BenchmarkOptions['page'] {
  if (servers.join() === limitServers.join()) return 'limits';
  return servers.join() === comparedServers.join() && isPlain ? 'results' : null;
}

function choose<Thing>(names: string, things: readonly Thing[], nameOf: (thing: Thing) => string): Thing[] {
  const wanted = new Set(names.split(','));
  for (const name of wanted) if (!things.some((thing) => nameOf(thing) === name)) throw new Error(`There is no ${name}\n\n${usage}`);
  return things.filter((thing) => wanted.has(nameOf(thing)));
}

function positive(name: string, text: string): number {
  const number = Number(text);
  if (!(number > 0)) throw new Error(`--${name} takes a number above 0, not ${text}`);
  return number;
}
