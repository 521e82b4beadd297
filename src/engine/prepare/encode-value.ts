/** Values of columns, arguments and attributes in PostgreSQL's text format: scalars, enums, ranges, arrays and composite values. */
import { ApiError } from '../../errors/api-error.ts';
import { within } from '../../errors/input-path.ts';
import type { Column, Table } from '../../model/model.ts';
import { operandScalar, rangesOf } from '../../model/types/named-types.ts';
import { boundsName, shapeName } from '../../model/types/operators.ts';
import type { EnumValueType, ScalarType, ValueType } from '../../model/value-type.ts';
import { isStorable } from '../../request/coerce/opaque-id.ts';
import type { CompositeValue, RangeValue, ScalarValue, ShapedValue } from '../../request/operation.ts';
import { geometryText } from './geometry-text.ts';
import { labelOf, shapeText } from './shape-text.ts';

export function encodeValue(value: ScalarValue, type: ValueType, use: 'filter' | 'write'): string | null {
  if (value === null) return null;
  if (type.kind === 'list') {
    const items = Array.isArray(value) ? value : [value];
    return type.isVector ? numbersText(items, type.sqlType) : encodeArray(items, type.element, use);
  }
  if (type.kind === 'row') return isComposite(value) ? compositeText(value, type.table, use) : null;
  if (type.kind === 'row list') return compositesText(Array.isArray(value) ? value : [value], type.table, use);
  if (Array.isArray(value) && rangesOf(type)?.range.isMulti) return `{${value.map((item) => encodeScalar(item, type, use)).join()}}`;
  // `in` takes a list although the type of its column is not one.
  if (Array.isArray(value)) return encodeArray(value, type as ScalarType | EnumValueType, use);
  return encodeScalar(value, type, use);
}

export function isComposite(value: ScalarValue): value is CompositeValue {
  return typeof value === 'object' && value !== null && 'attributes' in value;
}

export function isRange(value: ScalarValue): value is RangeValue {
  return typeof value === 'object' && value !== null && 'range' in value;
}

/** The text of a value of a composite type (PostgreSQL manual: Composite Type Input and Output Syntax): `("Mill Lane 2",,"(1,2)")`. */
function compositeText({ attributes }: CompositeValue, { columns, composite }: Table, use: 'filter' | 'write'): string {
  const texts = (composite?.attributes ?? []).map((name) => {
    const value = attributes.get(name) ?? null;
    const column = value === null ? undefined : columns.find((each) => each.name === name);
    return column ? within(inputName(column, value), () => encodeValue(value, column.type, use)) : null;
  });
  return `(${texts.map((text) => (text === null ? '' : elementLiteral(text))).join(',')})`;
}

function isShaped(value: ScalarValue): value is ShapedValue {
  return typeof value === 'object' && value !== null && 'shape' in value;
}

/** The name under which an input has a column or an attribute: that of the bounds for a range, or that of the shape. */
export function inputName({ fieldName }: Column, value: ScalarValue): string {
  if (isShaped(value)) return shapeName(fieldName);
  return (Array.isArray(value) ? value.some(isRange) : isRange(value)) ? boundsName(fieldName) : fieldName;
}

function compositesText(items: readonly ScalarValue[], table: Table, use: 'filter' | 'write'): string {
  return arrayLiteral(items.map((item, index) => (isComposite(item) ? within(index, () => compositeText(item, table, use)) : null)));
}

function numbersText(items: readonly ScalarValue[], type: string): string {
  if (items.includes(null)) throw new ApiError('BAD_USER_INPUT', `A value of type ${type} cannot contain nulls. Leave them out.`);
  return items.join(' ');
}

function encodeScalar(value: ScalarValue, type: ValueType, use: 'filter' | 'write'): string | null {
  const text = isRange(value) ? rangeText(value) : isShaped(value) ? shapeText(value) : String(value);
  if (type.kind === 'enum') return labelOf(text, type);
  if (type.kind === 'scalar' && type.maxLength !== null && text.length > type.maxLength && [...text].length > type.maxLength) {
    throw new ApiError('BAD_USER_INPUT', `The text is longer than ${type.maxLength} characters, the maximum of ${type.sqlType}.`);
  }
  if (isStorable(text)) return isShape(type) ? geometryText(text, type.kind === 'scalar' ? type.srid : undefined) : text;
  // Nothing can equal such a text, and it cannot be stored.
  if (use === 'filter') return null;
  throw new ApiError('BAD_USER_INPUT', 'PostgreSQL cannot store text that contains a NUL character (U+0000) or half of a surrogate pair.');
}

function isShape(type: ValueType): boolean {
  return type.kind === 'scalar' && operandScalar(type).traits.geometry !== null;
}

export function encodeArray(items: readonly ScalarValue[], type: ScalarType | EnumValueType, use: 'filter' | 'write'): string {
  // `maxLength` does not apply to elements of a list: PostgreSQL truncates or rejects them itself.
  const element = type.kind === 'scalar' && use === 'write' ? { ...type, maxLength: null } : type;
  const texts = items.map((item) => (item === null ? null : encodeScalar(item, element, use)));
  return arrayLiteral(texts, element.kind === 'scalar' ? element.delimiter : undefined);
}

/** The text of an array (PostgreSQL manual: Array Value Input). */
export function arrayLiteral(items: readonly (string | null)[], delimiter = ','): string {
  return `{${items.map(elementLiteral).join(delimiter)}}`;
}

function elementLiteral(text: string | null): string {
  if (text === null) return 'NULL';
  return text.includes('"') || text.includes('\\') ? `"${text.replaceAll(/["\\]/g, '\\$&')}"` : `"${text}"`;
}
/** The text of a range (PostgreSQL manual: Range Types, Input/Output). Without flags, its lower bound is in it, and its upper is not. */
function rangeText({ range }: RangeValue): string {
  const [lower, upper] = [range.get('lower') ?? null, range.get('upper') ?? null];
  if (range.get('is empty') === true) {
    if (lower === null && upper === null) return 'empty';
    throw new ApiError('BAD_USER_INPUT', 'A range that is empty has no bounds. Leave out "isEmpty", or the bounds.');
  }
  const start = range.get('lower inclusive') === false ? '(' : '[';
  const end = range.get('upper inclusive') === true ? ']' : ')';
  return `${start}${boundText(lower)},${boundText(upper)}${end}`;
}

function boundText(bound: ScalarValue): string {
  return bound === null ? '' : `"${String(bound).replaceAll(/["\\]/g, '\\$&')}"`;
}
