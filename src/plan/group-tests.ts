/** The tests in a condition on groups, without `and`, `or` and `not`. */
import type { GroupCondition } from './plan.ts';

type GroupTest = Extract<GroupCondition, { kind: 'comparison' | 'null test' }>;

export function groupTestsOf(condition: GroupCondition): readonly GroupTest[] {
  switch (condition.kind) {
    case 'and':
    case 'or':
      return condition.conditions.flatMap(groupTestsOf);
    case 'not':
      return groupTestsOf(condition.condition);
    case 'comparison':
    case 'null test':
      return [condition];
  }
}
