/** Plans a nested update as steps: first the rows that its rows will refer to, then the rows themselves, then their related rows. */
import { atInput, type InputPath, inputError, inputPath } from '../../errors/input-path.ts';
import type { Model, Table } from '../../model/model.ts';
import type { Filter } from '../../plan/conditions.ts';
import { integerParameter, objectOf } from '../../plan/inputs.ts';
import type { KeyList, NestedWritePlan, UpdateStep, WrittenRows } from '../../plan/nested-write-plan.ts';
import type { Parameter } from '../../plan/parameter.ts';
import type { Assignment } from '../../plan/plan.ts';
import { planRestriction } from '../../plan/read/filter.ts';
import { planJsonChanges } from '../../plan/write/json-changes.ts';
import { planFieldFilter, planIncrement, planResponse } from '../../plan/write/mutation.ts';
import { argumentOf, type InputObject, type InputValue, type SelectedField } from '../../request/operation.ts';
import { groupKeys, inputRowsOfKeys, keyPairs, type Related } from './group-rows.ts';
import { connectRows, pathsOf, relateMany, relateOne, StepList } from './plan-insert.ts';
import { checkVerbs, filledBy, fillsKey, type InputRow, memberOf, objectsOf, type RelationInput, readKeys, readRow } from './read-input.ts';

/**
 * Plans an update whose `set` writes related rows. `firstList` is the first number for a list. Yields if there are many. Throws
 * BAD_USER_INPUT with the path of the input.
 */
export function* planNestedUpdate(field: SelectedField, table: Table, model: Model, firstList: number): Generator<void, NestedWritePlan> {
  const members = planResponse(field, table, model);
  const plan = new StepList(firstList);
  const written = plan.newList(table);
  const set = objectOf(argumentOf(field, 'set'));
  const increment = argumentOf(field, 'increment') ?? null;
  const json = argumentOf(field, 'json') ?? null;
  const rows = { ...everyRow, filter: planFieldFilter(field, table), atMost: atMostOf(argumentOf(field, 'atMost') ?? null) };
  yield* updateRows(plan, table, { set, increment, json, rows, path: null, into: written });
  return { kind: 'nested write', verb: 'update', table, steps: plan.steps, lists: plan.lists, written, members };
}

const everyRow: WrittenRows = { of: null, except: null, filter: null, atMost: null };

function atMostOf(value: InputValue): Parameter {
  return integerParameter(value ?? { kind: 'constant', value: '1' });
}

interface UpdateOptions {
  readonly set: InputObject;
  readonly increment: InputValue;
  readonly json: InputValue;
  readonly rows: WrittenRows;
  /** The path of the object with `set`; null for the arguments of the root field. */
  readonly path: InputPath | null;
  readonly into: KeyList;
}

