/**
 * What `orderBy` asks for: columns, computed fields, and values of related rows, read off the loaded rows. Of aggregates PostgreSQL computes sums, averages
 * and extremes of lists of values; counts are counted here.
 */
import { baseOf, type ColumnType, integerType, isJson, jsonValueTypes, textType } from './column-types.ts';
import { type JsonValueKey, valueAt } from './evaluate-json.ts';
import {
  keyOf,
  type LoadedRow,
  type LoadedTable,
  partOfColumn,
  rowsOf,
  tableByType,
  valueOf,
  valueOfPart,
  type World,
} from './loaded-tables.ts';
import { columnNamed, type LoadedValue, memberOf, namesOf } from './loaded-values.ts';
import { absent, type Measure, type Measures, type OrderedValue } from './measures.ts';
import { columnOf } from './schema-description.ts';
import { areTied } from './tied-rows.ts';
import type { ValueOracle } from './value-oracle.ts';

export interface OrderKey {
  /** The column of the table itself; null of anything else. */
  readonly column: string | null;
  readonly type: ColumnType;
  readonly descending: boolean;
  readonly nullsFirst: boolean;
  readonly valueOf: (row: LoadedRow) => OrderedValue;
}

/** An aggregate that PostgreSQL has to compute, such as `sum(value::integer)` of these. */
interface Question {
  readonly texts: readonly string[];
  readonly expression: string;
}

/** What a key reads of a row. */
interface Reading {
  readonly column: string | null;
  readonly type: ColumnType;
  readonly direction: string;
  readonly read: (row: LoadedRow) => OrderedValue | Question;
}

type Element = Readonly<Record<string, unknown>>;

/** The keys that `orderBy` names, then the key of the table. */
export async function orderKeys(table: LoadedTable, orderBy: unknown, oracle: ValueOracle, measures: Measures = {}): Promise<OrderKey[]> {
  const keys: OrderKey[] = [];
  for (const reading of readingsOf(table, orderBy, measures)) {
    const values = new Map<LoadedRow, OrderedValue>();
    for (const row of rowsOf(table)) values.set(row, await answer(reading.read(row), oracle));
    keys.push(keyOfReading(reading, (row) => values.get(row)!));
  }
  return keys;
}

/** How two rows of the table compare. */
export async function compareRows(
  table: LoadedTable,
  keys: readonly OrderKey[],
  oracle: ValueOracle,
): Promise<(a: LoadedRow, b: LoadedRow) => number> {
  const rows = rowsOf(table);
  const positions = new Map(rows.map((row, index) => [row, index]));
  const ranks: (readonly (number | null)[])[] = [];
  for (const { type, valueOf } of keys)
    ranks.push(
      await oracle.ranks(
        rows.map((row) => valueOf(row).text),
        type,
      ),
    );
  return (a, b) => {
    for (const [index, key] of keys.entries()) {
      const order = compareRanks(ranks[index]![positions.get(a)!]!, ranks[index]![positions.get(b)!]!, key);
      if (order !== 0) return order;
    }
    return 0;
  };
}

/** The rows of the table in order. */
export async function sortRows(table: LoadedTable, keys: readonly OrderKey[], oracle: ValueOracle): Promise<LoadedRow[]> {
  return rowsOf(table).toSorted(await compareRows(table, keys, oracle));
}

function compareRanks(a: number | null, b: number | null, { descending, nullsFirst }: OrderKey): number {
  if (a === null || b === null) return a === b ? 0 : (a === null) === nullsFirst ? -1 : 1;
  return descending ? b - a : a - b;
}

/** The same where PostgreSQL need not be asked; null where it must be. */
export function plainOrderKeys(table: LoadedTable, orderBy: unknown): OrderKey[] | null {
  const readings = readingsOf(table, orderBy, {});
  if (readings.some(({ read }) => rowsOf(table).some((row) => 'expression' in read(row)))) return null;
  return readings.map((reading) => keyOfReading(reading, (row) => reading.read(row) as OrderedValue));
}

