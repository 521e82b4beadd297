/** Plans inserts, updates and deletes: what they write and return. */

import { mapInSteps } from '../../budget/turns.ts';
import { ApiError, quote } from '../../errors/api-error.ts';
import { atInput, type InputPath, inputPath } from '../../errors/input-path.ts';
import type { Column, Model, Table } from '../../model/model.ts';
import { conflictColumns } from '../../model/tables/column-uses.ts';
import { argumentOf, bindingAt, type InputEntry, type InputValue, type SelectedField } from '../../request/operation.ts';
import type { Filter } from '../conditions.ts';
import { checkGivenOnce, integerParameter, isUnsent, objectOf, planMembers, writtenValue } from '../inputs.ts';
import type { Assignment, ConflictPlan, DeletePlan, InsertPlan, Member, ResponseValue, UpdatePlan } from '../plan.ts';
import { planRestriction } from '../read/filter.ts';
import { planOrder } from '../read/page.ts';
import { planEdge, planQueryMembers, planRow } from '../read/selection.ts';
import { responseReadsBeyond } from '../walk.ts';
import { planJsonChanges } from './json-changes.ts';

/** Plans an update or delete. Throws BAD_USER_INPUT if there is nothing to write. */
export function planMutation(field: SelectedField, kind: 'update' | 'delete', table: Table, model: Model): UpdatePlan | DeletePlan {
  const members = planResponse(field, table, model);
  const filter = planFieldFilter(field, table);
  const atMost = integerParameter(argumentOf(field, 'atMost') ?? { kind: 'constant', value: '1' });
  const readsBeyond = responseReadsBeyond(table, members);
  if (kind === 'delete') return { kind, table, filter, atMost, members, readsAfter: readsBeyond };
  const set = entriesOf(argumentOf(field, 'set') ?? null, inputPath('set'));
  const increment = planIncrement(
    argumentOf(field, 'increment') ?? null,
    'set',
    set.map(({ column }) => column),
  );
  const changes = argumentOf(field, 'json') ?? null;
  const json = atInput(inputPath('json'), () =>
    planJsonChanges(
      changes,
      set.map(({ column }) => column),
    ),
  );
  if (set.length + increment.length + json.length === 0)
    throw new ApiError('BAD_USER_INPUT', 'The argument "set" is empty. Set at least one column.');
  const changed = [...set, ...increment, ...json].map(({ column }) => column);
  return { kind, table, set, increment, json, filter, atMost, members, readsAfter: readsBeyond || mayCascade(table, changed, members) };
}

export function planFieldFilter(field: SelectedField, table: Table): Filter | null {
  return atInput(inputPath('filter'), () => planRestriction(argumentOf(field, 'filter'), table, field.unsent.includes('filter')));
}

/** Plans increments, skipping nulls. `set` are the columns that the argument `other` sets, which cannot also be incremented. */
export function planIncrement(value: InputValue, other: string, set: readonly Column[]): readonly Assignment[] {
  if (value?.kind !== 'object') return [];
  const entries = value.entries.filter((entry) => entry.value !== null);
  const increment = entries.map((entry) => assignment(bindingAt('increment', entry).column, entry));
  const twice = increment.find(({ column }) => set.includes(column));
  if (twice === undefined) return increment;
  const name = quote(twice.column.fieldName);
  throw new ApiError('BAD_USER_INPUT', `The field ${name} is in "${other}" and in "increment". Leave it out of one of them.`);
}

/** Plans the response: what to return from the written rows, and what to read after the write. */
export function planResponse({ selection }: SelectedField, table: Table, model: Model): Member<ResponseValue>[] {
  return planMembers<ResponseValue>(selection, (field) => planResponseField(field, table, model));
}

function planResponseField(field: SelectedField, table: Table, model: Model): ResponseValue {
  const { selection } = field;
  const { kind } = bindingAt('response', field);
  switch (kind) {
    case 'affected count':
      return { kind };
    case 'records':
      return { kind, row: planRow(selection, table, 1) };
    case 'edges':
      return { kind, keys: planOrder(argumentOf(field, 'orderBy') ?? null, table), members: planEdge(selection, table, 1) };
    case 'query':
      return { kind, members: planQueryMembers(field, model) };
  }
}

