/** The advice for many operations, each piece once, with the operations that it helps. In: operations with their advice; out: groups, the most helpful first. */
import type { Advice } from './explanation.ts';

/** An operation as a log or a list of documents has it. */
export interface AdvisedOperation {
  readonly name: string;
  /** How often it was seen. */
  readonly count: number;
  /** How long it took in all, in milliseconds; null if that is not known. */
  readonly milliseconds: number | null;
}

export interface AdviceGroup {
  readonly advice: Advice;
  readonly operations: readonly AdvisedOperation[];
  /** How often the operations were seen. */
  readonly count: number;
  /** How long they took in all; null if that is not known. */
  readonly milliseconds: number | null;
}

/** Advice with the same SQL is one group. */
export function groupAdvice(
  advised: readonly { readonly operation: AdvisedOperation; readonly advice: readonly Advice[] }[],
): AdviceGroup[] {
  const pairs = advised.flatMap(({ operation, advice }) => advice.map((each) => ({ operation, advice: each })));
  const groups = [...Map.groupBy(pairs, ({ advice }) => advice.sql).values()].map((group): AdviceGroup => {
    const operations = group.map(({ operation }) => operation);
    const times = operations.flatMap(({ milliseconds }) => milliseconds ?? []);
    return {
      advice: group[0]!.advice,
      operations,
      count: operations.reduce((sum, { count }) => sum + count, 0),
      milliseconds: times.length === 0 ? null : times.reduce((sum, each) => sum + each, 0),
    };
  });
  return groups.sort((one, other) => (other.milliseconds ?? 0) - (one.milliseconds ?? 0) || other.count - one.count);
}
