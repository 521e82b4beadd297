/**
 * Groups input rows and keys so that one statement can write or find each group: rows that give values to the same columns, apart from
 * columns that default to null.
 */
import { mapInSteps } from '../../budget/turns.ts';
import type { Column, Table } from '../../model/model.ts';
import type { WritableRelation } from '../../model/relations/writable-relations.ts';
import type { InputRows, KeyList, Output } from '../../plan/nested-write-plan.ts';
import type { ParameterValue } from '../../plan/parameter.ts';
import type { InputKey, InputRow } from './read-input.ts';

/** A list of rows that others refer to, or that refer to others, by a relation. */
export interface Related {
  readonly writable: WritableRelation;
  readonly list: KeyList;
}

/** Up to this many statements, rows are written in input order even if they give different columns. */
const maxRuns = 20;

/** Groups the rows, keeping input order within each group. `lookups` are the rows that they refer to. */
export function* groupRows(rows: readonly InputRow[], lookups: readonly Related[]): Generator<void, InputRow[][]> {
  const filled = new Set(lookups.flatMap(({ writable }) => writable.key));
  const named = columnsOf(rows);
  const isOptional = (column: Column) => column.nullByDefault && !filled.has(column);
  const isOptionalKey = ({ key }: WritableRelation) =>
    key.every(
      (column) =>
        column.nullByDefault && !named.has(column) && lookups.filter(({ writable }) => writable.key.includes(column)).length === 1,
    );
  const signatures = yield* mapInSteps(rows, ({ values, related }) => {
    const columns = [...values.keys()].filter((column) => !isOptional(column)).map(({ name }) => name);
    const keys = related.filter(({ writable }) => writable.relation.holdsKey && !isOptionalKey(writable));
    return JSON.stringify([columns.sort(), values.size === 0, keys.map(({ writable }) => writable.relation.fieldName).sort()]);
  });
  const starts = [...signatures.keys()].filter((index) => signatures[index] !== signatures[index - 1]);
  const runs = starts.map((start, number) => rows.slice(start, starts[number + 1]));
  if (runs.length <= maxRuns) return runs;
  return [...Map.groupBy(rows.keys(), (index) => signatures[index]).values()].map((group) => group.map((index) => rows[index]!));
}

/** The columns that at least one of the rows gives. */
function columnsOf(rows: readonly InputRow[]): ReadonlySet<Column> {
  const columns = new Set<Column>();
  for (const { values } of rows) for (const column of values.keys()) columns.add(column);
  return columns;
}

/** A group of rows, with the keys that they refer to. */
export function* inputRowsOf(
  table: Table,
  rows: readonly InputRow[],
  lookups: readonly Related[],
  parents: Related | null,
): Generator<void, InputRows> {
  const refersTo = (row: InputRow, { writable }: Related) => row.related.some((each) => each.writable === writable);
  const used = lookups.filter((lookup) => rows.some((row) => refersTo(row, lookup)));
  const named = columnsOf(rows);
  const outputs: Output[] = [];
  for (const column of table.columns.filter((each) => named.has(each))) {
    outputs.push({
      column,
      from: { kind: 'input', values: rows.map(({ values }) => values.get(column) ?? nullValue), use: 'write', field: null },
    });
    yield;
  }
  const keys = [...(parents ? keysFrom('parents', parents) : []), ...used.flatMap((lookup, number) => keysFrom(number, lookup))];
  const same: [number, number][] = [];
  for (const output of keys) {
    const first = outputs.findIndex(({ column }) => column === output.column);
    if (first >= 0) same.push([first, outputs.length]);
    outputs.push(output);
  }
  return {
    labels: rows.map(({ label }) => label),
    parents: parents && { list: parents.list, labels: rows.map(({ parent }) => parent) },
    onlyIf: null,
    joins: used.map((lookup) => ({ list: lookup.list, optional: !rows.every((row) => refersTo(row, lookup)) })),
    outputs,
    same,
  };
}

const nullValue: ParameterValue = { kind: 'constant', value: null };

function keysFrom(join: 'parents' | number, { writable }: Related): readonly Output[] {
  return keyPairs(writable).map(([column, of]) => ({ column, from: { kind: 'key', join, of } }));
}

/** The rows of keys with the same columns, followed by the foreign key that the rows they identify will get from their parents. */
export function inputRowsOfKeys(keys: readonly InputKey[], parents: Related | null): InputRows {
  const values = keys[0]!.columns.map(({ column, use, field }, index): Output => {
    return { column, from: { kind: 'input', values: keys.map(({ columns }) => columns[index]!.value), use, field } };
  });
  return {
    labels: keys.map(({ object }) => object.label),
    parents: parents && { list: parents.list, labels: keys.map(({ object }) => object.parent) },
    onlyIf: null,
    joins: [],
    outputs: [...values, ...(parents ? keysFrom('parents', parents) : [])],
    same: [],
  };
}

export function groupKeys(keys: readonly InputKey[]): InputKey[][] {
  return [...Map.groupBy(keys, ({ columns }) => JSON.stringify(columns.map(({ column, use }) => [column.name, use]))).values()];
}

/** The columns of a foreign key, each with the name of the column that it takes its value from. */
export function keyPairs({ key, relation: { holdsKey, columns } }: WritableRelation): [column: Column, of: string][] {
  return columns.map((pair, index) => [key[index]!, holdsKey ? pair.target : pair.near]);
}
