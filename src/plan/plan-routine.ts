/** A function called as a root field. */
import type { Routine } from '../model/model.ts';
import type { SelectedField } from '../request/operation.ts';
import { valueParameter } from './parameters.ts';
import type { RoutinePlan } from './plan.ts';
import { planResult } from './plan-selection.ts';

/** The call, with the arguments that were given: an absent one leaves PostgreSQL its default. */
export function planRoutine(field: SelectedField, routine: Routine): RoutinePlan {
  const given = field.arguments.flatMap(({ binding, value }) =>
    binding?.kind === 'argument' ? [{ argument: binding.argument, parameter: valueParameter(value, binding.argument.type, 'write') }] : [],
  );
  return { kind: 'routine', routine, arguments: given, result: planResult(field, routine, 1) };
}
