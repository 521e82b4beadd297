/**
 * JSON with a shape, written from an input that has the members of the shape: `{"maker":"Leslie","watts":40}`. What would not be read as the
 * shape says is refused.
 */
import { datePattern, timePattern, uuidPattern } from '../../compile/values/json-values.ts';
import { ApiError, quote, shorten } from '../../errors/api-error.ts';
import { within } from '../../errors/input-path.ts';
import type { Column } from '../../model/model.ts';
import type { EnumValueType, ScalarType } from '../../model/value-type.ts';
import { isStorable } from '../../request/coerce/opaque-id.ts';
import type { ScalarValue, ShapedValue } from '../../request/operation.ts';

/** Throws BAD_USER_INPUT, with the path of the member, for a value that is none of its type. */
export function shapeText({ shape, value }: ShapedValue): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return listed(value.map((item, index) => within(index, () => shapeText({ shape, value: item }))));
  if (typeof value !== 'object' || !('attributes' in value)) throw new Error('JSON with a shape is no object.');
  const members = [...value.attributes].flatMap(([name, member]) => {
    const column = shape.table.columns.find((each) => each.name === name);
    return column ? [`${JSON.stringify(name)}:${within(column.fieldName, () => memberText(member, column))}`] : [];
  });
  return `{${members.join()}}`;
}

function listed(texts: readonly string[]): string {
  return `[${texts.join()}]`;
}

function memberText(value: ScalarValue, { type, shape }: Column): string {
  if (shape) return shapeText({ shape, value });
  if (type.kind === 'list') {
    const items: readonly ScalarValue[] = Array.isArray(value) ? value : value === null ? [] : [value];
    return value === null ? 'null' : listed(items.map((item, index) => within(index, () => leafText(item, type.element))));
  }
  return type.kind === 'scalar' || type.kind === 'enum' ? leafText(value, type) : 'null';
}

function leafText(value: ScalarValue, type: ScalarType | EnumValueType): string {
  if (value === null) return 'null';
  const text = String(value);
  if (!isStorable(text)) throw invalid('PostgreSQL cannot store text that contains a NUL character (U+0000) or half of a surrogate pair.');
  if (type.kind === 'enum') return JSON.stringify(labelOf(text, type));
  switch (type.typeName) {
    case 'int4':
    case 'numeric':
      return numberText(text);
    case 'float8':
      if (Number.isFinite(Number(text))) return numberText(text);
      throw invalid(`${quote(shorten(text))} is beyond what a Float can be.`);
    case 'int8':
      return wholeText(text);
    case 'bool':
      return text;
    case 'jsonb':
      return jsonText(text);
    case 'date':
      if (isDate(text, `^${datePattern}$`)) return JSON.stringify(text);
      throw invalid(`${quote(shorten(text))} is no date in ISO 8601, such as "2024-02-29".`);
    case 'timestamptz':
      if (isDate(text, `^${datePattern}(${timePattern})?$`)) return JSON.stringify(text);
      throw invalid(`${quote(shorten(text))} is no point in time in ISO 8601, such as "2024-02-29T10:00:00Z".`);
    case 'uuid':
      if (new RegExp(uuidPattern, 'i').test(text)) return JSON.stringify(text);
      throw invalid(`${quote(shorten(text))} is no UUID.`);
    default:
      return JSON.stringify(text);
  }
}

/** The label of a value of an enum. Throws BAD_USER_INPUT for a name that is none. */
export function labelOf(name: string, { enum: { values, mapped } }: EnumValueType): string {
  if (!mapped) return name;
  const value = values.find((each) => each.name === name);
  if (!value) throw new ApiError('BAD_USER_INPUT', `The enum has no value ${quote(name)}.`);
  return value.label;
}

function invalid(problem: string): ApiError {
  return new ApiError('BAD_USER_INPUT', problem);
}

/** A number as JSON has it, with all its digits. */
function numberText(text: string): string {
  const [, sign, digits, exponent = ''] = /^\s*([-+]?)(\d+(?:\.\d+)?|\.\d+)(e[-+]?\d{1,3})?\s*$/i.exec(text) ?? [];
  if (digits === undefined) throw invalid(`${quote(shorten(text))} is no number that JSON can hold.`);
  return `${sign === '-' ? '-' : ''}${digits.replace(/^0+(?=\d)/, '').replace(/^\./, '0.')}${exponent}`;
}

function wholeText(text: string): string {
  const number = /^\s*[-+]?\d{1,30}\s*$/.test(text) ? BigInt(text.trim().replace(/^\+/, '')) : null;
  if (number !== null && BigInt.asIntN(64, number) === number) return String(number);
  throw invalid(`${quote(shorten(text))} is no integer of 64 bits.`);
}

/** JSON as the client wrote it, which alone is one value. */
function jsonText(text: string): string {
  try {
    JSON.parse(text);
  } catch {
    throw invalid(`${quote(shorten(text))} is no JSON. Pass its text, in which a string has quotes.`);
  }
  return text;
}

function isDate(text: string, pattern: string): boolean {
  if (!new RegExp(pattern).test(text)) return false;
  const [year = 0, month = 0, day = 0] = text.slice(0, 10).split('-').map(Number);
  const last = new Date(0);
  last.setUTCFullYear(year, month, 0);
  return day <= last.getUTCDate();
}
