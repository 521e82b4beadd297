/** The rounds of each workload and server as one line: medians, and the total of wrong answers. */
import type { ServerName } from '../servers/start-server.ts';
import type { Slice } from './measure-slice.ts';

export type Summary = Omit<Slice, 'complaint' | 'start'>;

/** One line for each pair of workload and server, in the order in which they first came. */
export function summarizeSlices(slices: readonly Slice[]): Summary[] {
  const groups = Map.groupBy(slices, ({ workload, server }) => `${workload} ${server}`);
  return [...groups.values()].map((group) => {
    const first = group[0]!;
    const middle = (read: (slice: Slice) => number): number => median(group.map(read));
    return {
      workload: first.workload,
      server: first.server,
      requestsPerSecond: middle((slice) => slice.requestsPerSecond),
      p50: middle((slice) => slice.p50),
      p99: middle((slice) => slice.p99),
      serverCpu: middle((slice) => slice.serverCpu),
      postgresCpu: middle((slice) => slice.postgresCpu),
      memory: middle((slice) => slice.memory),
      otherCores: middle((slice) => slice.otherCores),
      wrong: group.reduce((sum, { wrong }) => sum + wrong, 0),
    };
  });
}

/** The mean of several starts, and its standard error: NaN for a single start. */
export interface Ratio {
  readonly mean: number;
  readonly error: number;
}

/**
 * The ratio of a figure of two servers under a workload: for each start of the servers, the median of the ratios of its rounds. Within a
 * round they are measured one right after the other, so that a longer disturbance of the machine affects both.
 */
export function ratioOf(
  slices: readonly Slice[],
  workload: string,
  [one, other]: readonly [ServerName, ServerName],
  read: (slice: Slice) => number,
): Ratio {
  const starts = Map.groupBy(
    slices.filter((slice) => slice.workload === workload),
    ({ start }) => start,
  );
  const medians = [...starts.values()].map((rounds) => {
    const others = rounds.filter(({ server }) => server === other);
    const ones = rounds.filter(({ server }) => server === one);
    return median(ones.map((slice, round) => read(slice) / (others[round] ? read(others[round]) : Number.NaN)));
  });
  const mean = medians.reduce((sum, each) => sum + each, 0) / medians.length;
  const squares = medians.reduce((sum, each) => sum + (each - mean) ** 2, 0);
  return { mean, error: Math.sqrt(squares / (medians.length - 1) / medians.length) };
}

/** The median: the middle number, or the mean of the two in the middle. */
export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((one, other) => one - other);
  const half = sorted.length / 2;
  return ((sorted[Math.ceil(half) - 1] ?? Number.NaN) + (sorted[Math.floor(half)] ?? Number.NaN)) / 2;
}
