/**
 * Ranges and multiranges (docs/types.md): their bounds as objects, read off PostgreSQL's text, and what their filters say. PostgreSQL says what one operator
 * yields for two ranges.
 */

import { type GraphQLInputObjectType, type GraphQLNamedType, getNamedType, isInputObjectType } from 'graphql';
import { type ColumnType, orderedBounds } from './column-types.ts';
import type { LoadedTable } from './loaded-tables.ts';
import { RefusalError } from './property-failure.ts';
import type { RandomSource } from './random-source.ts';
import { quoteLiteral } from './schema-sql.ts';
import type { Truth } from './truth.ts';
import type { ValueOracle } from './value-oracle.ts';

type Text = string | null;

/** A range in inputs, which leaves out what it does not say, and in rows. */
interface RangeObject {
  readonly lower?: unknown;
  readonly upper?: unknown;
  readonly lowerInclusive?: boolean | null;
  readonly upperInclusive?: boolean | null;
  readonly isEmpty?: boolean | null;
}

const symbols: Readonly<Record<string, string>> = {
  contains: '@>',
  containedBy: '<@',
  overlaps: '&&',
  before: '<<',
  after: '>>',
  adjacentTo: '-|-',
  equalTo: '=',
};

/** The operators that only ranges have. */
export const rangeOperators = [...Object.keys(symbols), 'containsElement', 'isEmpty', 'lower', 'upper'];

/** The column whose bounds a field of rows or of an input shows. */
export function boundedColumn({ names }: LoadedTable, field: string, kind: 'fieldName' | 'rowFieldName'): string | undefined {
  return names.columns.find((column) => `${column[kind]}Bounds` === field)?.name;
}

/** Whether an input is a range. */
export function isRangeInput(type: GraphQLNamedType): type is GraphQLInputObjectType {
  return isInputObjectType(type) && ['lower', 'upper', 'lowerInclusive', 'isEmpty'].every((name) => name in type.getFields());
}

/** A range of values of which the first is not after the second, some of it left out. */
export function randomRange(random: RandomSource, type: GraphQLInputObjectType): RangeObject {
  if (random.chance(0.06)) return random.pick([{}, { isEmpty: false }]);
  if (random.chance(0.06)) return { isEmpty: true };
  const bounds = orderedBounds[getNamedType(type.getFields().lower!.type).name]!;
  const from = random.integer(0, bounds.length - 1);
  const to = random.integer(from, bounds.length - 1);
  const bound = (value: unknown) => (random.chance(0.15) ? null : value);
  return {
    ...(random.chance(0.9) && { lower: bound(bounds[from]) }),
    ...(random.chance(0.9) && { upper: bound(bounds[to]) }),
    ...(random.chance(0.2) && { lowerInclusive: random.pick([true, false, null]) }),
    ...(random.chance(0.2) && { upperInclusive: random.pick([true, false, null]) }),
    ...(random.chance(0.05) && { isEmpty: random.pick([false, null]) }),
  };
}

/** The text of a range, or of what holds several. */
export function rangeText({ range, isArray }: ColumnType, value: unknown): string {
  if (typeof value === 'string') return value;
  if (!range!.isMulti || isArray) return textOf(value as RangeObject);
  return `{${(Array.isArray(value) ? value : [value]).map(textOf).join(',')}}`;
}

function textOf({ lower, upper, lowerInclusive, upperInclusive, isEmpty }: RangeObject): string {
  const bounds = [lower, upper].map((bound) => bound ?? null);
  if (isEmpty && bounds.some((bound) => bound !== null)) throw new RefusalError('an empty range with bounds');
  if (isEmpty) return 'empty';
  const [from, to] = bounds.map((bound) => (bound === null ? '' : `"${String(bound).replaceAll(/["\\]/g, '\\$&')}"`));
  return `${(lowerInclusive ?? true) ? '[' : '('}${from},${to}${(upperInclusive ?? false) ? ']' : ')'}`;
}

const bound = String.raw`(?:"(?:[^"\\]|\\.|"")*"|(?:[^,"\\[\]()]|\\.)*)`;
const range = new RegExp(String.raw`empty|([[(])(${bound}),(${bound})([\])])`, 'g');

/** The objects that rows show for a value: one of a range, a list of those of a multirange or an array. */
export function boundsOf(type: ColumnType, json: unknown): unknown {
  if (json === null) return null;
  if (type.isArray) return (json as Text[]).map((text) => (text === null ? null : rangesIn(type, text)[0]));
  const ranges = rangesIn(type, json as string);
  return type.range!.isMulti ? ranges : ranges[0];
}

function rangesIn(type: ColumnType, text: string): RangeObject[] {
  return [...text.matchAll(range)].map(([whole, opening, lower, upper, closing]) => ({
    lower: boundIn(type, lower),
    upper: boundIn(type, upper),
    lowerInclusive: opening === '[',
    upperInclusive: closing === ']',
    isEmpty: whole === 'empty',
  }));
}

function boundIn(type: ColumnType, quoted = ''): unknown {
  if (quoted === '') return null;
  const text = quoted.replace(/^"(.*)"$/s, '$1').replaceAll(/\\(.)|"(")/gs, '$1$2');
  const { scalar } = type.range!.subtype;
  if (scalar === 'Int') return Number(text);
  // As JSON has points in time.
  return scalar === 'Datetime' ? text.replace(' ', 'T').replace(/([+-]\d\d)$/, '$1:00') : text;
}

/** What each value answers to an operator of ranges but for `lower` and `upper`; undefined if that is no condition. */
export async function compareRanges(
  oracle: ValueOracle,
  texts: readonly Text[],
  type: ColumnType,
  operator: string,
  operand: unknown,
): Promise<readonly Truth[] | undefined> {
  if (operand === null) return texts.map(() => null);
  if (operator === 'isEmpty') return texts.map((text) => (text === null ? null : ['empty', '{}'].includes(text) === operand));
  if (operator === 'containsElement')
    return oracle.compare(texts, type, '@>', `${quoteLiteral(String(operand))}::${type.range!.subtype.sql}`);
  const ranges = (Array.isArray(operand) ? operand : [operand]) as readonly RangeObject[];
  if (!Array.isArray(operand) && Object.keys(operand as object).length === 0) return undefined;
  await checkOrder(oracle, type, ranges);
  return oracle.compare(texts, type, symbols[operator]!, `${quoteLiteral(rangeText(type, operand))}::${type.sql}`);
}

async function checkOrder(oracle: ValueOracle, { range: description }: ColumnType, ranges: readonly RangeObject[]): Promise<void> {
  for (const { lower, upper } of ranges) {
    if ((lower ?? null) === null || (upper ?? null) === null) continue;
    const { subtype } = description!;
    const [isOrdered] = await oracle.compare([String(lower)], subtype, '<=', `${quoteLiteral(String(upper))}::${subtype.sql}`);
    if (!isOrdered) throw new RefusalError('The lower bound is above the upper one.');
  }
}

/** The lower or the upper bound of each range, as text. */
export async function boundTexts(
  oracle: ValueOracle,
  texts: readonly Text[],
  { sql }: ColumnType,
  side: 'lower' | 'upper',
): Promise<readonly Text[]> {
  return (await oracle.list(texts, `pg_catalog.${side}(value::${sql})::text`)) as Text[];
}
