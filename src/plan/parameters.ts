/** Turns coerced arguments into parameters. */
import { ApiError } from '../errors/api-error.ts';
import type { ValueType } from '../model/model.ts';
import type { BindValue, InputValue } from '../request/input-value.ts';
import type { Count, ElementUse, Parameter, ParameterValue } from './plan.ts';

const nullValue: BindValue = { kind: 'constant', value: null };

/** A value of a column or argument. */
export function valueParameter(value: InputValue, type: ValueType, use: 'filter' | 'write'): Parameter {
  return { value: parameterValue(value), encoding: { kind: 'value', type, use } };
}

/** An element of a cursor or nodeId. */
export interface ElementParameter extends Parameter {
  readonly encoding: { readonly kind: ElementUse; readonly argument?: string };
}

/** An element of a cursor, or of a nodeId. `type` is that of its column; undefined for a computed field or an aggregate. */
export function elementParameter(element: BindValue | null, type: ValueType | undefined): ElementParameter {
  return { value: element ?? nullValue, encoding: { kind: type?.kind === 'unsupported' ? 'array' : 'text' } };
}

/** An element of the nodeId in an argument. Composite values in it are JSON. */
export function keyParameter(element: BindValue | null, type: ValueType, argument: string): ElementParameter {
  if (type.kind !== 'composite' && type.kind !== 'row') {
    const { value, encoding } = elementParameter(element, type);
    return { value, encoding: { ...encoding, argument } };
  }
  return { value: element ?? nullValue, encoding: { kind: 'json' } };
}

/** A whole number. */
export function integerParameter(value: InputValue): Parameter {
  return { value: parameterValue(value), encoding: { kind: 'integer' } };
}

/** A number from 0 to 1. */
export function fractionParameter(value: InputValue, argument: string): Parameter {
  return { value: parameterValue(value), encoding: { kind: 'fraction', argument } };
}

/** The width of a bucket: a number greater than zero. */
export function widthParameter(value: InputValue): Parameter {
  return { value: parameterValue(value), encoding: { kind: 'width' } };
}

/** A number of rows. A literal becomes part of the statement, so that PostgreSQL can plan for it; a variable is bound. */
export function countOf(value: InputValue, argument: string, maximum: number): Count {
  if (value?.kind === 'constant') return checkCount(Number(value.value), argument, maximum);
  return { value: parameterValue(value), encoding: { kind: 'count', argument, maximum } };
}

/** Limits the number to its maximum. Throws BAD_USER_INPUT for a negative one, with pg_graphql's message. */
export function checkCount(count: number, argument: string, maximum: number): number {
  if (count < 0) throw new ApiError('BAD_USER_INPUT', `\`${argument}\` must be an unsigned integer`);
  return Math.min(count, maximum);
}

/** The bind value or list of bind values. */
export function parameterValue(value: InputValue): ParameterValue {
  if (value === null) return nullValue;
  if (value.kind === 'constant' || value.kind === 'variable') return value;
  if (value.kind === 'list') return { kind: 'list', items: value.items.map(parameterValue) };
  throw new Error(`Expected a value, not ${value.kind}.`);
}
