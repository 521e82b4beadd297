/** Aggregates of related rows that order rows: their SQL, and the type that a cursor's value is compared as. */
import type { ScalarType } from '../../model/model.ts';
import type { AggregateOrder } from '../../plan/plan.ts';
import { builtIn, type Sql, sql, trusted } from '../../sql/sql.ts';
import type { Scope } from '../scope.ts';
import { extreme, extremesAreText, scalarOf } from './aggregate-value.ts';

const bigint: ScalarType = { kind: 'scalar', scalar: 'BigInt', sqlType: 'bigint', typeName: 'int8', maxLength: null };
const numeric: ScalarType = { kind: 'scalar', scalar: 'BigFloat', sqlType: 'numeric', typeName: 'numeric', maxLength: null };
const boolean: ScalarType = { kind: 'scalar', scalar: 'Boolean', sqlType: 'boolean', typeName: 'bool', maxLength: null };
const text: ScalarType = { kind: 'scalar', scalar: 'String', sqlType: 'text', typeName: 'text', maxLength: null };

const smallNumbers: ReadonlySet<string> = new Set(['int2', 'int4']);
const exactNumbers: ReadonlySet<string> = new Set([...smallNumbers, 'int8', 'numeric']);

/** The aggregate over the rows in `scope`. */
export function aggregateSql(value: AggregateOrder, scope: Scope): Sql {
  if (value.function === 'count') return trusted('pg_catalog.count(*)');
  const column = scope.column(value.column.name);
  const { typeName } = scalarOf(value.column);
  switch (value.function) {
    case 'sum':
    case 'avg':
      // A sum of floating-point numbers depends on the order in which PostgreSQL reads them, so a cursor could miss its position.
      return builtIn(value.function, exactNumbers.has(typeName) ? column : sql`${column}::numeric`);
    case 'min':
    case 'max':
      return extreme(value.function, typeName, column);
  }
}

/** The type of the aggregate. */
export function aggregateType(value: AggregateOrder): ScalarType {
  if (value.function === 'count') return bigint;
  const { column } = value;
  const { typeName } = scalarOf(column);
  if (value.function === 'sum') return smallNumbers.has(typeName) ? bigint : numeric;
  if (value.function === 'avg') return numeric;
  if (typeName === 'bool') return boolean;
  return extremesAreText.has(typeName) || column.type.kind !== 'scalar' ? text : column.type;
}
