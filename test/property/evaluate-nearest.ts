/**
 * Distances (docs/vectors.md): how far the rows of a table are from a value, and which are near. PostgreSQL measures one value against another.
 */

import { baseOf, doubleType, realType } from './column-types.ts';
import { type LoadedRow, type LoadedTable, nodeIdOf, rowsOf, valueOf } from './loaded-tables.ts';
import { type Measure, measureRows } from './measures.ts';
import { placeText } from './places.ts';
import { RefusalError } from './property-failure.ts';
import { columnOf } from './schema-description.ts';
import { quoteLiteral } from './schema-sql.ts';
import type { ValueOracle } from './value-oracle.ts';

type Input = Readonly<Record<string, unknown>>;

export interface Nearest {
  readonly distance: Measure;
  /** Whether a row is among the nearest. */
  readonly isNear: (row: LoadedRow) => boolean;
}

/** Each metric as an expression over `value` and what distances are measured from. */
const metrics: Readonly<Record<string, (from: string) => string>> = {
  SIMILARITY: (from) => `1::real - public.similarity(value, ${from})`,
  WORD_SIMILARITY: (from) => `1::real - public.word_similarity(${from}, value)`,
  STRICT_WORD_SIMILARITY: (from) => `1::real - public.strict_word_similarity(${from}, value)`,
  COSINE: (from) => `public.cosine_distance(value, ${from})`,
  L2: (from) => `public.l2_distance(value, ${from})`,
  INNER_PRODUCT: (from) => `-public.inner_product(value, ${from})`,
  L1: (from) => `public.l1_distance(value, ${from})`,
  HAMMING: (from) => `public.hamming_distance(value, ${from})`,
  JACCARD: (from) => `public.jaccard_distance(value, ${from})`,
  EUCLIDEAN: (from) => `value <-> ${from}`,
};

/** Null where the argument says nothing. */
export async function evaluateNearest(table: LoadedTable, argument: Input | null, oracle: ValueOracle): Promise<Nearest | null> {
  const given = Object.entries(argument ?? {}).filter(([, value]) => value !== null);
  const columnNamed = (field: string) => table.names.columns.find(({ fieldName, measured }) => fieldName === field && measured)?.name;
  const within = given.find(([name]) => columnNamed(name) === undefined)?.[1] as number | undefined;
  const origins = given.filter(([name]) => columnNamed(name) !== undefined);
  if (given.length === 0) return null;
  if (origins.length !== 1) throw new RefusalError('nearest to one column');
  const [field, from] = origins[0]! as [string, Input];
  const column = columnNamed(field)!;
  const origin = originOf(table, column, from);
  const distance = await measureFrom(table, column, origin.text, from.metric, oracle);
  const isNear = (row: LoadedRow) => {
    const { text } = distance.values.get(row)!;
    if (text === null || row === origin.row) return false;
    return within === undefined || (distance.type === realType ? Math.fround(Number(text)) : Number(text)) <= within;
  };
  return { distance, isNear };
}

/** What distances are measured from: its text, and the row whose value it is. */
function originOf(
  table: LoadedTable,
  column: string,
  { metric, ...origin }: Input,
): { readonly text: string | null; readonly row?: LoadedRow } {
  const members = Object.entries(origin).filter(([, value]) => value !== null);
  if (members.length !== 1) throw new RefusalError('one value to measure from');
  const [kind, value] = members[0]!;
  const { sql, scalar } = baseOf(columnOf(table.description, column).type);
  if (kind === 'nearestTo') {
    const row = rowsOf(table).find((each) => nodeIdOf(each) === value);
    return row ? { text: valueOf(row, column).text, row } : { text: null };
  }
  if (scalar === 'GeoJSON') return { text: placeText(value) };
  if (!Array.isArray(value)) return { text: String(value) };
  const length = Number(/\((\d+)\)/.exec(sql)?.[1] ?? 2);
  if (value.length !== length) throw new RefusalError('other dimensions');
  if (sql === 'point') return { text: `(${value.join(',')})` };
  if (sql.startsWith('bit')) return { text: value.join('') };
  const sparse = value.flatMap((number, index) => (number === 0 ? [] : [`${index + 1}:${number}`]));
  return { text: sql.startsWith('public.sparsevec') ? `{${sparse.join(',')}}/${length}` : `[${value.join(',')}]` };
}

async function measureFrom(
  table: LoadedTable,
  column: string,
  from: string | null,
  metric: unknown,
  oracle: ValueOracle,
): Promise<Measure> {
  const { sql, scalar } = baseOf(columnOf(table.description, column).type);
  const type = scalar === 'String' ? 'text' : scalar === 'GeoJSON' ? 'public.geometry' : sql;
  const usual =
    type === 'text' ? 'SIMILARITY' : type === 'point' || scalar === 'GeoJSON' ? 'EUCLIDEAN' : type.startsWith('bit') ? 'HAMMING' : 'COSINE';
  const measure = metrics[String(metric ?? usual)]!;
  const texts = rowsOf(table).map((row) => (from === null ? null : valueOf(row, column).text));
  const typed = type === 'text' ? measure : (origin: string) => measure(origin).replace('value', `value::${type}`);
  return measureRows(oracle, rowsOf(table), texts, typed(`${quoteLiteral(from)}::${type}`), type === 'text' ? realType : doubleType);
}
