/** Plans a nested update as steps: first the rows that its rows will refer to, then the rows themselves, then their related rows. */

import { mapInSteps } from '../../budget/turns.ts';
import { atInput, type InputPath, inputError, inputPath, placeOf } from '../../errors/input-path.ts';
import type { Model, Table } from '../../model/model.ts';
import { integerParameter, objectOf } from '../../plan/inputs.ts';
import {
  type KeyList,
  keepIn,
  type LockStep,
  type NestedWritePlan,
  type UpdateStep,
  type WrittenRows,
} from '../../plan/nested-write-plan.ts';
import type { Assignment, Filter, Parameter } from '../../plan/plan.ts';
import { planRestriction } from '../../plan/read/filter.ts';
import { planFieldFilter, planIncrement, planResponse } from '../../plan/write/mutation.ts';
import { argumentOf, type InputObject, type InputValue, type SelectedField } from '../../request/operation.ts';
import { connectRows, relateMany, relateOne, StepList } from './plan-insert.ts';
import { checkVerbs, fillsKey, type GivenRelation, type GivenRow, memberOf, objectsOf, RowShape, readKey, readRow } from './read-input.ts';
import { groupKeys, keyPairs, type Parents, sourceOfKeys } from './sources.ts';

/** Plans an update whose `set` writes related rows. Yields if there are many. Throws BAD_USER_INPUT with the path of the input. */
export function* planNestedUpdate(field: SelectedField, table: Table, model: Model, lists: KeyList[]): Generator<void, NestedWritePlan> {
  const members = planResponse(field, table, model);
  const plan = new StepList(lists);
  const written = plan.newList(table);
  for (const { name } of table.primaryKey) keepIn(written, name);
  const set = objectOf(argumentOf(field, 'set'));
  const increment = argumentOf(field, 'increment') ?? null;
  const filter = planFieldFilter(field, table);
  const rows = { of: null, except: null, filter, atMost: atMostOf(argumentOf(field, 'atMost')) };
  yield* updateRows(plan, table, { set, increment, rows, path: null, into: written });
  return { kind: 'nested write', verb: 'update', table, steps: plan.steps, written, members };
}

function atMostOf(value: InputValue | undefined): Parameter {
  return integerParameter(value ?? { kind: 'constant', value: '1' });
}

interface UpdateOptions {
  readonly set: InputObject;
  readonly increment: InputValue;
  readonly rows: WrittenRows;
  /** The path of the object with `set`; null for the arguments of the root field. */
  readonly path: InputPath | null;
  readonly into: KeyList;
}

function* updateRows(plan: StepList, table: Table, { set, increment: added, rows, path, into }: UpdateOptions): Generator<void> {
  const row = readRow({ label: 0, parent: 0, value: set, path: inputPath('set', path) }, RowShape.none());
  checkVerbs(row, 'update');
  const columns = [...row.shape.places].map(([column, place]): Assignment => {
    return { column, parameter: { value: row.values[place]!, encoding: { kind: 'value', type: column.type, use: 'write' } } };
  });
  const increment = atInput(inputPath('increment', path), () => planIncrement(added, 'set', [...row.shape.places.keys()]));
  const outgoing = row.related.filter(({ writable }) => writable.relation.holdsKey);
  const deleted = outgoing.filter(({ members }) => members.has('delete'));
  const renewed = outgoing.filter(hasNewRow);
  const step = { table, place: placeOf([row.path]), paths: [row.path], into };
  const before = deleted.length + renewed.length > 0 ? lockRows(plan, step, rows) : null;
  const taken: UpdateStep['taken'][number][] = [];
  for (const { writable } of renewed) {
    const from = yield* plan.forRows(before!, table, () => relateOne(plan, writable, [row]));
    taken.push(...keyPairs(writable).map(([column, of]) => ({ column, from, of })));
  }
  const cut = outgoing.filter(({ members }) => members.has('disconnect') || members.has('delete'));
  const nulled = [...new Set(cut.flatMap(({ writable }) => writable.nulled))].filter(
    (column) => !taken.some((each) => each.column === column),
  );
  checkIncrement(row, increment);
  for (const relation of outgoing) checkKeyStays(relation, table, row);
  const isChanged = columns.length + increment.length + nulled.length + taken.length > 0;
  const changes = { set: columns, increment, nulled, taken };
  if (isChanged) plan.steps.push({ ...step, kind: 'update', rows: before ? sameRows(before, table) : rows, ...changes });
  else plan.steps.push({ ...step, kind: 'lock', rows });
  yield* plan.forRows(into, table, function* () {
    for (const relation of outgoing) if (relation.members.has('update')) yield* updateRelated(plan, relation, into);
    for (const { writable, path: place } of deleted) deleteRelated(plan, { writable, list: before! }, inputPath('delete', place));
    for (const relation of row.related) if (!relation.writable.relation.holdsKey) yield* writeIncoming(plan, relation, into);
  });
}

