/**
 * Plans a nested insert as steps: first the rows that its rows refer to, then the rows themselves, then the rows that refer to them. Rows
 * of one place are written together.
 */

import { mapInSteps } from '../../budget/turns.ts';
import { type InputPath, inputError, inputPath, placeOf } from '../../errors/input-path.ts';
import type { Column, Model, Table } from '../../model/model.ts';
import type { WritableRelation } from '../../model/relations/writable-relations.ts';
import { objectOf } from '../../plan/inputs.ts';
import { fill, type KeyList, keepIn, type NestedStep, type NestedWritePlan, type RowSource } from '../../plan/nested-write-plan.ts';
import type { ConflictPlan } from '../../plan/plan.ts';
import { planConflict, planResponse } from '../../plan/write/mutation.ts';
import { argumentOf, type SelectedField } from '../../request/operation.ts';
import {
  checkFilled,
  checkVerbs,
  type GivenObject,
  type GivenRelation,
  type GivenRow,
  memberOf,
  objectsOf,
  RowShape,
  readKey,
  readRow,
  readRows,
} from './read-input.ts';
import { groupKeys, groupRows, keyPairs, type Lookup, type Parents, sourceOf, sourceOfKeys } from './sources.ts';

/** Collects the steps of a root field. */
export class StepList {
  readonly steps: NestedStep[] = [];
  readonly #lists: KeyList[];
  #updated: { readonly list: KeyList; readonly table: Table } | null = null;

  /** `lists` has those of earlier root fields, because numbers of lists are unique in a statement. */
  constructor(lists: KeyList[]) {
    this.#lists = lists;
  }

