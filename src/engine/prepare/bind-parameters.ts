/**
 * The values of a statement's parameters for one request, in PostgreSQL's text format. Runs on every request, while `plan/` runs only once
 * per variant.
 */

import { type Limits, noLimits, overLimit } from '../../budget/limits.ts';
import { ApiError } from '../../errors/api-error.ts';
import { unwrapError } from '../../errors/input-path.ts';
import { namedTypes } from '../../model/types/named-types.ts';
import type { ValueType } from '../../model/value-type.ts';
import { checkCount } from '../../plan/inputs.ts';
import type { ElementUse, Parameter, ParameterEncoding, ParameterValue, ValueUse } from '../../plan/parameter.ts';
import { isStorable, MalformedIdError } from '../../request/coerce/opaque-id.ts';
import type { NestedJson, ScalarValue } from '../../request/operation.ts';
import { checkLabels, checkMark, checkNumber, checkSearchLength, checkWidth, encodeSearch, vectorText } from './argument-texts.ts';
import { arrayLiteral, encodeArray, encodeValue } from './encode-value.ts';

interface UnboundStatement {
  readonly text: string;
  readonly parameters: readonly Parameter[];
}

/** A statement with text or null for each parameter. */
export interface BoundStatement {
  readonly text: string;
  readonly parameters: (string | null)[];
}

/** A value does not fit its parameter. */
export class UnboundError extends ApiError {
  readonly statement: number;

  constructor({ code, message, details }: ApiError, statement: number) {
    super(code, message, { details });
    this.statement = statement;
  }
}

/** How many values are bound between two pauses. */
const valuesAtATime = 2000;

/**
 * Text or null for each parameter of each statement; pauses if there are many values. Throws `UnboundError` with BAD_USER_INPUT for values
 * that do not fit, such as a text that is too long or a negative count, and the error of the limit if all texts together are too long.
 */
export function* bindStatements(
  statements: readonly UnboundStatement[],
  bindValues: readonly ScalarValue[],
  limits: Limits,
): Generator<void, BoundStatement[]> {
  const all: BoundStatement[] = [];
  let size = 0;
  let sincePause = 0;
  for (const { text, parameters } of statements) {
    const bound: (string | null)[] = [];
    for (const parameter of parameters) {
      const value = bindOf(parameter, bindValues, all.length, limits);
      size += value?.length ?? 0;
      if (size > limits.inputSize) throw overLimit(limits, 'inputSize');
      bound.push(value);
      sincePause += countValues(parameter.value, bindValues);
      if (sincePause < valuesAtATime) continue;
      sincePause = 0;
      yield;
    }
    all.push({ text, parameters: bound });
  }
  return all;
}

function bindOf(parameter: Parameter, bindValues: readonly ScalarValue[], statement: number, limits: Limits): string | null {
  try {
    return bindParameter(parameter, bindValues, limits);
  } catch (caught) {
    const { error } = unwrapError(caught);
    throw error instanceof ApiError ? new UnboundError(error, statement) : error;
  }
}

function countValues(value: ParameterValue, bindValues: readonly ScalarValue[]): number {
  if (value.kind === 'list') return value.items.length;
  const resolved = resolveValue(value, bindValues);
  return Array.isArray(resolved) ? resolved.length : 1;
}

/** Total characters of all bound texts. */
export function sizeOfBound(statements: readonly { readonly parameters: readonly (string | null)[] }[]): number {
  return statements.reduce((size, { parameters }) => parameters.reduce((sum, value) => sum + (value?.length ?? 0), size), 0);
}

/** The text that is bound. Throws BAD_USER_INPUT for a value that does not fit, with its path in a value of a composite type. */
export function bindParameter({ value, encoding }: Parameter, bindValues: readonly ScalarValue[], limits = noLimits): string | null {
  const resolved = resolveValue(value, bindValues);
  if (resolved === null) return null;
  switch (encoding.kind) {
    case 'value':
      return encodePart(resolved, encoding, limits);
    case 'count':
      return String(checkCount(Number(resolved), encoding.argument, encoding.maximum));
    case 'width':
      return checkWidth(String(resolved));
    case 'number':
      return checkNumber(String(resolved), encoding);
    case 'vector':
      return vectorText(Array.isArray(resolved) ? resolved : [resolved], encoding);
    case 'text':
    case 'array':
      return encodeElement(resolved, encoding.kind, encoding.argument);
    case 'json':
      return encodeElement(resolved, encoding.kind);
    case 'json path':
      return encodePath(resolved);
    case 'integer':
      return String(resolved);
    case 'search':
      return encodeSearch(String(resolved), encoding.asPrefixes, limits);
    case 'mark':
      return checkMark(String(resolved), encoding.argument);
    case 'rows':
      return encodeRows(resolved as readonly ScalarValue[], encoding.type, encoding.use);
  }
}

