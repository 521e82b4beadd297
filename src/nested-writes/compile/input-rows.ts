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
import type { Column } from '../../model/model.ts';
import { scalars } from '../../model/types/scalars.ts';
import type { ValueType } from '../../model/value-type.ts';
import type { InputRows, KeyJoin, Output } from '../../plan/nested-write-plan.ts';
import type { Parameter, ParameterValue, ValueUse } from '../../plan/parameter.ts';
import { countRows, cte, list, select, values } from '../../sql/clauses.ts';
import { bind, builtIn, cast, integer, join, type Sql, sql, trusted } from '../../sql/sql.ts';
import { keyLabel, type StoredKeys } from './stored-keys.ts';

/** Up to this many rows are a list of values, which PostgreSQL writes faster than arrays. */
const fewRows = 10;

interface CompiledRows {
  /**
   * `source as (…)`, with the outputs as `o0`, `o1` …, with `m` and `n` if it is numbered, and with `differs` if some outputs must be
   * equal.
   */
  readonly expression: Sql;
  readonly count: Sql;
}

/** Whether the rows must be numbered, because they are joined to others or must be told apart. */
export function mustBeNumbered({ parents, joins, same }: InputRows, keys: StoredKeys): boolean {
  return same.length > 0 || [...(parents ? [parents] : []), ...joins].some(({ list }) => keys.labels(list) === null);
}

/** Compiles the rows. Unless numbered, they come in input order. */
export function compileInputRows(inputRows: InputRows, isNumbered: boolean, keys: StoredKeys): CompiledRows {
  const { parents, onlyIf, joins, outputs, same, labels } = inputRows;
  const positions = positionsOf(inputRows, keys);
  const columns = boundColumns(inputRows, positions, isNumbered);
  const isJoined = parents !== null && positions.parents === null;
  const valueOf = (index: number): Sql => outputValue(inputRows, positions, outputs[index]!, index, keys);
  const differences = same.map(([one, other]) => {
    const { from, column } = outputs[other]!;
    const isThere = from.kind === 'key' && typeof from.join === 'number' ? presenceOf(joins[from.join]!, from.join, positions) : sql``;
    return sql`(${differ(valueOf(one), valueOf(other), column.type)}${isThere})`;
  });
  const order = trusted(isJoined ? 'g.n, p.m' : 'g.n');
  const isFew = labels.length <= fewRows;
  const rows = select({
    columns: [
      ...(isNumbered ? [sql`pg_catalog.row_number() over (order by ${order}) as m`, sql`g.n`] : []),
      ...outputs.map((_, index) => sql`${valueOf(index)} as ${trusted(`o${index}`)}`),
      ...(same.length > 0 ? [sql`${join(differences, ' or ')} as differs`] : []),
    ],
    from: boundRows(columns, isFew),
    joins: [
      ...(isJoined ? [sql`join ${keys.rows(parents.list, 'p')} on ${keyLabel('p')} = g.p`] : []),
      ...joins.flatMap(({ list, optional }, index) => {
        const alias = `j${index}`;
        const keyword = trusted(optional ? 'left join' : 'join');
        return positions.joins[index] === null ? [sql`${keyword} ${keys.rows(list, alias)} on ${keyLabel(alias)} = g.n`] : [];
      }),
    ],
    where: onlyIf ? [sql`(select ${keys.count(onlyIf)}) > 0`] : [],
  });
  const expression = cte('source', rows, { materialized: isNumbered });
  if (isNumbered) return { expression, count: sql`(select ${countRows} from source)` };
  return { expression, count: isFew ? integer(labels.length) : builtIn('cardinality', columns[0]!.bound[0]!) };
}

/** The columns of the outputs, without duplicates, with their names in the CTE `source`. */
export function outputColumns({ outputs }: InputRows): { readonly column: Column; readonly name: string }[] {
  return outputs.flatMap(({ column }, index) =>
    outputs.findIndex((output) => output.column === column) === index ? [{ column, name: `o${index}` }] : [],
  );
}

/**
 * The rows as values without a query, which an insert into shards takes where it takes no select, as under row level security: a list for
 * each row. Null if there are many, or if only the statements determine which keys belong to them.
 */
export function inputValues(inputRows: InputRows, keys: StoredKeys): readonly (readonly Sql[])[] | null {
  const { parents, onlyIf, joins, outputs, same, labels } = inputRows;
  const positions = positionsOf(inputRows, keys);
  const isKnown = [...(parents ? [positions.parents] : []), ...positions.joins].every((each) => each !== null);
  const isJson = outputs.some(({ from }) => from.kind === 'input' && from.use === 'json');
  if (labels.length > fewRows || !isKnown || isJson || onlyIf !== null || same.length > 0) return null;
  return labels.map((_, row) =>
    outputs.map(({ column: { type }, from }) => {
      if (from.kind === 'input') {
        const value = valuesAs('', type, from.use, from.values).bound[row]!;
        return isBoundAsText(type, from.use) ? cast(value, type.sqlType) : value;
      }
      const isParent = from.join === 'parents';
      const at = isParent ? positions.parents : positions.joins[from.join]!;
      const position = at === 'only' || at === null ? 0 : at[row]!;
      const { list } = isParent ? parents! : joins[from.join]!;
      return position === null ? trusted('null') : keys.valueAt(list, position, from.of, type.sqlType);
    }),
  );
}

