/** Plans the call of a function as a root field. */
import { ApiError, quote } from '../errors/api-error.ts';
import type { Routine } from '../model/model.ts';
import { bindingAt, type SelectedField } from '../request/operation.ts';
import { valueParameter } from './parameters.ts';
import type { RoutinePlan } from './plan.ts';
import { planResult } from './plan-selection.ts';
import { resultReadsBeyond } from './reads-beyond.ts';

/**
 * Plans the call with the given arguments; PostgreSQL uses its defaults for the others. Throws BAD_USER_INPUT for a function that no field
 * can call.
 */
export function planRoutine(field: SelectedField, routine: Routine): RoutinePlan {
  const { unreachableArgument } = routine;
  if (unreachableArgument !== null) {
    const problem = `GraphQL does not allow the name of its argument ${quote(unreachableArgument)}, which it requires`;
    throw new ApiError('BAD_USER_INPUT', `The function cannot be called: ${problem}. Rename the argument in the database.`);
  }
  const given = field.arguments
    .filter(({ binding }) => binding?.at === 'routine')
    .map((each) => {
      const { argument } = bindingAt('routine', each);
      return { argument, parameter: valueParameter(each.value, argument.type, 'write') };
    });
  const result = planResult(field, routine, 1);
  return { kind: 'routine', routine, arguments: given, result, readsAfter: routine.volatile && resultReadsBeyond(result) };
}