function* updateRows(
  plan: StepList,
  table: Table,
  { set, increment: added, json: changed, rows, path, into }: UpdateOptions,
): Generator<void> {
  const row = readRow({ label: 0, parent: 0, value: set, path: inputPath('set', path) });
  checkVerbs(row, 'update');
  const columns = [...row.values].map(([column, value]): Assignment => {
    return { column, parameter: { value, encoding: { kind: 'value', type: column.type, use: 'write' } } };
  });
  const increment = atInput(inputPath('increment', path), () => planIncrement(added, 'set', [...row.values.keys()]));
  const json = atInput(inputPath('json', path), () => planJsonChanges(changed, [...row.values.keys()]));
  const outgoing = row.related.filter(({ writable }) => writable.relation.holdsKey);
  const deleted = outgoing.filter(({ members }) => members.has('delete'));
  const renewed = outgoing.filter(hasNewRow);
  const step = { table, paths: [row.path] };
  // Rows that they referred to are deleted after the update, and new ones are only written if there are rows to update.
  const before = deleted.length + renewed.length > 0 ? plan.newList(table) : null;
  if (before) plan.steps.push({ ...step, kind: 'lock', rows, into: before });
  const fromKeys: UpdateStep['fromKeys'][number][] = [];
  for (const { writable } of renewed) {
    const from = yield* plan.forRows(before!, () => relateOne(plan, writable, [row]));
    fromKeys.push(...keyPairs(writable).map(([column, of]) => ({ column, from, of })));
  }
  const cut = outgoing.filter(({ members }) => members.has('disconnect') || members.has('delete'));
  const nulled = [...new Set(cut.flatMap(({ writable }) => writable.nulled))].filter(
    (column) => !fromKeys.some((each) => each.column === column),
  );
  checkIncrement(row, increment);
  for (const relation of outgoing) checkKeyStays(relation, table, row);
  const isChanged = columns.length + increment.length + json.length + nulled.length + fromKeys.length > 0;
  const changes = { set: columns, increment, json, nulled, fromKeys };
  if (isChanged) plan.steps.push({ ...step, kind: 'update', rows: before ? sameRows(before) : rows, ...changes, into });
  else plan.steps.push({ ...step, kind: 'lock', rows, into });
  yield* plan.forRows(into, function* () {
    for (const relation of outgoing) if (relation.members.has('update')) yield* updateRelated(plan, relation, into);
    for (const { writable, path: at } of deleted) deleteRelated(plan, { writable, list: before! }, inputPath('delete', at));
    for (const relation of row.related) if (!relation.writable.relation.holdsKey) yield* writeIncoming(plan, relation, into);
  });
}

/** The rows whose primary keys are in the list. */
function sameRows(list: KeyList): WrittenRows {
  const pairs = list.table.primaryKey.map(({ name, type }) => ({ name, type, of: name, collation: null }));
  return { ...everyRow, of: { list, pairs } };
}

function hasNewRow({ members }: RelationInput): boolean {
  return members.has('connect') || members.has('connectOrCreate') || members.has('create');
}

function checkIncrement({ related, path }: InputRow, increment: readonly Assignment[]): void {
  for (const { writable } of related.filter(fillsKey)) {
    const twice = increment.find(({ column }) => writable.key.includes(column));
    if (twice) throw inputError(path, filledBy(twice.column, writable.relation.fieldName));
  }
}

/**
 * Throws if an update changes the key of a row that others refer to: the change would cascade to columns that later steps use to identify
 * those rows.
 */
function checkKeyStays({ writable: { relation }, members, path }: RelationInput, { primaryKey }: Table, { related }: InputRow): void {
  const incoming = related.filter(({ writable }) => !writable.relation.holdsKey);
  const identifying = new Set([
    ...primaryKey.map(({ name }) => name),
    ...incoming.flatMap(({ writable }) => writable.relation.columns.map(({ near }) => near)),
  ]);
  const fixed = relation.columns.flatMap(({ near, target }) => (identifying.has(near) ? [target] : []));
  for (const { value, path: at } of objectsOf(members.get('update'), inputPath('update', path), false, 0)) {
    for (const argument of ['set', 'increment', 'json']) {
      const assigned = memberOf(value, argument);
      const entries = assigned?.kind === 'object' ? assigned.entries : [];
      const changed = entries.find(({ binding, value: item }) => {
        return binding?.kind === 'column' && fixed.includes(binding.column.name) && (argument === 'set' || item !== null);
      });
      if (!changed) continue;
      const message = `The field "${changed.name}" is in the key of the rows that refer to it by "${relation.fieldName}". Change it in another root field.`;
      throw inputError(inputPath(changed.name, inputPath(argument, at)), message);
    }
  }
}

function relatedTo({ writable, list }: Related, more: Partial<WrittenRows> = {}): WrittenRows {
  // The referenced column need not be a field, so the type is that of the referencing one.
  const pairs = writable.relation.columns.map(({ near, target, collation }, index) => {
    return { name: target, type: writable.key[index]!.type, of: near, collation };
  });
  return { ...everyRow, of: { list, pairs }, ...more };
}

