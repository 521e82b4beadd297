/**
 * The input rows of a step of a nested write, as a common table expression. A few rows are a list of values, as in a plain insert; for
 * more, one array is bound for each column, so that the text does not depend on their number.
 *
 *     source as (select g.a0 as o0, ((select …) ->> g.p)::int8 as o1
 *       from rows from (unnest($1::int4[]), unnest($2::text[])) as g(p, a0))
 *
 * If a statement must tell the rows apart, they are numbered: `m` is the number of the row, `n` its label.
 */

import { composed, differ } from '../../compile/values/comparison.ts';
import type { Column, ValueType } from '../../model/model.ts';
import { scalars } from '../../model/types/scalars.ts';
import type { KeyJoin, KeyList, Output, RowSource } from '../../plan/nested-write-plan.ts';
import type { Parameter, ParameterValue, ValueUse } from '../../plan/plan.ts';
import { bind, integer, join, newLine, type Sql, sql, trusted } from '../../sql/sql.ts';
import { countOfKeys, keyAt, keyColumn, keyLabel, keyRows, onlyKey } from './key-list.ts';

/** Up to this many rows are a list of values, which PostgreSQL writes faster than arrays. */
const fewRows = 10;

export interface CompiledSource {
  /**
   * `source as (…)`, with the outputs as `o0`, `o1` …, with `m` and `n` if it is numbered, and with `differs` if some outputs must be
   * equal.
   */
  readonly expression: Sql;
  /** The number of rows. */
  readonly count: Sql;
}

/** Whether the rows must be numbered, because they are joined to others or must be told apart. */
export function mustBeNumbered({ parents, joins, same }: RowSource): boolean {
  return same.length > 0 || [...(parents ? [parents] : []), ...joins].some(({ list }) => list.labels === null);
}

/** Compiles the rows. Unless numbered, they come in input order. */
export function compileSource(source: RowSource, isNumbered: boolean): CompiledSource {
  const { parents, onlyIf, joins, outputs, same } = source;
  const places = listWork(source);
  const given = boundColumns(source, places, isNumbered);
  const parentRows = parents?.list.labels === null ? [sql`join ${keyRows(parents.list, 'p')} on ${keyLabel('p')} = g.p`] : [];
  const joined = joins.flatMap(({ list, optional }, index) => {
    if (list.labels !== null) return [];
    const alias = `j${index}`;
    return [sql`${trusted(optional ? 'left join' : 'join')} ${keyRows(list, alias)} on ${keyLabel(alias)} = g.n`];
  });
  const condition = onlyIf ? [sql`where (select ${countOfKeys(onlyIf)}) > 0`] : [];
  const isFew = source.labels.length <= fewRows;
  const from = [sql`from ${boundRows(given, isFew)}`, ...parentRows, ...joined, ...condition];
  const valueOf = (output: Output, index: number): Sql => outputValue(source, places, output, index);
  const values = outputs.map((output, index) => sql`${valueOf(output, index)} as ${trusted(`o${index}`)}`);
  const differences = same.map(([one, other]) => {
    const { from: origin, column } = outputs[other]!;
    const isThere = origin.kind === 'key' && typeof origin.join === 'number' ? presenceOf(joins[origin.join]!, origin.join, places) : sql``;
    return sql`(${differ(valueOf(outputs[one]!, one), valueOf(outputs[other]!, other), column.type)}${isThere})`;
  });
  const order = trusted(parentRows.length > 0 ? 'g.n, p.m' : 'g.n');
  const selected = [
    ...(isNumbered ? [sql`pg_catalog.row_number() over (order by ${order}) as m`, sql`g.n`] : []),
    ...values,
    ...(same.length > 0 ? [sql`${join(differences, ' or ')} as differs`] : []),
  ];
  const as = trusted(isNumbered ? 'source as materialized' : 'source as');
  const expression = sql`${as} (select ${join(selected, ', ')}${newLine}${join(from, newLine)})`;
  if (isNumbered) return { expression, count: sql`(select pg_catalog.count(*) from source)` };
  return { expression, count: isFew ? integer(source.labels.length) : sql`pg_catalog.cardinality(${given[0]!.bound[0]!})` };
}

/** The columns of the outputs, without duplicates, with their names in the source. */
export function outputColumns({ outputs }: RowSource): { readonly column: Column; readonly name: string }[] {
  return outputs.flatMap(({ column }, index) =>
    outputs.findIndex((output) => output.column === column) === index ? [{ column, name: `o${index}` }] : [],
  );
}

/** The positions of the rows' keys in lists whose labels are known; `only` if the list has a single row, to which all of them refer. */
interface Places {
  readonly parents: readonly (number | null)[] | 'only' | null;
  readonly joins: readonly (readonly (number | null)[] | 'only' | null)[];
}

function listWork({ labels, parents, joins }: RowSource): Places {
  return {
    parents: parents && placesIn(parents.list, parents.labels),
    joins: joins.map(({ list }) => placesIn(list, labels)),
  };
}

