/** Groups the advice for many operations: each piece of advice once, with the operations that it helps, the most helpful first. */
import type { Advice } from './explanation.ts';

/** An operation from a log or a list of documents. */
export interface AdvisedOperation {
  readonly name: string;
  /** How often it was seen. */
  readonly count: number;
  /** Its total time in milliseconds; null if unknown. */
  readonly milliseconds: number | null;
}

export interface AdviceGroup {
  readonly advice: Advice;
  readonly operations: readonly AdvisedOperation[];
  /** How often the operations were seen in total. */
  readonly count: number;
  /** The total time of the operations in milliseconds; null if unknown. */
  readonly milliseconds: number | null;
}

/** Groups advice with the same SQL. */
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