function* updateRelated(plan: StepList, { writable, members, path }: RelationInput, list: KeyList): Generator<void> {
  const { target, kind } = writable.relation;
  const many = kind === 'to-many';
  for (const { value, path: at } of objectsOf(members.get('update'), inputPath('update', path), many, 0)) {
    const atMost = many ? atMostOf(memberOf(value, 'atMost')) : null;
    const rows = relatedTo({ writable, list }, { filter: filterOf(value, target, at), atMost });
    const set = objectOf(memberOf(value, 'set'));
    const increment = memberOf(value, 'increment');
    const json = memberOf(value, 'json');
    if (set.entries.length === 0 && increment === null && json === null)
      throw inputError(inputPath('set', at), 'The field "set" is empty. Set at least one field.');
    yield* updateRows(plan, target, { set, increment, json, rows, path: at, into: plan.newList(target) });
  }
}

function deleteRelated(plan: StepList, parents: Related, path: InputPath, more: Partial<WrittenRows> = {}): void {
  const { target: table } = parents.writable.relation;
  plan.steps.push({ kind: 'delete', table, paths: [path], rows: relatedTo(parents, more) });
}

function disconnectRelated(plan: StepList, parents: Related, path: InputPath, more: Partial<WrittenRows> = {}): void {
  const { relation, nulled } = parents.writable;
  const rows = relatedTo(parents, more);
  plan.steps.push({
    kind: 'update',
    table: relation.target,
    paths: [path],
    rows,
    set: [],
    increment: [],
    json: [],
    nulled,
    fromKeys: [],
    into: null,
  });
}

/** Writes the rows that refer to those of the list. */
function* writeIncoming(plan: StepList, relation: RelationInput, list: KeyList): Generator<void> {
  const { writable, members, path } = relation;
  const parents = { writable, list };
  const { target, kind } = writable.relation;
  for (const [verb, write] of [
    ['delete', deleteRelated],
    ['disconnect', disconnectRelated],
  ] as const) {
    const value = members.get(verb);
    const at = inputPath(verb, path);
    if (value !== undefined) write(plan, parents, at, kind === 'to-one' ? {} : restrictionOf(objectOf(value), target, at));
  }
  yield* updateRelated(plan, relation, list);
  const kept = members.get('set');
  if (kept !== undefined) yield* setRelated(plan, parents, kept, inputPath('set', path));
  // A new row replaces the one that may already be related.
  if (kind === 'to-one' && hasNewRow(relation) && writable.nulled.length > 0) disconnectRelated(plan, parents, path);
  yield* relateMany(plan, parents, [{ label: 0, use: relation }]);
}

function restrictionOf(value: InputObject, table: Table, path: InputPath): Partial<WrittenRows> {
  return { filter: filterOf(value, table, path), atMost: atMostOf(memberOf(value, 'atMost')) };
}

function filterOf(value: InputObject, table: Table, path: InputPath): Filter | null {
  const isUnsent = value.unsent?.includes('filter') ?? false;
  return atInput(inputPath('filter', path), () => planRestriction(memberOf(value, 'filter'), table, isUnsent));
}

/** Relates exactly the given rows, and disconnects all others. */
function* setRelated(plan: StepList, parents: Related, value: InputValue, path: InputPath): Generator<void> {
  const { target: table } = parents.writable.relation;
  const objects = objectsOf(value, path, true, 0);
  if (objects.length === 0) return disconnectRelated(plan, parents, path);
  const into = plan.newList(table);
  for (const keys of groupKeys(yield* readKeys(objects, table))) {
    const inputRows = inputRowsOfKeys(keys, parents);
    const key = { ...inputRows, outputs: inputRows.outputs.slice(0, keys[0]!.columns.length) };
    plan.steps.push({ kind: 'find', table, paths: pathsOf(keys), inputRows: key, ensured: false, into });
    yield;
  }
  disconnectRelated(plan, parents, path, { except: into });
  yield* connectRows(plan, parents, objects);
}
