/** Plans aggregates: the count of rows, and functions over their columns. */
import { argumentOf, type SelectedField } from '../request/operation.ts';
import type { AggregateFunction } from '../schema/bindings.ts';
import { fractionParameter } from './parameters.ts';
import type { AggregateColumnValue, AggregateValue, Member, Parameter } from './plan.ts';
import { planMembers } from './plan-members.ts';

/** Plans the members of an aggregate object. */
export function planAggregate(selection: readonly SelectedField[]): Member<AggregateValue>[] {
  return planMembers<AggregateValue>(selection, planAggregateField);
}

/** Plans a field of an aggregate object. */
export function planAggregateField(field: SelectedField): AggregateValue {
  const { binding, selection } = field;
  if (binding?.kind === 'count') return { kind: 'count' };
  if (binding?.kind !== 'aggregate function') throw new Error(`The field ${field.name} is not an aggregate.`);
  const { name } = binding;
  const given = argumentOf(field, 'fraction');
  const fraction = given === undefined ? null : fractionParameter(given, 'fraction');
  return { kind: 'function', name, members: planMembers<AggregateColumnValue>(selection, (member) => planColumn(member, name, fraction)) };
}

function planColumn({ binding, name: field }: SelectedField, name: AggregateFunction, fraction: Parameter | null): AggregateColumnValue {
  if (binding?.kind !== 'aggregate column') throw new Error(`The field ${field} is not an aggregate of a column.`);
  return { kind: 'column', name, column: binding.column, fraction };
}
