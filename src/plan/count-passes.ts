/** How many times PostgreSQL passes over all rows for a count, aggregates or groups: once, and once more for each column that they sort. */
import { groupTestsOf } from './group-tests.ts';
import type { ConnectionValue, GroupOrderKey, GroupsPlan, GroupValue, Member } from './plan.ts';

/** The number of passes; 0 for values that only read the page. */
export function countPasses(value: ConnectionValue): number {
  switch (value.kind) {
    case 'total count':
      return 1;
    case 'aggregate':
      return 1 + countSortedMembers(value.members);
    case 'groups':
      return 1 + countSortedMembers(value.groups.members) + countSortedConditions(value.groups);
    default:
      return 0;
  }
}

function countSortedMembers(members: readonly Member<GroupValue>[]): number {
  return members.reduce((sum, { value }) => sum + countSortedColumns(value), 0);
}

function countSortedColumns(value: GroupValue): number {
  if (value.kind !== 'function' || !isSorted(value.name)) return 0;
  return value.members.filter(({ value: column }) => column.kind === 'column').length;
}

/** Aggregates in conditions and orders are computed separately, because they may have another fraction. */
function countSortedConditions({ having, order }: GroupsPlan): number {
  const compared: readonly GroupOrderKey['of'][] = [...(having ? groupTestsOf(having) : []), ...order].map(({ of }) => of);
  return compared.filter((of) => of.kind === 'function' && isSorted(of.name)).length;
}

function isSorted(name: string): boolean {
  return name === 'countDistinct' || name === 'percentile';
}