/**
 * Finds and locks the rows before their update: rows that they referred to are deleted afterwards, and new ones are only written if there
 * are rows to update.
 */
function lockRows(plan: StepList, step: Omit<LockStep, 'kind' | 'rows' | 'into'>, rows: WrittenRows): KeyList {
  const into = plan.newList(step.table);
  for (const { name } of step.table.primaryKey) keepIn(into, name);
  plan.steps.push({ ...step, kind: 'lock', rows, into });
  return into;
}

/** The rows whose primary keys are in the list. */
function sameRows(list: KeyList, { primaryKey }: Table): WrittenRows {
  return { ...everyRow, of: { list, pairs: primaryKey.map(({ name, type }) => ({ name, type, of: name, collation: null })) } };
}

const everyRow: WrittenRows = { of: null, except: null, filter: null, atMost: null };

/** Whether the relation gets a new row. */
function hasNewRow({ members }: GivenRelation): boolean {
  return members.has('connect') || members.has('connectOrCreate') || members.has('create');
}

function checkIncrement({ related, path }: GivenRow, increment: readonly Assignment[]): void {
  for (const relation of related.filter(fillsKey)) {
    const twice = increment.find(({ column }) => relation.writable.key.includes(column));
    if (!twice) continue;
    const message = `The field "${twice.column.fieldName}" is filled by the relation "${relation.writable.relation.fieldName}". Leave out one of them.`;
    throw inputError(path, message);
  }
}

/**
 * Throws if an update changes the key of a row that others refer to: the change would cascade to columns that later steps use to identify
 * those rows.
 */
function checkKeyStays({ writable: { relation }, members, path }: GivenRelation, { primaryKey }: Table, { related }: GivenRow): void {
  const incoming = related.filter(({ writable }) => !writable.relation.holdsKey);
  const known = new Set([
    ...primaryKey.map(({ name }) => name),
    ...incoming.flatMap(({ writable }) => writable.relation.columns.map(({ near }) => near)),
  ]);
  const fixed = relation.columns.flatMap(({ near, target }) => (known.has(near) ? [target] : []));
  for (const { value, path: place } of objectsOf(members.get('update'), inputPath('update', path), false, 0)) {
    for (const argument of ['set', 'increment']) {
      const given = memberOf(value, argument);
      const entries = given?.kind === 'object' ? given.entries : [];
      const changed = entries.find(({ binding, value: item }) => {
        return binding?.kind === 'column' && fixed.includes(binding.column.name) && (argument === 'set' || item !== null);
      });
      if (!changed) continue;
      const message = `The field "${changed.name}" is in the key of the rows that refer to it by "${relation.fieldName}". Change it in another root field.`;
      throw inputError(inputPath(changed.name, inputPath(argument, place)), message);
    }
  }
}

/** The related rows of the rows in a list. */
function relatedTo({ writable, list }: Parents, more: Partial<WrittenRows> = {}): WrittenRows {
  const pairs = writable.relation.columns.map((pair, index) => {
    keepIn(list, pair.near);
    // The referenced column need not be a field, so the type is that of the referencing one.
    return { name: pair.target, type: writable.key[index]!.type, of: pair.near, collation: pair.collation };
  });
  return { ...everyRow, of: { list, pairs }, ...more };
}

