/**
 * Plans a nested insert as steps: first the rows that its rows refer to, then the rows themselves, then the rows that refer to them. Rows
 * of one place are written together.
 */
import { mapInSteps } from '../../budget/turns.ts';
import { type InputPath, inputError, inputPath } from '../../errors/input-path.ts';
import type { Column, Model, Table } from '../../model/model.ts';
import type { WritableRelation } from '../../model/relations/writable-relations.ts';
import { objectOf } from '../../plan/inputs.ts';
import type { InputRows, KeyList, NestedStep, NestedWritePlan } from '../../plan/nested-write-plan.ts';
import type { ConflictPlan } from '../../plan/plan.ts';
import { planConflict, planResponse } from '../../plan/write/mutation.ts';
import { argumentOf, type SelectedField } from '../../request/operation.ts';
import { groupKeys, groupRows, inputRowsOf, inputRowsOfKeys, keyPairs, type Related } from './group-rows.ts';
import {
  checkFilled,
  checkVerbs,
  type InputKey,
  type InputRow,
  type LabelledObject,
  memberOf,
  objectsOf,
  type RelationInput,
  readKeys,
  readRow,
  readRows,
} from './read-input.ts';

export class StepList {
  readonly steps: NestedStep[] = [];
  readonly lists: KeyList[] = [];
  readonly #firstList: number;
  /** The rows of an update without which nothing is written. */
  #onlyIf: KeyList | null = null;

  constructor(firstList: number) {
    this.#firstList = firstList;
  }

