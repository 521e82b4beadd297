/** Plans an operation: what each root field reads, writes or calls. */
import { ApiError, inFieldInSteps } from '../errors.ts';
import type { Model, Table } from '../model/model.ts';
import type { IdentifierValue } from '../request/input-value.ts';
import { argumentOf, type Operation, type SelectedField } from '../request/operation.ts';
import { hasRelatedRows } from './nested-input.ts';
import type { KeyList } from './nested-plan.ts';
import { keyOfNodeId } from './node-key.ts';
import { valueParameter } from './parameters.ts';
import type { LookupPlan, Plan, RootValue } from './plan.ts';
import { planInsert, planMutation } from './plan-mutation.ts';
import { planNestedInsert } from './plan-nested-insert.ts';
import { planNestedUpdate } from './plan-nested-update.ts';
import { planRoutine } from './plan-routine.ts';
import { planConnection, planRow } from './plan-selection.ts';

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
  switch (binding?.kind) {
    case undefined:
      return field.name === '__typename' ? { kind: 'type name', name: field.parentType } : { kind: 'introspection' };
    case 'collection':
      return planConnection(field, binding.table);
    case 'by key':
      return planLookup(binding.table, keyOfArguments(field), field.selection);
    case 'node':
      return planNode(field, model);
    case 'insert':
      return hasRelatedRows(argumentOf(field, 'objects'))
        ? yield* planNestedInsert(field, binding.table, lists)
        : yield* planInsert(field, binding.table);
    case 'update':
      return hasRelatedRows(argumentOf(field, 'set'))
        ? yield* planNestedUpdate(field, binding.table, lists)
        : planMutation(field, 'update', binding.table);
    case 'delete':
      return planMutation(field, binding.kind, binding.table);
    case 'routine':
      return planRoutine(field, binding.routine);
    default:
      throw new Error(`The field ${field.name} is not a root field.`);
  }
}

function keyOfArguments(field: SelectedField): LookupPlan['key'] {
  return field.arguments.map(({ binding, value }) => {
    if (binding?.kind !== 'column') throw new Error(`An argument of ${field.name} has no column.`);
    return { column: binding.column, parameter: valueParameter(value, binding.column.type, 'filter') };
  });
}

function planLookup(table: Table, key: LookupPlan['key'], selection: readonly SelectedField[]): LookupPlan {
  return { kind: 'lookup', table, key, row: planRow(selection, table, 1) };
}

function planNode(field: SelectedField, model: Model): LookupPlan {
  const id = argumentOf(field, model.nodeIdField) as IdentifierValue;
  const table = model.tables.find((each) => each.selectable && each.schema === id.schema && each.name === id.table);
  if (!table)
    throw new ApiError(
      'BAD_USER_INPUT',
      `The nodeId in the argument "${model.nodeIdField}" does not identify a table that this role can read.`,
    );
  return planLookup(table, keyOfNodeId(id, table, model.nodeIdField), field.on(table.typeName));
}
