/** Plans an operation: what each root field reads, writes or calls. */
import { inFieldInSteps } from '../errors/api-error.ts';
import type { Model } from '../model/model.ts';
import { planNestedInsert } from '../nested-writes/plan/plan-insert.ts';
import { planNestedUpdate } from '../nested-writes/plan/plan-update.ts';
import { hasRelatedRows } from '../nested-writes/plan/read-input.ts';
import { argumentOf, type Operation, type SelectedField } from '../request/operation.ts';
import type { KeyList } from './nested-write-plan.ts';
import type { Plan, RootValue } from './plan.ts';
import { planQueryField, planRoutine } from './read/selection.ts';
import { planInsert, planMutation } from './write/mutation.ts';

/**
 * Plans an operation, yielding between root fields, and in long inserts and nested writes. Throws `ApiError` for arguments that are valid
 * GraphQL but make no sense.
 */
export function* planOperation({ kind, fields }: Operation, model: Model): Generator<void, Plan> {
  const roots: Plan['roots'][number][] = [];
  const lists: KeyList[] = [];
  for (const field of fields) {
    roots.push({ key: field.key, value: yield* inFieldInSteps(field.key, planRoot(field, model, lists)) });
    yield;
  }
  return { kind, roots };
}

/** `lists` has those of earlier nested writes. */
function* planRoot(field: SelectedField, model: Model, lists: KeyList[]): Generator<void, RootValue> {
  const { binding } = field;
  if (binding?.at !== 'mutation') return planQueryField(field, model);
  switch (binding.kind) {
    case 'insert':
      return hasRelatedRows(argumentOf(field, 'objects'))
        ? yield* planNestedInsert(field, binding.table, model, lists)
        : yield* planInsert(field, binding.table, model);
    case 'update':
      return hasRelatedRows(argumentOf(field, 'set'))
        ? yield* planNestedUpdate(field, binding.table, model, lists)
        : planMutation(field, 'update', binding.table, model);
    case 'delete':
      return planMutation(field, binding.kind, binding.table, model);
    case 'routine':
      return planRoutine(field, binding.routine);
  }
}
