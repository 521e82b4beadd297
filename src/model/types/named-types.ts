/** The types that statements name on their own, apart from those of columns. */
import type { ScalarType, ValueType } from '../model.ts';
import { otherTypes, type PostgresType, postgresType } from './postgres-types.ts';

export const namedTypes = {
  int4: named('int4', 'integer'),
  int8: named('int8', 'bigint'),
  numeric: named('numeric', 'numeric'),
  float8: named('float8', 'double precision'),
  bool: named('bool', 'boolean'),
  text: named('text', 'text'),
  timestamp: named('timestamp', 'timestamp without time zone'),
} as const;

function named(typeName: string, sqlType: string): ScalarType {
  const traits = postgresType({ schema: 'pg_catalog', name: typeName, kind: 'b' });
  return { kind: 'scalar', scalar: traits.scalar, sqlType, typeName, traits, maxLength: null };
}

/** What a type can do; what types without a row can, if it is no scalar. */
export function traitsOf(type: ValueType): PostgresType {
  return type.kind === 'scalar' ? type.traits : otherTypes;
}
