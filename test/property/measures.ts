/** Values that rows have only in one collection: how far they are in a lineage, how well they match a search, how near they are, and their score in both. */
import { type ColumnType, integerType } from './column-types.ts';
import type { Depths } from './evaluate-lineage.ts';
import type { SearchInput } from './evaluate-search.ts';
import type { LoadedRow } from './loaded-tables.ts';
import type { ValueOracle } from './value-oracle.ts';

/** A value that rows are ordered by, in the forms that comparisons, cursors and responses take. */
export interface OrderedValue {
  readonly text: string | null;
  readonly jsonb: string;
}

export interface Measure {
  readonly type: ColumnType;
  /** Rows that are not in it have no value. */
  readonly values: ReadonlyMap<LoadedRow, OrderedValue>;
}

export interface Measures {
  readonly depth?: Measure | null;
  readonly searchRank?: Measure | null;
  readonly distance?: Measure | null;
  readonly score?: Measure | null;
  /** What found the rows. */
  readonly search?: SearchInput | null;
}

export const absent: OrderedValue = { text: null, jsonb: 'null' };

/** The value as a response has it. */
export function shownMeasure(measure: Measure | null | undefined, row: LoadedRow): number | null {
  const text = measure?.values.get(row)?.text ?? null;
  return text === null ? null : Number(text) + 0;
}

export function depthMeasure(depths: Depths): Measure {
  return { type: integerType, values: new Map([...depths].map(([row, depth]) => [row, { text: String(depth), jsonb: String(depth) }])) };
}

/** What an expression over `value` yields for a text of each row; null and not a number are no value. */
export async function measureRows(
  oracle: ValueOracle,
  rows: readonly LoadedRow[],
  texts: readonly (string | null)[],
  expression: string,
  type: ColumnType,
): Promise<Measure> {
  const item = `case when value is not null then pg_catalog.json_build_array((${expression})::text, pg_catalog.to_jsonb(${expression})::text) end`;
  const found = (await oracle.list(texts, item)) as ([text: string | null, jsonb: string] | null)[];
  const values = rows.map((row, index): [LoadedRow, OrderedValue] => {
    const [text, jsonb] = found[index] ?? [null, ''];
    return [row, text === null || text === 'NaN' ? absent : { text, jsonb }];
  });
  return { type, values: new Map(values) };
}
