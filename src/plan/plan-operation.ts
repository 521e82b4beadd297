/** Plans an operation: what each root field reads, writes or calls. */
import { inFieldInSteps } from '../errors/api-error.ts';
import type { Model } from '../model/model.ts';
import { planNestedInsert } from '../nested-writes/plan/plan-insert.ts';
import { planNestedUpdate } from '../nested-writes/plan/plan-update.ts';
import { hasRelatedRows } from '../nested-writes/plan/read-input.ts';
import { argumentOf, bindingAt, type Operation, type SelectedField } from '../request/operation.ts';
import type { KeyList } from './nested-write-plan.ts';
import type { MutationRoot, Plan, QueryRoot, RootPlan } from './plan.ts';
import { planQueryField, planRoutine } from './read/selection.ts';
import { planInsert, planMutation } from './write/mutation.ts';

/**
 * Plans an operation, yielding between root fields, and in long inserts and nested writes. Throws `ApiError` for arguments that are valid
 * GraphQL but make no sense.
 */
export function* planOperation({ kind, fields }: Operation, model: Model): Generator<void, Plan> {
  if (kind === 'query') return { kind, roots: yield* planRoots(fields, (field) => planReadInSteps(field, model)) };
  const lists: KeyList[] = [];
  return { kind, roots: yield* planRoots(fields, (field) => planWrite(field, model, lists)) };
}

function* planRoots<Value>(
  fields: readonly SelectedField[],
  planRoot: (field: SelectedField) => Generator<void, Value>,
): Generator<void, RootPlan<Value>[]> {
  const roots: RootPlan<Value>[] = [];
  for (const field of fields) {
    roots.push({ key: field.key, value: yield* inFieldInSteps(field.key, planRoot(field)) });
    yield;
  }
  return roots;
}

// biome-ignore lint/correctness/useYield: a read is planned in one step.
function* planReadInSteps(field: SelectedField, model: Model): Generator<void, QueryRoot> {
  return planQueryField(field, model);
}

/** `lists` has those of earlier nested writes. */
function* planWrite(field: SelectedField, model: Model, lists: KeyList[]): Generator<void, MutationRoot> {
  if (!field.binding) return { kind: 'type name', name: field.parentType };
  const binding = bindingAt('mutation', field);
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