/** A column, ascending, with nulls last. */
export function ascendingKey(table: LoadedTable, column: string): OrderKey {
  return keyOfReading(columnReading(table, column, 'AscNullsLast'), (row) => valueOf(row, column));
}

function keyOfReading({ column, type, direction }: Reading, read: OrderKey['valueOf']): OrderKey {
  return { column, type, descending: direction.startsWith('Desc'), nullsFirst: direction.endsWith('NullsFirst'), valueOf: read };
}

async function answer(reading: OrderedValue | Question, oracle: ValueOracle): Promise<OrderedValue> {
  if (!('expression' in reading)) return reading;
  const { texts, expression } = reading;
  return {
    text: await oracle.aggregate(texts, expression),
    jsonb: (await oracle.aggregate(texts, `pg_catalog.to_jsonb(${expression})`)) ?? 'null',
  };
}

function readingsOf(table: LoadedTable, orderBy: unknown, measures: Measures): Reading[] {
  const elements = (orderBy === null || orderBy === undefined ? [] : Array.isArray(orderBy) ? orderBy : [orderBy]) as Element[];
  const requested = elements.flatMap((element) => readElement(table, element, measures) ?? []);
  const { score, distance, depth } = measures;
  const leading = score ? [measureReading(score, 'DescNullsLast')] : distance ? [measureReading(distance, 'AscNullsLast')] : [];
  const nearestFirst = depth && requested.length === 0 ? [measureReading(depth, 'AscNullsLast')] : requested;
  return [...leading, ...nearestFirst, ...keyOf(table).map(({ name }) => columnReading(table, name, 'AscNullsLast'))];
}

/** Undefined if the element names no key. */
function readElement(table: LoadedTable, element: Element, measures: Measures = {}): Reading | undefined {
  const [entry] = Object.entries(element).filter(([, value]) => value !== null);
  if (!entry) return undefined;
  const [field, value] = entry;
  const columns = table.names.columns.filter(({ selectable }) => selectable);
  const column = columnNamed(columns, 'fieldName', field);
  const part = column && partOfColumn(table, column);
  if (part && !part.type.isArray && (part.type.composite || isJson(part.type)) && typeof value === 'object')
    return partReading(table.world, part.type, (row) => valueOfPart(row, part), value as Element);
  if (typeof value === 'object') return readRelated(table, field, value as Element);
  if (column?.orderable) return columnReading(table, column.name, value as string);
  if (table.computed.has(field)) return computedReading(table, field, value as string);
  const measure = measures[field as 'depth' | 'searchRank'];
  return measure ? measureReading(measure, value as string) : undefined;
}

function measureReading({ type, values }: Measure, direction: string): Reading {
  return { column: null, type, direction, read: (row) => values.get(row) ?? absent };
}

/** The order by what rows have in a collection. */
export function keyOfMeasure(measure: Measure, direction: string): OrderKey {
  const reading = measureReading(measure, direction);
  return keyOfReading(reading, (row) => measure.values.get(row) ?? absent);
}

function columnReading(table: LoadedTable, name: string, direction: string): Reading {
  return { column: name, type: columnOf(table.description, name).type, direction, read: (row) => valueOf(row, name) };
}

/** A member of a composite value, or what is at a path of a document. */
function partReading(world: World, type: ColumnType, of: (row: LoadedRow) => LoadedValue | undefined, value: Element): Reading | undefined {
  if (!type.composite) return jsonReading(of, value as unknown as JsonOrder);
  const [entry] = Object.entries(value).filter(([, member]) => member !== null);
  if (!entry) return undefined;
  const part = memberOf(world, namesOf(world, type), 'fieldName', entry[0]);
  const member = (row: LoadedRow) => part.in(of(row)?.members);
  if (typeof entry[1] === 'object') return partReading(world, part.type, member, entry[1] as Element);
  return { column: null, type: part.type, direction: entry[1] as string, read: (row) => member(row) ?? absent };
}