/** Plans an insert. Throws BAD_USER_INPUT if there is nothing to write. */
export function* planInsert(field: SelectedField, table: Table, model: Model): Generator<void, InsertPlan> {
  const members = planResponse(field, table, model);
  const objects = argumentOf(field, 'objects');
  const items = objects?.kind === 'list' ? objects.items : objects ? [objects] : [];
  if (items.length === 0) throw new ApiError('BAD_USER_INPUT', 'The argument "objects" is empty. Pass at least one object.');
  const rows = yield* mapInSteps(
    items,
    (item, index) => new Map(entriesOf(item, inputPath(index, inputPath('objects'))).map(({ column, parameter }) => [column, parameter])),
  );
  const named = new Set<Column>();
  for (const row of rows) for (const column of row.keys()) named.add(column);
  const columns = table.columns.filter((column) => named.has(column));
  // `default values` inserts a single row only, so several rows of defaults need a column to write `default` for.
  const fallback = table.columns.find((column) => column.insertable);
  const targets = columns.length > 0 || !fallback ? columns : [fallback];
  const onConflict = planConflict(argumentOf(field, 'onConflict') ?? null, table, inputPath('onConflict'));
  const changed = onConflict ? [...onConflict.columns, ...onConflict.increment.map(({ column }) => column)] : [];
  return {
    kind: 'insert',
    table,
    columns: targets,
    rows: yield* mapInSteps(rows, (row) => targets.map((column) => row.get(column) ?? null)),
    onConflict,
    members,
    readsAfter: responseReadsBeyond(table, members) || mayCascade(table, changed, members),
  };
}

export function planConflict(value: InputValue, table: Table, path: InputPath): ConflictPlan | null {
  if (value?.kind !== 'object') return null;
  const values = new Map(value.entries.map((entry) => [entry.name, entry.value]));
  const constraint = values.get('constraint');
  const arbiter = table.arbiters.find(({ valueName }) => constraint?.kind === 'choice' && valueName === constraint.name);
  if (!arbiter) throw new Error('The argument "onConflict" names no constraint.');
  const byName = conflictColumns(table);
  const chosen = values.get('updateColumns');
  const names = chosen?.kind === 'list' ? chosen.items.flatMap((item) => (item?.kind === 'choice' ? item.name : [])) : [];
  const columns = [...new Set(names)].map((name) => byName.get(name)!);
  const increment = planIncrement(values.get('increment') ?? null, 'updateColumns', columns);
  const isUnsent = value.unsent?.includes('filter') ?? false;
  const filter = atInput(inputPath('filter', path), () => planRestriction(values.get('filter'), table, isUnsent));
  return { arbiter, columns, increment, filter };
}

function entriesOf(value: InputValue, path: InputPath): Assignment[] {
  const { entries } = objectOf(value);
  atInput(path, () => checkGivenOnce(entries));
  return entries.flatMap((entry): Assignment[] => {
    const binding = bindingAt('write', entry);
    // `nested-writes/` plans inputs with related rows, unless they are all null.
    if (binding.kind === 'nested write' || (binding.kind !== 'column' && isUnsent(entry.value))) return [];
    return [assignment(binding.column, entry)];
  });
}

function assignment(column: Column, entry: InputEntry): Assignment {
  return { column, parameter: { value: writtenValue(entry), encoding: { kind: 'value', type: column.type, use: 'write' } } };
}

/**
 * Whether a response has rows that may change once more: rows of the table refer to these columns of the same table, so that a change of
 * them may cascade to the written rows (`on update cascade`).
 */
function mayCascade(table: Table, changed: readonly Column[], members: readonly Member<ResponseValue>[]): boolean {
  if (changed.length === 0 || !members.some(({ value }) => value.kind === 'records' || value.kind === 'edges')) return false;
  return table.relations.some(
    ({ holdsKey, target, columns }) =>
      !holdsKey && target === table && columns.some(({ near }) => changed.some(({ name }) => name === near)),
  );
}
