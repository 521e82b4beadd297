/** The members of an object of the response: what each field of a selection asks for, by its key. */
import { inField } from '../errors.ts';
import type { SelectedField } from '../request/operation.ts';
import type { Member, TypeNamePlan } from './plan.ts';

/** Plans each field but `__typename`. An error that `plan` throws has the keys of the fields around it as its path. */
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