function placesIn({ labels }: KeyList, wanted: readonly number[]): Places['joins'][number] {
  if (labels === null) return null;
  // If every row of a place is written, its label is its position.
  const byLabel = labels.every((label, place) => label === place) ? null : new Map(labels.map((label, place) => [label, place]));
  const placeOf = (label: number): number | null =>
    byLabel === null ? (label < labels.length ? label : null) : (byLabel.get(label) ?? null);
  const places = wanted.map(placeOf);
  return labels.length === 1 && !places.includes(null) ? 'only' : places;
}

/** A bound column: a value for each row, or one array. */
interface BoundColumn {
  readonly name: string;
  readonly bound: readonly Sql[];
}

function boundColumns({ labels, parents, outputs }: RowSource, places: Places, isNumbered: boolean): BoundColumn[] {
  const columns: BoundColumn[] = isNumbered ? [numbersAs('n', labels)] : [];
  const parentPlaces = places.parents ?? parents?.labels;
  if (typeof parentPlaces === 'object') columns.push(numbersAs('p', parentPlaces));
  for (const [index, each] of places.joins.entries())
    if (typeof each === 'object' && each !== null) columns.push(numbersAs(`q${index}`, each));
  for (const [index, { column, from }] of outputs.entries()) {
    if (from.kind === 'given') columns.push(valuesAs(`a${index}`, column.type, from.use, from.values));
  }
  return columns.length > 0 ? columns : [numbersAs('n', labels)];
}

function numbersAs(name: string, numbers: readonly (number | null)[]): BoundColumn {
  const bindText = (value: string | null, type: string): Sql =>
    bind({ value: { kind: 'constant', value }, encoding: { kind: 'text' } } satisfies Parameter, type);
  if (numbers.length > fewRows) return { name, bound: [bindText(`{${numbers.map((number) => number ?? 'NULL').join(',')}}`, 'int4[]')] };
  return { name, bound: numbers.map((number) => bindText(number === null ? null : String(number), 'int4')) };
}

function valuesAs(name: string, type: ValueType, use: ValueUse, values: readonly ParameterValue[]): BoundColumn {
  const isText = isBoundAsText(type, use);
  if (values.length > fewRows) {
    const rows: Parameter = { value: { kind: 'list', items: values }, encoding: { kind: 'rows', type, use } };
    return { name, bound: [bind(rows, isText ? 'text[]' : `${type.sqlType}[]`)] };
  }
  const encoding: Parameter['encoding'] = use === 'write' || use === 'filter' ? { kind: 'value', type, use } : { kind: use };
  return { name, bound: values.map((value) => bind({ value, encoding } satisfies Parameter, isText ? 'text' : type.sqlType)) };
}

function boundRows(given: readonly BoundColumn[], isFew: boolean): Sql {
  const names = trusted(given.map(({ name }) => name).join(', '));
  const arrays = given.map(({ bound: [array] }) => sql`pg_catalog.unnest(${array!})`);
  if (!isFew) return sql`rows from (${join(arrays, ', ')}) as g(${names})`;
  const rows = given[0]!.bound.map((_, row) => {
    const cells = given.map(({ bound }) => bound[row]!);
    return sql`(${join(cells, ', ')})`;
  });
  return sql`(values ${join(rows, ', ')}) as g(${names})`;
}

function outputValue({ parents, joins }: RowSource, places: Places, { column: { type }, from }: Output, index: number): Sql {
  if (from.kind === 'given') {
    const name = trusted(`g.a${index}`);
    if (from.use === 'json') return composed(sql`${name}::jsonb`, type.sqlType);
    return isBoundAsText(type, from.use) ? sql`${name}::${trusted(type.sqlType)}` : name;
  }
  const { join: number, of } = from;
  if (number === 'parents') return keyOf(parents!.list, places.parents, 'p', of, type, trusted('g.p'));
  return keyOf(joins[number]!.list, places.joins[number]!, `j${number}`, of, type, trusted(`g.q${number}`));
}

function keyOf(list: KeyList, places: Places['parents'], alias: string, of: string, { sqlType }: ValueType, place: Sql): Sql {
  if (places === null) return keyColumn(list, alias, of, sqlType);
  return places === 'only' ? onlyKey(list, of, sqlType) : keyAt(list, place, of, sqlType);
}

/** `and` a condition that the row has the keys of an optional join. */
function presenceOf({ optional }: KeyJoin, number: number, { joins }: Places): Sql {
  if (!optional) return sql``;
  return sql` and ${trusted(joins[number] === null ? `j${number}.n` : `g.q${number}`)} is not null`;
}

/** Whether values are bound as text: arrays cannot have arrays as elements, and arrays of some types use a delimiter other than a comma. */
function isBoundAsText(type: ValueType, use: ValueUse): boolean {
  if ((use !== 'write' && use !== 'filter') || (type.kind !== 'scalar' && type.kind !== 'enum')) return true;
  return type.kind === 'scalar' && scalars[type.scalar].bindsText;
}
