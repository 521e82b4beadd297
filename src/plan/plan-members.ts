/** Plans the members of a response object. */
import { inField } from '../errors/api-error.ts';
import type { SelectedField } from '../request/operation.ts';
import type { Member, TypeNamePlan } from './plan.ts';

/** Plans each field, except `__typename`, with `plan`. Adds the response key to the path of errors. */
export function planMembers<Value>(
  selection: readonly SelectedField[],
  plan: (field: SelectedField) => Value,
): Member<Value | TypeNamePlan>[] {
  return selection.map((field) => ({
    key: field.key,
    name: field.name,
    value: field.binding ? inField(field.key, () => plan(field)) : { kind: 'type name', name: field.parentType },
  }));
}
