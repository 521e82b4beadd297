/** The types that statements name on their own, apart from those of columns. */
import type { DomainType, EnumValueType, RangeType, ScalarType, ValueType } from '../value-type.ts';
import { otherTypes, type PostgresType, postgresType } from './postgres-types.ts';
import { scalars } from './scalars.ts';

export const namedTypes = {
  int4: named('int4', 'integer'),
  int8: named('int8', 'bigint'),
  numeric: named('numeric', 'numeric'),
  float4: named('float4', 'real'),
  float8: named('float8', 'double precision'),
  bool: named('bool', 'boolean'),
  text: named('text', 'text'),
  jsonb: named('jsonb', 'jsonb'),
  jsonpath: named('jsonpath', 'jsonpath'),
  timestamp: named('timestamp', 'timestamp without time zone'),
  timestamptz: named('timestamptz', 'timestamp with time zone'),
  date: named('date', 'date'),
  uuid: named('uuid', 'uuid'),
} as const;

/** As what a value in JSON can order or group rows, with what the input says about it. */
export const jsonValueTypes = {
  TEXT: { type: namedTypes.text, description: 'As text; objects and arrays as their JSON' },
  NUMBER: { type: namedTypes.numeric, description: 'As a number; anything else counts as null' },
  BOOLEAN: { type: namedTypes.bool, description: 'As a boolean; anything else counts as null' },
  DATE: { type: namedTypes.date, description: 'As a date in ISO 8601; anything else counts as null' },
  DATETIME: { type: namedTypes.timestamptz, description: 'As a point in time in ISO 8601; anything else counts as null' },
} as const;
export type JsonValueType = keyof typeof jsonValueTypes;

function named(typeName: string, sqlType: string): ScalarType {
  const traits = postgresType({ schema: 'pg_catalog', name: typeName, kind: 'b' });
  return { kind: 'scalar', scalar: traits.scalar, sqlType, typeName, traits, maxLength: null };
}

/** Whether it is a domain over an array, or another type without a GraphQL type: each cursor has it whole. */
export function isArrayDomain(type: ValueType): boolean {
  return type.kind === 'unsupported' || ((type.kind === 'list' || type.kind === 'row list') && type.domainName !== undefined);
}

/** Whether it is the domain with this name, or, of scalars, the type. */
export function isDomainNamed(type: ValueType, name: string | undefined): boolean {
  return name !== undefined && (type.kind === 'scalar' ? type.typeName : 'domainName' in type ? type.domainName : undefined) === name;
}

/** The type as which values are compared and computed with: that which a domain is based on, or the type itself. */
export function operandType<Type extends ValueType>(type: Type): Type | DomainType['base'] {
  return type.kind === 'scalar' && type.domain !== undefined ? type.domain.base : type;
}

/** As `operandType`, but the type itself for a domain over an enum. */
export function operandScalar(type: ScalarType): ScalarType {
  return type.domain?.base.kind === 'scalar' ? type.domain.base : type;
}

/** Whether keys of the type can be looked up: scalars other than JSON and Opaque, and domains over them. */
export function identifies(type: ValueType): boolean {
  return type.kind === 'scalar' && scalars[operandScalar(type).scalar].identifies;
}

/** Whether its values are json or jsonb. */
export function isJson(type: ValueType): boolean {
  return type.kind === 'scalar' && operandScalar(type).scalar === 'JSON';
}

/** Whether arrays of the type can be compared: PostgreSQL needs an equality of its elements. Those of json are compared as jsonb. */
export function isCompared(type: ScalarType | EnumValueType): boolean {
  return type.kind === 'enum' || type.unordered === undefined || isJson(type);
}

/** The range of a type, a domain over one included, or of the elements of an array; undefined if there is none. */
export function rangesOf(type: ValueType): { readonly range: RangeType; readonly areMany: boolean } | undefined {
  const of = type.kind === 'list' ? type.element : type;
  const range = of.kind === 'scalar' ? operandScalar(of).range : undefined;
  if (range === undefined || (type.kind === 'list' && range.isMulti)) return undefined;
  return { range, areMany: type.kind === 'list' || range.isMulti };
}

/** What a type can do; what types without a row can, if it is no scalar. */
export function traitsOf(type: ValueType): PostgresType {
  return type.kind === 'scalar' ? type.traits : otherTypes;
}
