/**
 * Groups input rows so that one statement can write each group: rows that give values to the same columns, apart from columns that default
 * to null.
 */

import { mapInSteps } from '../../budget/turns.ts';
import type { Column, Table } from '../../model/model.ts';
import type { WritableRelation } from '../../model/relations/writable-relations.ts';
import { type KeyList, keepIn, type Output, type RowSource } from '../../plan/nested-write-plan.ts';
import type { ParameterValue } from '../../plan/plan.ts';
import type { GivenKey, GivenRow, RowShape } from './read-input.ts';

/** The parents of some rows, and the relation to them. */
export interface Parents {
  readonly list: KeyList;
  readonly writable: WritableRelation;
}

/** Keys of rows that others refer to, by the label of the referring row. */
export interface Lookup {
  readonly writable: WritableRelation;
  readonly list: KeyList;
}

/** Up to this many statements, rows are written in input order even if they give different columns. */
const maxRuns = 20;

/** Groups the rows, keeping input order within each group. Yields in between. */
export function groupRows(rows: readonly GivenRow[], lookups: readonly Lookup[]): Generator<void, GivenRow[][]> {
  const filled = new Set(lookups.flatMap(({ writable }) => writable.key));
  const given = columnsOf(rows);
  const isOptional = (column: Column) => column.nullByDefault && !filled.has(column);
  const isOptionalKey = ({ key }: WritableRelation) =>
    key.every(
      (column) =>
        column.nullByDefault && !given.has(column) && lookups.filter(({ writable }) => writable.key.includes(column)).length === 1,
    );
  const shapes = new Map<RowShape, string>();
  const shapeText = (shape: RowShape): string => {
    let text = shapes.get(shape);
    if (text === undefined) {
      const columns = [...shape.places.keys()];
      const named = columns.filter((column) => !isOptional(column)).map(({ name }) => name);
      text = JSON.stringify([named.sort(), columns.length === 0]);
      shapes.set(shape, text);
    }
    return text;
  };
  const signatureOf = ({ shape, related }: GivenRow) => {
    if (related.length === 0) return shapeText(shape);
    const keys = related.flatMap(({ writable }) =>
      writable.relation.holdsKey && !isOptionalKey(writable) ? [writable.relation.fieldName] : [],
    );
    return keys.length === 0 ? shapeText(shape) : shapeText(shape) + JSON.stringify(keys.sort());
  };
  return inGroups(rows, signatureOf);
}

/** Groups adjacent items with the same signature, or all such items if that makes too many groups. */
function* inGroups<Item>(items: readonly Item[], signatureOf: (item: Item) => string): Generator<void, Item[][]> {
  const signatures = yield* mapInSteps(items, signatureOf);
  const starts: number[] = [];
  for (let index = 0; index < signatures.length; index += 1) if (signatures[index] !== signatures[index - 1]) starts.push(index);
  const runs = starts.map((start, number) => items.slice(start, starts[number + 1]));
  if (runs.length <= maxRuns) return runs;
  const sets = new Map<string, Item[]>();
  for (const [number, run] of runs.entries()) {
    const signature = signatures[starts[number]!]!;
    const set = sets.get(signature);
    if (set) for (const item of run) set.push(item);
    else sets.set(signature, run);
  }
  return sets.size === runs.length ? runs : [...sets.values()];
}

/** The columns that at least one of the rows gives. */
function columnsOf(rows: readonly GivenRow[]): ReadonlySet<Column> {
  const given = new Set<Column>();
  const shapes = new Set<RowShape>();
  for (const { shape } of rows) shapes.add(shape);
  for (const { places } of shapes) for (const column of places.keys()) given.add(column);
  return given;
}

/** The source of a group of rows, with the keys that they refer to. */
export function* sourceOf(
  table: Table,
  rows: readonly GivenRow[],
  lookups: readonly Lookup[],
  parents: Parents | null,
): Generator<void, RowSource> {
  const used = lookups.filter(({ writable }) => rows.some((row) => row.related.some((each) => each.writable === writable)));
  const named = columnsOf(rows);
  const outputs: Output[] = [];
  for (const column of table.columns.filter((each) => named.has(each))) {
    outputs.push({ column, from: { kind: 'given', values: rows.map((row) => valueOf(row, column)), use: 'write' } });
    yield;
  }
  const same: [number, number][] = [];
  const fill = (column: Column, join: 'parents' | number, of: string) => {
    const first = outputs.findIndex((output) => output.column === column);
    if (first >= 0) same.push([first, outputs.length]);
    outputs.push({ column, from: { kind: 'key', join, of } });
  };
  for (const [column, of] of parents ? keyPairs(parents.writable) : []) {
    keepIn(parents!.list, of);
    fill(column, 'parents', of);
  }
  for (const [number, { writable, list }] of used.entries()) {
    for (const [column, of] of keyPairs(writable)) {
      keepIn(list, of);
      fill(column, number, of);
    }
  }
  return {
    labels: rows.map(({ label }) => label),
    parents: parents && { list: parents.list, labels: rows.map(({ parent }) => parent) },
    onlyIf: null,
    joins: used.map(({ writable, list }) => ({
      list,
      optional: !rows.every((row) => row.related.some((each) => each.writable === writable)),
    })),
    outputs,
    same,
  };
}

/** The source of keys with the same columns, with the foreign key values that the rows they identify will get. */
export function sourceOfKeys(keys: readonly GivenKey[], parents: Parents | null): RowSource {
  const given = keys[0]!.columns.map(({ column, use }, index): Output => {
    return { column, from: { kind: 'given', values: keys.map(({ columns }) => columns[index]!.value), use } };
  });
  const taken = (parents ? keyPairs(parents.writable) : []).map(([column, of]): Output => {
    keepIn(parents!.list, of);
    return { column, from: { kind: 'key', join: 'parents', of } };
  });
  return {
    labels: keys.map(({ object }) => object.label),
    parents: parents && { list: parents.list, labels: keys.map(({ object }) => object.parent) },
    onlyIf: null,
    joins: [],
    outputs: [...given, ...taken],
    same: [],
  };
}

/** Groups keys that consist of the same columns. */
export function groupKeys(keys: readonly GivenKey[]): GivenKey[][] {
  const sets = new Map<string, GivenKey[]>();
  for (const key of keys) {
    const signature = JSON.stringify(key.columns.map(({ column, use }) => [column.name, use]));
    const set = sets.get(signature);
    if (set) set.push(key);
    else sets.set(signature, [key]);
  }
  return [...sets.values()];
}

/** The columns of a foreign key, each with the name of the column that it takes its value from. */
export function keyPairs({ key, relation: { holdsKey, columns } }: WritableRelation): [column: Column, of: string][] {
  return columns.map((pair, index) => [key[index]!, holdsKey ? pair.target : pair.near]);
}

function valueOf({ shape, values }: GivenRow, column: Column): ParameterValue {
  const place = shape.places.get(column);
  return place === undefined ? nullValue : values[place]!;
}

const nullValue: ParameterValue = { kind: 'constant', value: null };
