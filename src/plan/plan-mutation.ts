/** What an insert, update or delete writes and reads back. */
import { ApiError } from '../errors.ts';
import type { Column, Table } from '../model/model.ts';
import type { InputObject, InputValue } from '../request/input-value.ts';
import { argumentOf, type SelectedField } from '../request/operation.ts';
import { integerParameter, valueParameter } from './parameters.ts';
import type { InsertPlan, Member, MutationPlan, Parameter, ResponseValue } from './plan.ts';
import { planFilter } from './plan-filter.ts';
import { planRow } from './plan-selection.ts';

/** The plan of a mutation field. Throws BAD_USER_INPUT if there is nothing to write. */
export function planMutation(field: SelectedField, kind: 'insert' | 'update' | 'delete', table: Table): MutationPlan {
  const members = planResponse(field, table);
  if (kind === 'insert') return planInsert(argumentOf(field, 'objects'), table, members);
  const filter = planFilter(argumentOf(field, 'filter'), table);
  const atMost = integerParameter(argumentOf(field, 'atMost') ?? { kind: 'constant', value: '1' });
  if (kind === 'delete') return { kind, table, filter, atMost, members };
  const set = entriesOf(argumentOf(field, 'set') ?? null);
  if (set.length === 0) throw new ApiError('BAD_USER_INPUT', 'The argument "set" is empty. Set at least one column.');
  return { kind, table, set, filter, atMost, members };
}

function planResponse({ selection }: SelectedField, table: Table): Member<ResponseValue>[] {
  return selection.map((field) => ({ key: field.key, name: field.name, value: planResponseField(field, table) }));
}

function planResponseField({ binding, parentType, selection }: SelectedField, table: Table): ResponseValue {
  if (!binding) return { kind: 'type name', name: parentType };
  return binding.kind === 'affected count' ? { kind: 'affected count' } : { kind: 'records', row: planRow(selection, table, 1) };
}

function planInsert(objects: InputValue | undefined, table: Table, members: readonly Member<ResponseValue>[]): InsertPlan {
  const items = objects?.kind === 'list' ? objects.items : objects ? [objects] : [];
  if (items.length === 0) throw new ApiError('BAD_USER_INPUT', 'The argument "objects" is empty. Pass at least one object.');
  const rows = items.map((item) => new Map(entriesOf(item).map(({ column, parameter }) => [column, parameter])));
  const named = new Set(rows.flatMap((row) => [...row.keys()]));
  const columns = table.columns.filter((column) => named.has(column));
  // A row of defaults only needs a column to give a default to, where there is more than one row.
  const fallback = table.columns.find((column) => column.insertable);
  const targets = columns.length > 0 || !fallback ? columns : [fallback];
  return { kind: 'insert', table, columns: targets, rows: rows.map((row) => targets.map((column) => row.get(column) ?? null)), members };
}

function entriesOf(value: InputValue): { column: Column; parameter: Parameter }[] {
  if (value?.kind !== 'object') throw new ApiError('BAD_USER_INPUT', 'Expected an object.');
  return (value satisfies InputObject).entries.map(({ binding, value: item }) => {
    if (binding?.kind !== 'column') throw new Error('An input field has no column.');
    return { column: binding.column, parameter: valueParameter(item, binding.column.type, 'write') };
  });
}