/** Updates related rows. */
function* updateRelated(plan: StepList, { writable, members, path }: GivenRelation, list: KeyList): Generator<void> {
  const { target, kind } = writable.relation;
  const many = kind === 'to-many';
  for (const { value, path: place } of objectsOf(members.get('update'), inputPath('update', path), many, 0)) {
    const filter = filterOf(value, target, place);
    const atMost = many ? atMostOf(memberOf(value, 'atMost') ?? undefined) : null;
    const rows = relatedTo({ writable, list }, { filter, atMost });
    const set = objectOf(memberOf(value, 'set'));
    if (set.entries.length === 0 && memberOf(value, 'increment') === null)
      throw inputError(inputPath('set', place), 'The field "set" is empty. Set at least one field.');
    yield* updateRows(plan, target, { set, increment: memberOf(value, 'increment'), rows, path: place, into: plan.newList(target) });
  }
}

function deleteRelated(plan: StepList, parents: Parents, place: InputPath, more: Partial<WrittenRows> = {}): void {
  const { target } = parents.writable.relation;
  plan.steps.push({ kind: 'delete', table: target, place: placeOf([place]), paths: [place], rows: relatedTo(parents, more) });
}

function disconnectRelated(plan: StepList, parents: Parents, place: InputPath, more: Partial<WrittenRows> = {}): void {
  const { target } = parents.writable.relation;
  const changes: Pick<UpdateStep, 'set' | 'increment' | 'nulled' | 'taken'> = {
    set: [],
    increment: [],
    nulled: parents.writable.nulled,
    taken: [],
  };
  plan.steps.push({
    kind: 'update',
    table: target,
    place: placeOf([place]),
    paths: [place],
    rows: relatedTo(parents, more),
    ...changes,
    into: null,
  });
}

/** Writes the rows that refer to those of the list. */
function* writeIncoming(plan: StepList, relation: GivenRelation, list: KeyList): Generator<void> {
  const { writable, members, path } = relation;
  const parents = { writable, list };
  const { target, kind } = writable.relation;
  for (const [verb, run] of [
    ['delete', deleteRelated],
    ['disconnect', disconnectRelated],
  ] as const) {
    const value = members.get(verb);
    if (value === undefined) continue;
    const place = inputPath(verb, path);
    if (kind === 'to-one') run(plan, parents, place);
    else run(plan, parents, place, restrictionOf(objectOf(value), target, place));
  }
  yield* updateRelated(plan, relation, list);
  const kept = members.get('set');
  if (kept !== undefined) yield* setRelated(plan, parents, kept, inputPath('set', path));
  // A new row replaces the one that may already be related.
  if (kind === 'to-one' && hasNewRow(relation) && writable.nulled.length > 0) disconnectRelated(plan, parents, path);
  yield* relateMany(plan, parents, [{ label: 0, use: relation }]);
}

function restrictionOf(value: InputObject, table: Table, path: InputPath): Partial<WrittenRows> {
  return { filter: filterOf(value, table, path), atMost: atMostOf(memberOf(value, 'atMost') ?? undefined) };
}

function filterOf(value: InputObject, table: Table, path: InputPath): Filter | null {
  const isUnsent = value.unsent?.includes('filter') ?? false;
  return atInput(inputPath('filter', path), () => planRestriction(memberOf(value, 'filter'), table, isUnsent));
}

/** Relates exactly the given rows, and disconnects all others. */
function* setRelated(plan: StepList, parents: Parents, value: InputValue, path: InputPath): Generator<void> {
  const { target } = parents.writable.relation;
  const objects = objectsOf(value, path, true, 0);
  const found = plan.newList(target);
  for (const { name } of target.primaryKey) keepIn(found, name);
  const read = yield* mapInSteps(objects, (object) => readKey(object, target));
  for (const [index, keys] of groupKeys(read).entries()) {
    const { outputs, ...more } = sourceOfKeys(keys, parents);
    const source = { ...more, outputs: outputs.slice(0, keys[0]!.columns.length), same: [] };
    const paths = keys.map(({ object }) => object.path);
    plan.steps.push({ kind: 'find', table: target, place: placeOf(paths), paths, source, ensured: false, into: found, appends: index > 0 });
    yield;
  }
  disconnectRelated(plan, parents, path, { except: objects.length > 0 ? found : null });
  if (objects.length > 0) yield* connectRows(plan, parents, objects);
}