  newList(table: Table): KeyList {
    const list: KeyList = { number: this.#lists.length + 1, table, columns: [], labels: null };
    this.#lists.push(list);
    return list;
  }

  /** Plans steps for the rows of an update, which do nothing if it has no rows. */
  *forRows<Result>(list: KeyList, table: Table, work: () => Generator<void, Result>): Generator<void, Result> {
    const before = this.#updated;
    this.#updated = { list, table };
    const result = yield* work();
    this.#updated = before;
    return result;
  }

  /** Makes a source conditional on the updated rows. A source with parents needs no condition. */
  conditional(source: RowSource): RowSource {
    if (source.parents !== null || this.#updated === null) return source;
    const { list, table } = this.#updated;
    keepIn(list, table.primaryKey[0]!.name);
    return { ...source, onlyIf: list };
  }
}

/** Plans an insert whose objects write related rows. Yields if there are many. Throws BAD_USER_INPUT with the path of the input. */
export function* planNestedInsert(field: SelectedField, table: Table, model: Model, lists: KeyList[]): Generator<void, NestedWritePlan> {
  const members = planResponse(field, table, model);
  const place = inputPath('objects');
  const rows = yield* readRows(objectsOf(argumentOf(field, 'objects'), place, true, 0));
  const onConflict = planConflict(argumentOf(field, 'onConflict') ?? null, table, inputPath('onConflict'));
  const leads = rows.find(({ related }) => related.some(({ writable }) => !writable.relation.holdsKey));
  if (leads && onConflict && mayLeaveOut(onConflict)) {
    const related = leads.related.find(({ writable }) => !writable.relation.holdsKey)!;
    const message = `"${related.writable.relation.fieldName}" needs a row to refer to, but "onConflict" may leave it out. Name a field in "updateColumns", and no filter.`;
    throw inputError(related.path, message);
  }
  const plan = new StepList(lists);
  const written = plan.newList(table);
  for (const { name } of table.primaryKey) keepIn(written, name);
  yield* insertRows(plan, table, rows, {
    parents: null,
    into: written,
    appends: false,
    onConflict,
    lenient: onConflict !== null && !leads,
  });
  return { kind: 'nested write', verb: 'insert', table, steps: plan.steps, written, members };
}

function mayLeaveOut({ columns, increment, filter }: ConflictPlan): boolean {
  return columns.length + increment.length === 0 || filter !== null;
}

interface InsertOptions {
  readonly parents: Parents | null;
  /** The list to store keys in, and whether it already has others. */
  readonly into: KeyList | null;
  readonly appends: boolean;
  readonly onConflict: ConflictPlan | null;
  readonly lenient: boolean;
}

/** Inserts the rows of one place with all their related rows. Returns their sources. */
function* insertRows(plan: StepList, table: Table, rows: readonly GivenRow[], options: InsertOptions): Generator<void, RowSource[]> {
  const { parents, into, appends, onConflict, lenient } = options;
  for (const row of rows) {
    checkVerbs(row, 'insert');
    if (parents) checkFilled(row.shape, parents.writable, row.path);
  }
  yield;
  const lookups: Lookup[] = [];
  for (const writable of relationsOf(rows, true)) lookups.push({ writable, list: yield* relateOne(plan, writable, rows) });
  const sources: RowSource[] = [];
  const groups = yield* groupRows(rows, lookups);
  for (const [index, group] of groups.entries()) {
    const source = plan.conditional(yield* sourceOf(table, group, lookups, parents));
    const paths = group.map(({ path }) => path);
    const mode = { lenient, appends: appends || index > 0 };
    if (into) fill(into, source, mode);
    plan.steps.push({ kind: 'insert', table, place: placeOf(paths), paths, source, onConflict, into, ...mode });
    sources.push(source);
    yield;
  }
  for (const writable of relationsOf(rows, false)) {
    const uses = rows.flatMap(({ label, related }) => related.filter((each) => each.writable === writable).map((use) => ({ label, use })));
    yield* relateMany(plan, { writable, list: into! }, uses);
  }
  return sources;
}

/** The relations that the rows write, either those whose key they hold or the others, in order of first occurrence. */
function relationsOf(rows: readonly GivenRow[], holdsKey: boolean): Set<WritableRelation> {
  const relations = new Set<WritableRelation>();
  for (const { related } of rows) {
    for (const { writable } of related) if (writable.relation.holdsKey === holdsKey) relations.add(writable);
  }
  return relations;
}

/** Finds or inserts the rows that the given rows will refer to. Returns the list of their keys. */
export function* relateOne(plan: StepList, writable: WritableRelation, rows: readonly GivenRow[]): Generator<void, KeyList> {
  const { target } = writable.relation;
  const list = plan.newList(target);
  let appends = false;
  const given = (verb: 'connect' | 'connectOrCreate' | 'create'): GivenObject[] =>
    rows.flatMap(({ label, related }) => {
      const use = related.find((each) => each.writable === writable);
      const value = use?.members.get(verb);
      return value ? [{ label, parent: label, value: objectOf(value), path: inputPath(verb, use!.path) }] : [];
    });
  for (const [, of] of keyPairs(writable)) keepIn(list, of);
  const created = given('create');
  if (created.length > 0) {
    yield* insertRows(plan, target, yield* readRows(created), { ...plainly, into: list, appends });
    appends = true;
  }
  const connected = yield* mapInSteps(given('connect'), (object) => readKey(object, target));
  const find = (source: RowSource, paths: readonly InputPath[], ensured: boolean): void => {
    fill(list, source, { appends, lenient: false });
    plan.steps.push({ kind: 'find', table: target, place: placeOf(paths), paths, source, ensured, into: list, appends });
    appends = true;
  };
  for (const keys of groupKeys(connected)) {
    const paths = keys.map(({ object }) => object.path);
    find(plan.conditional(sourceOfKeys(keys, null)), paths, false);
  }
  for (const { source, match, paths } of yield* upsertRows(plan, target, given('connectOrCreate'), null)) {
    find({ ...source, outputs: match.map((number) => source.outputs[number]!), same: [] }, paths, true);
  }
  return list;
}

const plainly: InsertOptions = { parents: null, into: null, appends: false, onConflict: null, lenient: false };

/** A relation in the input of the row with this label. */
export type RelationUse = { readonly label: number; readonly use: GivenRelation };

/** Makes existing and new rows refer to the rows of a list. */
export function* relateMany(plan: StepList, parents: Parents, uses: readonly RelationUse[]): Generator<void> {
  const { target, kind } = parents.writable.relation;
  const given = (verb: 'connect' | 'connectOrCreate' | 'create'): GivenObject[] => {
    const objects: GivenObject[] = [];
    for (const { label, use } of uses) objectsOf(use.members.get(verb), inputPath(verb, use.path), kind === 'to-many', label, objects);
    return objects;
  };
  const connected = given('connect');
  if (connected.length > 0) yield* connectRows(plan, parents, connected);
  for (const { source, match, paths } of yield* upsertRows(plan, target, given('connectOrCreate'), parents)) {
    const set = keyPairs(parents.writable).map(([column]) => source.outputs.findIndex((output) => output.column === column));
    plan.steps.push({ kind: 'attach', table: target, place: placeOf(paths), paths, source, ensured: true, match, set });
  }
  const created = given('create');
  if (created.length === 0) return;
  const into = plan.newList(target);
  yield* insertRows(plan, target, yield* readRows(created), { ...plainly, parents, into });
}

/** Makes existing rows refer to the rows of a list. */
export function* connectRows(plan: StepList, parents: Parents, objects: readonly GivenObject[]): Generator<void> {
  const { target } = parents.writable.relation;
  const read = yield* mapInSteps(objects, (object) => readKey(object, target));
  for (const keys of groupKeys(read)) {
    const paths = keys.map(({ object }) => object.path);
    const source = sourceOfKeys(keys, parents);
    const match = keys[0]!.columns.map((_, number) => number);
    const set = source.outputs.map((_, number) => number).slice(match.length);
    plan.steps.push({ kind: 'attach', table: target, place: placeOf(paths), paths, source, ensured: false, match, set });
    yield;
  }
}

/** Rows that exist after an upsert. `match` are the outputs of the source that identify them. */
interface UpsertedRows {
  readonly source: RowSource;
  readonly match: readonly number[];
  readonly paths: readonly InputPath[];
}

/** Inserts rows that do not exist yet. */
function* upsertRows(
  plan: StepList,
  table: Table,
  objects: readonly GivenObject[],
  parents: Parents | null,
): Generator<void, UpsertedRows[]> {
  const noColumns = RowShape.none();
  const upserts = yield* mapInSteps(objects, (object) => {
    const path = inputPath('create', object.path);
    const row = readRow({ ...object, value: objectOf(memberOf(object.value, 'create')), path }, noColumns);
    const pointing = row.related.find(({ writable }) => !writable.relation.holdsKey);
    if (pointing) {
      const { fieldName } = pointing.writable.relation;
      throw inputError(
        pointing.path,
        `"connectOrCreate" writes no "${fieldName}": the row may be there already. Write it in a later field.`,
      );
    }
    return { row, object, conflict: planConflict(memberOf(object.value, 'onConflict'), table, inputPath('onConflict', object.path))! };
  });
  const groups = new Map<string, typeof upserts>();
  for (const upsert of upserts) {
    const { arbiter, columns, increment, filter } = upsert.conflict;
    const isAlike = increment.length === 0 && filter === null;
    const signature = JSON.stringify([arbiter.valueName, columns.map(({ name }) => name), isAlike ? '' : upsert.object.label]);
    const group = groups.get(signature);
    if (group) group.push(upsert);
    else groups.set(signature, [upsert]);
  }
  const upserted: UpsertedRows[] = [];
  for (const group of groups.values()) {
    const { conflict, object } = group[0]!;
    const rows = group.map(({ row }) => row);
    const keyPath = inputPath('onConflict', object.path);
    const key = arbiterColumns(table, conflict, keyPath);
    const byLabel = new Map(group.map((upsert) => [upsert.row.label, upsert.object.path]));
    const sources = yield* insertRows(plan, table, rows, { ...plainly, parents, onConflict: conflict, lenient: true });
    for (const source of sources) {
      const paths = source.labels.map((label) => byLabel.get(label)!);
      upserted.push({ source, match: key.map((column) => outputOf(source, column, paths)), paths });
    }
  }
  return upserted;
}

/** The index of the output with a key column, which every row must give. `paths` are those of the rows' objects. */
function outputOf({ outputs }: RowSource, column: Column, paths: readonly InputPath[]): number {
  const number = outputs.findIndex((output) => output.column === column);
  const from = outputs[number]?.from;
  if (from?.kind === 'key') return number;
  const missing = from ? from.values.findIndex((value) => value.kind === 'constant' && value.value === null) : 0;
  if (missing === -1) return number;
  throw inputError(
    inputPath('onConflict', paths[missing]!),
    `"create" must give "${column.fieldName}", which is in the constraint, and not null.`,
  );
}

/** The columns of the constraint, which identify a row. */
function arbiterColumns(table: Table, { arbiter: { target, valueName } }: ConflictPlan, path: InputPath): Column[] {
  const names = target.kind === 'constraint' ? target.columns : target.condition === null ? target.elements : [];
  const columns = names.flatMap(
    (name) => table.columns.find((column) => name === column.name || name === `"${column.name.replaceAll('"', '""')}"`) ?? [],
  );
  if (columns.length > 0 && columns.length === names.length) return columns;
  // PostgreSQL writes expressions in parentheses.
  const isOfColumns = names.length > 0 && (target.kind === 'constraint' || !names.some((name) => name.includes('(')));
  const reason = isOfColumns ? 'is on a column that is not a field' : 'has expressions or a condition';
  throw inputError(path, `"connectOrCreate" needs a constraint of fields alone, and "${valueName}" ${reason}.`);
}