  newList(table: Table): KeyList {
    const list: KeyList = { number: this.#firstList + this.lists.length, table };
    this.lists.push(list);
    return list;
  }

  /** Plans steps for the rows of an update, which do nothing if it has no rows. */
  *forRows<Result>(list: KeyList, work: () => Generator<void, Result>): Generator<void, Result> {
    const before = this.#onlyIf;
    this.#onlyIf = list;
    const result = yield* work();
    this.#onlyIf = before;
    return result;
  }

  /** Makes rows conditional on the updated rows. Rows with parents need no condition. */
  conditional(inputRows: InputRows): InputRows {
    return inputRows.parents === null ? { ...inputRows, onlyIf: this.#onlyIf } : inputRows;
  }
}

/**
 * Plans an insert whose objects write related rows. `firstList` is the first number for a list. Yields if there are many objects. Throws
 * BAD_USER_INPUT with the path of the input.
 */
export function* planNestedInsert(field: SelectedField, table: Table, model: Model, firstList: number): Generator<void, NestedWritePlan> {
  const members = planResponse(field, table, model);
  const rows = yield* readRows(objectsOf(argumentOf(field, 'objects'), inputPath('objects'), true, 0));
  const onConflict = planConflict(argumentOf(field, 'onConflict') ?? null, table, inputPath('onConflict'));
  const referring = rows.flatMap(({ related }) => related.find(({ writable }) => !writable.relation.holdsKey) ?? []).at(0);
  if (referring && onConflict && mayLeaveOut(onConflict)) {
    const message = `"${referring.writable.relation.fieldName}" needs a row to refer to, but "onConflict" may leave it out. Name a field in "updateColumns", and no filter.`;
    throw inputError(referring.path, message);
  }
  const plan = new StepList(firstList);
  const written = plan.newList(table);
  yield* insertRows(plan, table, rows, { into: written, onConflict, lenient: onConflict !== null && !referring });
  return { kind: 'nested write', verb: 'insert', table, steps: plan.steps, lists: plan.lists, written, members };
}

function mayLeaveOut({ columns, increment, filter }: ConflictPlan): boolean {
  return columns.length + increment.length === 0 || filter !== null;
}

interface InsertOptions {
  readonly parents?: Related | null;
  readonly into?: KeyList | null;
  readonly onConflict?: ConflictPlan | null;
  readonly lenient?: boolean;
}

/** Inserts rows with all their related rows. Returns the rows of each statement. */
function* insertRows(
  plan: StepList,
  table: Table,
  rows: readonly InputRow[],
  { parents = null, into = null, onConflict = null, lenient = false }: InsertOptions,
): Generator<void, InputRows[]> {
  for (const row of rows) {
    checkVerbs(row, 'insert');
    if (parents) checkFilled(row.values, parents.writable, row.path);
  }
  yield;
  const lookups: Related[] = [];
  for (const writable of relationsOf(rows, true)) lookups.push({ writable, list: yield* relateOne(plan, writable, rows) });
  const groups: InputRows[] = [];
  for (const group of yield* groupRows(rows, lookups)) {
    const inputRows = plan.conditional(yield* inputRowsOf(table, group, lookups, parents));
    plan.steps.push({ kind: 'insert', table, paths: group.map(({ path }) => path), inputRows, onConflict, lenient, into });
    groups.push(inputRows);
    yield;
  }
  for (const writable of relationsOf(rows, false)) {
    const uses = rows.flatMap(({ label, related }) => related.filter((each) => each.writable === writable).map((use) => ({ label, use })));
    yield* relateMany(plan, { writable, list: into! }, uses);
  }
  return groups;
}

/** The relations that the rows write, either those whose key they hold or the others, in order of first occurrence. */
function relationsOf(rows: readonly InputRow[], holdsKey: boolean): Set<WritableRelation> {
  const all = rows.flatMap(({ related }) => related.map(({ writable }) => writable));
  return new Set(all.filter(({ relation }) => relation.holdsKey === holdsKey));
}

type CreatingVerb = 'connect' | 'connectOrCreate' | 'create';

/** Finds or inserts the rows that the given rows will refer to. Returns the list of their keys. */
export function* relateOne(plan: StepList, writable: WritableRelation, rows: readonly InputRow[]): Generator<void, KeyList> {
  const table = writable.relation.target;
  const into = plan.newList(table);
  const objects = (verb: CreatingVerb): LabelledObject[] =>
    rows.flatMap(({ label, related }) => {
      const use = related.find((each) => each.writable === writable);
      const value = use?.members.get(verb);
      return value ? [{ label, parent: label, value: objectOf(value), path: inputPath(verb, use!.path) }] : [];
    });
  const created = objects('create');
  if (created.length > 0) yield* insertRows(plan, table, yield* readRows(created), { into });
  for (const keys of groupKeys(yield* readKeys(objects('connect'), table))) {
    const inputRows = plan.conditional(inputRowsOfKeys(keys, null));
    plan.steps.push({ kind: 'find', table, paths: pathsOf(keys), inputRows, ensured: false, into });
  }
  for (const { inputRows, match, paths } of yield* upsertRows(plan, table, objects('connectOrCreate'), null)) {
    const key = { ...inputRows, outputs: match.map((number) => inputRows.outputs[number]!), same: [] };
    plan.steps.push({ kind: 'find', table, paths, inputRows: key, ensured: true, into });
  }
  return into;
}

interface RelationUse {
  readonly label: number;
  readonly use: RelationInput;
}

/** Makes existing and new rows refer to the rows of a list. */
export function* relateMany(plan: StepList, parents: Related, uses: readonly RelationUse[]): Generator<void> {
  const { target: table, kind } = parents.writable.relation;
  const objects = (verb: CreatingVerb): LabelledObject[] => {
    const all: LabelledObject[] = [];
    for (const { label, use } of uses) objectsOf(use.members.get(verb), inputPath(verb, use.path), kind === 'to-many', label, all);
    return all;
  };
  yield* connectRows(plan, parents, objects('connect'));
  for (const { inputRows, match, paths } of yield* upsertRows(plan, table, objects('connectOrCreate'), parents)) {
    const set = keyPairs(parents.writable).map(([column]) => inputRows.outputs.findIndex((output) => output.column === column));
    plan.steps.push({ kind: 'attach', table, paths, inputRows, ensured: true, match, set });
  }
  const created = objects('create');
  if (created.length > 0) yield* insertRows(plan, table, yield* readRows(created), { parents, into: plan.newList(table) });
}

/** Makes existing rows refer to the rows of a list. */
export function* connectRows(plan: StepList, parents: Related, objects: readonly LabelledObject[]): Generator<void> {
  const { target: table } = parents.writable.relation;
  for (const keys of groupKeys(yield* readKeys(objects, table))) {
    const inputRows = inputRowsOfKeys(keys, parents);
    const match = [...keys[0]!.columns.keys()];
    const set = [...inputRows.outputs.keys()].slice(match.length);
    plan.steps.push({ kind: 'attach', table, paths: pathsOf(keys), inputRows, ensured: false, match, set });
    yield;
  }
}

export function pathsOf(keys: readonly InputKey[]): InputPath[] {
  return keys.map(({ object }) => object.path);
}

/** Rows that exist after an upsert. `match` are the outputs that identify them. */
interface UpsertedRows {
  readonly inputRows: InputRows;
  readonly match: readonly number[];
  readonly paths: readonly InputPath[];
}

function* upsertRows(
  plan: StepList,
  table: Table,
  objects: readonly LabelledObject[],
  parents: Related | null,
): Generator<void, UpsertedRows[]> {
  const upserts = yield* mapInSteps(objects, (object) => readUpsert(object, table));
  const groups = Map.groupBy(upserts, ({ row, conflict: { arbiter, columns, increment, filter } }) => {
    const isAlike = increment.length === 0 && filter === null;
    return JSON.stringify([arbiter.valueName, columns.map(({ name }) => name), isAlike ? '' : row.label]);
  });
  const upserted: UpsertedRows[] = [];
  for (const group of groups.values()) {
    const { conflict, path } = group[0]!;
    const key = arbiterColumns(table, conflict, inputPath('onConflict', path));
    const byLabel = new Map(group.map((upsert) => [upsert.row.label, upsert.path]));
    const rows = group.map(({ row }) => row);
    for (const inputRows of yield* insertRows(plan, table, rows, { parents, onConflict: conflict, lenient: true })) {
      const paths = inputRows.labels.map((label) => byLabel.get(label)!);
      upserted.push({ inputRows, match: key.map((column) => outputOf(inputRows, column, paths)), paths });
    }
  }
  return upserted;
}

function readUpsert(object: LabelledObject, table: Table): { row: InputRow; conflict: ConflictPlan; path: InputPath } {
  const { value, path } = object;
  const row = readRow({ ...object, value: objectOf(memberOf(value, 'create')), path: inputPath('create', path) });
  const referring = row.related.find(({ writable }) => !writable.relation.holdsKey);
  if (referring) {
    const { fieldName } = referring.writable.relation;
    const problem = `"connectOrCreate" writes no "${fieldName}": the row may be there already. Write it in a later field.`;
    throw inputError(referring.path, problem);
  }
  return { row, conflict: planConflict(memberOf(value, 'onConflict'), table, inputPath('onConflict', path))!, path };
}

/** The index of the output with a key column, which every row must give. `paths` are those of the rows' objects. */
function outputOf({ outputs }: InputRows, column: Column, paths: readonly InputPath[]): number {
  const number = outputs.findIndex((output) => output.column === column);
  const from = outputs[number]?.from;
  if (from?.kind === 'key') return number;
  const missing = from
    ? from.values.findIndex((value) => value.kind === 'null bounds' || (value.kind === 'constant' && value.value === null))
    : 0;
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