function encodeElement(element: ScalarValue, use: ElementUse, argument?: string): string | null {
  if (use === 'json') return isNested(element) ? element.json : JSON.stringify(element);
  if (use === 'array' && isNested(element) && element.json.startsWith('[')) return element.json.replaceAll('[', '{').replaceAll(']', '}');
  return textOfElement(element, argument);
}

/** PostgreSQL cannot hold some texts, and nothing can equal them. `argument` has the nodeId that the element is of. */
function textOfElement(element: ScalarValue, argument?: string): string | null {
  if (isNested(element) && argument !== undefined) throw new MalformedIdError('nodeId', `the argument "${argument}"`);
  if (isNested(element))
    throw new ApiError('BAD_USER_INPUT', `Unexpected ${element.json.startsWith('[') ? 'array' : 'object'} in input value`);
  return isStorable(String(element)) ? String(element) : null;
}

function isNested(value: ScalarValue): value is NestedJson {
  return typeof value === 'object' && value !== null && 'json' in value;
}

/** PostgreSQL makes what is missing on the way to a value one by one, each within the whole document. */
const mostKeys = 100;

/** Without a key, or with a null, PostgreSQL would make the whole document null. */
function encodePath(value: ScalarValue): string {
  const keys = Array.isArray(value) ? value : [value];
  if (keys.length === 0 || keys.includes(null)) throw new ApiError('BAD_USER_INPUT', 'A JSON path needs at least one key, and no nulls.');
  if (keys.length > mostKeys)
    throw new ApiError('QUERY_TOO_COMPLEX', `A JSON path has ${keys.length.toLocaleString('en-US')} keys; it may have ${mostKeys}.`);
  return encodeArray(keys, namedTypes.text, 'write');
}

/** The value with that of each variable in it. */
export function resolveValue(value: ParameterValue, bindValues: readonly ScalarValue[]): ScalarValue {
  switch (value.kind) {
    case 'constant':
      return value.value;
    case 'variable':
      return bindValues[value.index] ?? null;
    case 'list':
      return value.items.map((item) => resolveValue(item, bindValues));
    case 'composite':
      return { attributes: new Map([...value.attributes].map(([name, each]) => [name, resolveValue(each, bindValues)])) };
    case 'range':
      return { range: new Map([...value.parts].map(([part, each]) => [part, resolveValue(each, bindValues)])) };
    case 'null bounds':
      return null;
    case 'shaped': {
      const inner = resolveValue(value.value, bindValues);
      return inner === null ? null : { shape: value.shape, value: inner };
    }
    case 'version':
      return value.version.current;
  }
}

type ValueEncoding = Extract<ParameterEncoding, { kind: 'value' }>;

/** A value, one of two, or a text as a pattern of LIKE. */
function encodePart(value: ScalarValue, { type, use, as }: ValueEncoding, limits: Limits): string | null {
  if (as === 'labels') checkLabels(Array.isArray(value) ? value : [value]);
  if (as === 'trigrams') checkSearchLength(String(value), limits);
  if (as === undefined || as === 'labels' || as === 'trigrams') return encodeValue(value, type, use);
  if (as === 'first' || as === 'second') {
    const values = Array.isArray(value) ? value : [value];
    if (values.length !== 2) throw new ApiError('BAD_USER_INPUT', 'The operator "between" takes a list of two values, from and to.');
    return encodeValue(values[as === 'first' ? 0 : 1] ?? null, type, use);
  }
  const text = encodeValue(value, type, use);
  return text === null ? null : `%${text.replaceAll(/[\\%_]/g, '\\$&')}${as === 'part' ? '%' : ''}`;
}

/** Encodes each value as if it were bound alone. */
function encodeRows(values: readonly ScalarValue[], type: ValueType, use: ValueUse): string {
  if (use === 'filter' || use === 'write') return arrayLiteral(values.map((value) => encodeValue(value, type, use)));
  return arrayLiteral(values.map((value) => (value === null ? null : encodeElement(value, use))));
}
