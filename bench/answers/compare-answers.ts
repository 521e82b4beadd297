/** Compares the servers' answers to a workload, value by value. */
import type { PreparedRequest } from '../load/job.ts';
import type { Workload } from '../workloads/workload.ts';
import { valuesOfAnswer } from './values-of.ts';

/** How many values each answer has on average. Throws at the first value that differs between servers. */
export function compareAnswers(workload: Workload, answers: ReadonlyMap<string, readonly PreparedRequest[]>): number {
  if (workload.incomparable) return Number.NaN;
  const [[firstName, firstRequests], ...others] = [...answers] as [
    [string, readonly PreparedRequest[]],
    ...[string, readonly PreparedRequest[]][],
  ];
  let total = 0;
  for (const [index, { expected }] of firstRequests.entries()) {
    const values = valuesOfAnswer(expected, workload.changing ?? []);
    if (values.length === 0) throw new Error(`${workload.name}: an answer without values: ${expected}`);
    total += values.length;
    for (const [name, requests] of others) {
      const difference = findDifference(values, valuesOfAnswer(requests[index]?.expected ?? '{}', workload.changing ?? []));
      if (difference) throw new Error(`${workload.name}, request ${index}: ${firstName} and ${name} differ: ${difference}`);
    }
  }
  return total / firstRequests.length;
}

function findDifference(one: readonly string[], other: readonly string[]): string | null {
  const at = Array.from({ length: Math.max(one.length, other.length) }, (_, index) => index).find((index) => one[index] !== other[index]);
  return at === undefined ? null : `value ${at} of ${one.length} and ${other.length}, ${one[at]} and ${other[at]}`;
}
