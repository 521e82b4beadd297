/** Plans an operation: what each root field reads, writes or calls. */
import { inField, inFieldInSteps } from '../errors/api-error.ts';
import type { Model } from '../model/model.ts';
import { planNestedInsert } from '../nested-writes/plan/plan-insert.ts';
import { planNestedUpdate } from '../nested-writes/plan/plan-update.ts';
import { hasRelatedRows } from '../nested-writes/plan/read-input.ts';
import { argumentOf, bindingAt, type Operation, type SelectedField } from '../request/operation.ts';
import type { MutationRoot, Plan, QueryRoot, RootPlan } from './plan.ts';
import { planQueryField, planRoutine } from './read/selection.ts';
import { planInsert, planMutation } from './write/mutation.ts';

/**
 * Plans an operation, yielding between root fields, and in long inserts and nested writes. Throws `ApiError` for arguments that are valid
 * GraphQL but make no sense.
 */
export function* planOperation({ kind, fields }: Operation, model: Model): Generator<void, Plan> {
  if (kind === 'query') {
    const roots: RootPlan<QueryRoot>[] = [];
    for (const field of fields) {
      roots.push({ key: field.key, value: inField(field.key, () => planQueryField(field, model)) });
      yield;
    }
    return { kind, roots };
  }
  const roots: RootPlan<MutationRoot>[] = [];
  let firstList = 1;
  for (const field of fields) {
    const value = yield* inFieldInSteps(field.key, planWrite(field, model, firstList));
    if (value.kind === 'nested write') firstList += value.lists.length;
    roots.push({ key: field.key, value });
    yield;
  }
  return { kind, roots };
}

function* planWrite(field: SelectedField, model: Model, firstList: number): Generator<void, MutationRoot> {
  if (!field.binding) return { kind: 'type name', name: field.parentType };
  const binding = bindingAt('mutation', field);
  switch (binding.kind) {
    case 'insert':
      return hasRelatedRows(argumentOf(field, 'objects'))
        ? yield* planNestedInsert(field, binding.table, model, firstList)
        : yield* planInsert(field, binding.table, model);
    case 'update':
      return hasRelatedRows(argumentOf(field, 'set'))
        ? yield* planNestedUpdate(field, binding.table, model, firstList)
        : planMutation(field, 'update', binding.table, model);
    case 'delete':
      return planMutation(field, binding.kind, binding.table, model);
    case 'routine':
      return planRoutine(field, binding.routine, binding.asBounds);
  }
}
