/** Plans aggregates: the count of rows, and functions over their columns. */

import type { AggregateFunction } from '../model/types/postgres-types.ts';
import { argumentOf, bindingAt, type SelectedField } from '../request/operation.ts';
import type { AggregateBinding } from '../schema/bindings.ts';
import { fractionParameter } from './parameters.ts';
import type { AggregateColumnValue, AggregateValue, Member, Parameter } from './plan.ts';
import { planMembers } from './plan-members.ts';

/** Plans the members of an aggregate object. */
export function planAggregate(selection: readonly SelectedField[]): Member<AggregateValue>[] {
  return planMembers<AggregateValue>(selection, (field) => planAggregateField(field, bindingAt('aggregate', field)));
}

/** Plans a field of an aggregate object. */
export function planAggregateField(field: SelectedField, binding: AggregateBinding): AggregateValue {
  const { selection } = field;
  if (binding.kind === 'count') return { kind: 'count' };
  const { name } = binding;
  const given = argumentOf(field, 'fraction');
  const fraction = given === undefined ? null : fractionParameter(given, 'fraction');
  return { kind: 'function', name, members: planMembers<AggregateColumnValue>(selection, (member) => planColumn(member, name, fraction)) };
}

function planColumn(field: SelectedField, name: AggregateFunction, fraction: Parameter | null): AggregateColumnValue {
  return { kind: 'column', name, column: bindingAt('aggregate column', field).column, fraction };
}