/** Where the keys of the rows are in a list, if the plan tells its labels; `only` if it has a single row, to which all of them refer. */
type KeyPositions = readonly (number | null)[] | 'only' | null;

interface Positions {
  readonly parents: KeyPositions;
  readonly joins: readonly KeyPositions[];
}

function positionsOf({ labels, parents, joins }: InputRows, keys: StoredKeys): Positions {
  return {
    parents: parents && positionsIn(keys.labels(parents.list), parents.labels),
    joins: joins.map(({ list }) => positionsIn(keys.labels(list), labels)),
  };
}

function positionsIn(labels: readonly number[] | null, wanted: readonly number[]): KeyPositions {
  if (labels === null) return null;
  const byLabel = new Map(labels.map((label, position) => [label, position]));
  const positions = wanted.map((label) => byLabel.get(label) ?? null);
  return labels.length === 1 && !positions.includes(null) ? 'only' : positions;
}

/** A bound column: a value for each row, or one array. */
interface BoundColumn {
  readonly name: string;
  readonly bound: readonly Sql[];
}

function boundColumns({ labels, parents, outputs }: InputRows, positions: Positions, isNumbered: boolean): BoundColumn[] {
  const columns: BoundColumn[] = isNumbered ? [numbersAs('n', labels)] : [];
  const ofParents = positions.parents ?? parents?.labels;
  if (typeof ofParents === 'object') columns.push(numbersAs('p', ofParents));
  for (const [index, each] of positions.joins.entries())
    if (typeof each === 'object' && each !== null) columns.push(numbersAs(`q${index}`, each));
  for (const [index, { column, from }] of outputs.entries()) {
    if (from.kind === 'input') columns.push(valuesAs(`a${index}`, column.type, from.use, from.values));
  }
  return columns.length > 0 ? columns : [numbersAs('n', labels)];
}

function numbersAs(name: string, numbers: readonly (number | null)[]): BoundColumn {
  const bindText = (value: string | null, type: string): Sql =>
    bind({ value: { kind: 'constant', value }, encoding: { kind: 'text' } } satisfies Parameter, type);
  if (numbers.length > fewRows) return { name, bound: [bindText(`{${numbers.map((number) => number ?? 'NULL').join(',')}}`, 'int4[]')] };
  return { name, bound: numbers.map((number) => bindText(number === null ? null : String(number), 'int4')) };
}

function valuesAs(name: string, type: ValueType, use: ValueUse, items: readonly ParameterValue[]): BoundColumn {
  const isText = isBoundAsText(type, use);
  if (items.length > fewRows) {
    const rows: Parameter = { value: { kind: 'list', items }, encoding: { kind: 'rows', type, use } };
    return { name, bound: [bind(rows, isText ? 'text[]' : `${type.sqlType}[]`)] };
  }
  const encoding: Parameter['encoding'] = use === 'write' || use === 'filter' ? { kind: 'value', type, use } : { kind: use };
  return { name, bound: items.map((value) => bind({ value, encoding } satisfies Parameter, isText ? 'text' : type.sqlType)) };
}

function boundRows(columns: readonly BoundColumn[], isFew: boolean): Sql {
  const names = trusted(columns.map(({ name }) => name).join(', '));
  if (!isFew) return sql`rows from (${list(columns.map(({ bound: [array] }) => builtIn('unnest', array!)))}) as g(${names})`;
  const rows = columns[0]!.bound.map((_, row) => columns.map(({ bound }) => bound[row]!));
  return sql`(${values(rows)}) as g(${names})`;
}

function outputValue({ parents, joins }: InputRows, positions: Positions, { column, from }: Output, index: number, keys: StoredKeys): Sql {
  const { type } = column;
  if (from.kind === 'input') {
    const name = trusted(`g.a${index}`);
    if (from.use === 'json') return composed(sql`${name}::jsonb`, type.sqlType);
    return isBoundAsText(type, from.use) ? sql`${name}::${trusted(type.sqlType)}` : name;
  }
  const { join: number, of } = from;
  const isParent = number === 'parents';
  const keysOf = isParent ? parents!.list : joins[number]!.list;
  const at = isParent ? positions.parents : positions.joins[number]!;
  if (at === null) return keys.column(keysOf, isParent ? 'p' : `j${number}`, of, type.sqlType);
  if (at === 'only') return keys.only(keysOf, of, type.sqlType);
  return keys.at(keysOf, trusted(isParent ? 'g.p' : `g.q${number}`), of, type.sqlType);
}

/** `and` a condition that the row has the keys of an optional join. */
function presenceOf({ optional }: KeyJoin, number: number, { joins }: Positions): Sql {
  if (!optional) return sql``;
  return sql` and ${trusted(joins[number] === null ? `j${number}.n` : `g.q${number}`)} is not null`;
}

/** Whether values are bound as text: arrays cannot have arrays as elements, and arrays of some types use a delimiter other than a comma. */
function isBoundAsText(type: ValueType, use: ValueUse): boolean {
  if ((use !== 'write' && use !== 'filter') || (type.kind !== 'scalar' && type.kind !== 'enum')) return true;
  return type.kind === 'scalar' && scalars[type.scalar].bindsText;
}