type JsonOrder = JsonValueKey & { readonly direction: string };

function jsonReading(of: (row: LoadedRow) => LoadedValue | undefined, { path, as = 'TEXT', direction }: JsonOrder): Reading {
  const type = jsonValueTypes[as];
  const read = (row: LoadedRow): OrderedValue | Question => {
    const text = valueAt(of(row)?.text ?? null, { path, as });
    if (text === null) return absent;
    // Only PostgreSQL knows the point in time.
    if (as === 'DATETIME') return { texts: [text], expression: `pg_catalog.max(value::${type.sql})` };
    return { text, jsonb: as === 'TEXT' || as === 'DATE' ? JSON.stringify(text) : text };
  };
  return { column: null, type, direction, read };
}

/** What the functions of random schemas make of a column. */
function computedReading(table: LoadedTable, field: string, direction: string): Reading {
  const shown = table.computed.get(field)!;
  const read = (row: LoadedRow): OrderedValue => {
    const { text } = valueOf(row, shown);
    return text === null ? absent : { text: `${text}?`, jsonb: JSON.stringify(`${text}?`) };
  };
  return { column: null, type: textType, direction, read };
}

function readRelated(table: LoadedTable, field: string, value: Element): Reading | undefined {
  const relation = table.names.relations.find(({ fieldName }) => fieldName === field)!;
  const target = tableByType(table.world, relation.target.typeName);
  const tied = (row: LoadedRow) => rowsOf(target).filter((other) => areTied(relation, row, other));
  if (relation.kind === 'to-many') return readAggregate(target, value, tied);
  const inner = readElement(target, value);
  if (!inner) return undefined;
  const read = (row: LoadedRow) => {
    const [other] = tied(row);
    return other ? inner.read(other) : absent;
  };
  return { ...inner, column: null, read };
}

function readAggregate(target: LoadedTable, value: Element, tied: (row: LoadedRow) => LoadedRow[]): Reading | undefined {
  const [entry] = Object.entries(value).filter(([, member]) => member !== null);
  if (!entry) return undefined;
  const [name, member] = entry;
  if (name === 'count') {
    const read = (row: LoadedRow) => ({ text: String(tied(row).length), jsonb: String(tied(row).length) });
    return { column: null, type: integerType, direction: member as string, read };
  }
  const [column] = Object.entries(member as Element).filter(([, direction]) => direction !== null);
  if (!column) return undefined;
  const [field, direction] = column;
  const { name: of } = target.names.columns.find(({ fieldName }) => fieldName === field)!;
  const type = baseOf(columnOf(target.description, of).type);
  const aggregate = aggregateOf(name, type);
  const read = (row: LoadedRow): OrderedValue | Question => {
    const texts = tied(row).flatMap((other) => valueOf(other, of).text ?? []);
    return texts.length === 0 ? absent : { texts, expression: aggregate.expression };
  };
  return { column: null, type: { ...type, sql: aggregate.sql }, direction: direction as string, read };
}

/** The aggregate of `value`, and its type. Floating point numbers are summed up exactly, so that their order does not matter. */
function aggregateOf(name: string, { sql }: ColumnType): { readonly expression: string; readonly sql: string } {
  if (sql === 'interval') return { expression: `pg_catalog.${name}(value::interval)`, sql };
  if (name === 'sum' || name === 'avg') {
    const isWhole = ['smallint', 'integer', 'bigint'].includes(sql);
    const value = isWhole && name === 'sum' ? `value::${sql}` : `value::${sql}::numeric`;
    return { expression: `pg_catalog.${name}(${value})`, sql: isWhole && name === 'sum' && sql !== 'bigint' ? 'bigint' : 'numeric' };
  }
  if (sql === 'boolean') return { expression: `pg_catalog.${name === 'min' ? 'bool_and' : 'bool_or'}(value::boolean)`, sql };
  return { expression: `pg_catalog.${name}(value::${sql})`, sql };
}
